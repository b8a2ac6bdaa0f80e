"""Writers of shards."""

from __future__ import annotations

import random
import uuid

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflictError, EditFailed
from lanceref.index.mem_wal.log_entry import positions, read_entries
from lanceref.index.mem_wal.shard_manifest import latest_manifest
from pylanceref.lsm_scanner import LsmScanner
from pylanceref.shard_snapshot import ShardSnapshot

from .test_lsm_scanner import SCHEMA, rows

SHARD = uuid.UUID(int=9)


def table(*pairs: tuple[int, str]) -> pa.Table:
    """Return rows."""
    return pa.table({"id": [k for k, _ in pairs], "val": [v for _, v in pairs]}, schema=SCHEMA)


@pytest.fixture
def dataset(tmp_path):
    """Three rows, with a log."""
    made = pylanceref.write_dataset(table((1, "a"), (2, "b"), (3, "c")), tmp_path / "t")
    made.initialize_mem_wal()
    return made


def manifest(dataset):
    """Return the latest manifest of the shard."""
    return latest_manifest(dataset._snapshot.store, SHARD, dataset._ctx)


def test_rows_are_in_the_log_at_once(dataset):
    """Not in the table; the writer that comes next finds them."""
    writer = dataset.mem_wal_writer(str(SHARD))
    writer.put(table((2, "B"), (9, "n")))
    writer.put(table((9, "N")))
    writer.delete(pa.table({"id": [1]}))
    expected = [(9, "N"), (2, "B"), (3, "c")]
    assert rows(writer.lsm_scanner()) == expected
    assert writer.stats()["put_count"] == 3
    assert writer.shard_id == str(SHARD)
    assert (manifest(dataset).version, manifest(dataset).writer_epoch) == (1, 1)
    assert positions(dataset._snapshot.store, SHARD) == [1, 2, 3]
    assert dataset.to_table().num_rows == 3
    again = dataset.mem_wal_writer(str(SHARD))
    assert rows(again.lsm_scanner()) == expected
    assert (manifest(dataset).version, manifest(dataset).writer_epoch) == (3, 2)
    entries = dict(read_entries(dataset._snapshot.store, SHARD, 0, dataset._ctx))
    assert [one.rows is None for one in entries.values()] == [False, False, False, True]


def test_rows_are_flushed_when_the_writer_is_closed(dataset):
    """Once; who comes next starts another generation and flushes nothing of nothing."""
    with dataset.mem_wal_writer(str(SHARD)) as writer:
        writer.put(table((2, "B"), (9, "n")))
        writer.put(table((9, "N")))
        writer.delete(pa.table({"id": [1]}))
        before = sorted(rows(writer.lsm_scanner()))
    writer.close()
    dataset.mem_wal_writer(str(SHARD)).close()

    found = manifest(dataset)
    (flushed,) = found.sstables
    assert (1, 3, 24) == (flushed.generation, flushed.physical_rows, flushed.primary_key_bytes)
    assert (2, 3) == (found.current_generation, found.replay_after_wal_entry_position)
    snapshot = ShardSnapshot(str(SHARD)).with_sstable(1, flushed.path)
    assert before == sorted(rows(LsmScanner.from_snapshots(dataset, [snapshot])))
    with dataset.mem_wal_writer(str(SHARD)) as writer:
        assert before == sorted(rows(writer.lsm_scanner()))


def test_who_was_taken_over_writes_no_more(dataset):
    """Its next entry stands where the fence is."""
    first = dataset.mem_wal_writer(str(SHARD))
    first.put(table((4, "x")))
    second = dataset.mem_wal_writer(str(SHARD))
    with pytest.raises(CommitConflictError):
        first.put(table((4, "late")))
    with pytest.raises(CommitConflictError):
        first.close()
    second.put(table((4, "y")))
    assert (4, "y") in rows(second.lsm_scanner())


def test_what_cannot_be_written_is_refused(dataset, tmp_path):
    """Other columns, nulls in a key, keys that are not there, a writer that is closed."""
    writer = dataset.mem_wal_writer(str(SHARD))
    for wrong in (
        pa.table({"zz": [1]}),
        pa.table({"id": [1]}),
        pa.table({"id": [1], "val": ["a"], "more": [1]}),
        pa.table({"id": ["x"], "val": ["a"]}),
        pa.table({"id": pa.array([1], pa.int32()), "val": ["a"]}),
        pa.table({"id": pa.array([None], pa.int64()), "val": ["a"]}),
    ):
        with pytest.raises(EditFailed):
            writer.put(wrong)
    for wrong in (pa.table({"val": ["a"]}), pa.table({"id": pa.array([1], pa.int32())})):
        with pytest.raises(EditFailed):
            writer.delete(wrong)
    writer.put(table())
    assert positions(dataset._snapshot.store, SHARD) == []
    writer.close()
    with pytest.raises(EditFailed, match="already closed"):
        writer.put(table((1, "z")))
    with pytest.raises(EditFailed, match="already closed"):
        writer.lsm_scanner()
    with pytest.raises(ValueError, match="Invalid shard_id"):
        dataset.mem_wal_writer("x")
    plain = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "plain")
    with pytest.raises(EditFailed, match="not initialized"):
        plain.mem_wal_writer(str(SHARD))
    plain.initialize_mem_wal()
    with pytest.raises(EditFailed, match="no primary key"):
        plain.mem_wal_writer(str(SHARD)).delete(pa.table({"a": [1]}))


@pytest.mark.oracle
@pytest.mark.parametrize("order", [("lance", "pylanceref"), ("pylanceref", "lance")])
def test_each_library_goes_on_where_the_other_stopped(dataset, order):
    """By turns: entries of ours are replayed there, tables flushed there are read here."""
    import lance
    import lance.mem_wal
    import pylanceref.mem_wal

    libraries = {"lance": lance, "pylanceref": pylanceref}
    source = random.Random(order[0])
    truth = {1: "a", 2: "b", 3: "c"}
    for name in (*order, *order):
        writer = libraries[name].dataset(dataset.uri).mem_wal_writer(str(SHARD))
        for _ in range(5):
            if source.random() < 0.7:
                keys = source.sample(range(1, 9), 3)
                pairs = [(key, f"v{source.randrange(99)}") for key in keys]
                writer.put(table(*pairs))
                truth |= dict(pairs)
            else:
                key = source.randint(1, 9)
                writer.delete(pa.table({"id": [key]}))
                truth.pop(key, None)
        assert sorted(rows(writer.lsm_scanner())) == sorted(truth.items()), name
        writer.close()
    found = []
    for library in libraries.values():
        snapshot = library.mem_wal.ShardSnapshot(str(SHARD))
        for one in manifest(dataset).sstables:
            snapshot = snapshot.with_sstable(one.generation, one.path)
        opened = library.dataset(dataset.uri)
        scan = library.mem_wal.LsmScanner.from_snapshots(opened, [snapshot])
        result = scan.with_row_address().with_memtable_gen().to_table()
        found.append((result.schema, sorted(map(str, result.to_pylist()))))
    assert found[0] == found[1]


def test_what_is_in_memory_is_told(dataset):
    """Rows of every put, until the writer is closed; nothing waits to be made durable."""
    writer = dataset.mem_wal_writer(str(SHARD))
    assert writer.memtable_stats()["row_count"] == 0
    writer.put(table((2, "B"), (9, "n")))
    writer.put(table((9, "N")))
    told = writer.memtable_stats()
    assert (told["row_count"], told["batch_count"], told["durable_batch_count"]) == (3, 2, 2)
    assert (told["generation"], told["pending_wal_row_count"], told["frozen_bytes"]) == (1, 0, 0)
    assert told["estimated_size_bytes"] > 0
    writer.close()
    told = writer.memtable_stats()
    assert (told["row_count"], told["batch_count"], told["estimated_size_bytes"]) == (0, 0, 0)


@pytest.mark.oracle
def test_the_oracle_tells_the_same_of_what_is_in_memory(dataset):
    """But for how many bytes it estimates."""
    import lance

    told = []
    for library, shard in ((lance, uuid.UUID(int=1)), (pylanceref, uuid.UUID(int=2))):
        writer = library.dataset(dataset.uri).mem_wal_writer(str(shard))
        writer.put(table((2, "B"), (9, "n")))
        told.append(writer.memtable_stats())
        writer.close()
    theirs, ours = told
    for one in told:
        for name in ("estimated_size_bytes", "index_bytes", "retained_bytes"):
            one.pop(name)
    assert ours == theirs

"""Writers of a shard of the memory write-ahead log: who takes it over, and which rows are left."""

import uuid

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import CommitConflict
from lanceref.index.mem_wal import shard_log
from lanceref.storage import open_store

SHARD, CTX = uuid.UUID(int=7), Context("t")


def rows(*given):
    """Return rows of a key, a value and a mark."""
    names = ("k", "v", "_tombstone")
    return pa.table({name: [row[i] for row in given] for i, name in enumerate(names)})


@pytest.fixture
def store(tmp_path):
    """Return an empty store."""
    return open_store(str(tmp_path))


def test_a_writer_that_lost_its_shard_cannot_write(store):
    """The second writer has a higher epoch and a fence where the first one would write."""
    first, position = shard_log.take_over(store, SHARD, CTX)
    shard_log.write_entry(store, SHARD, position, shard_log.LogEntry(1, 1, rows((1, "a", False))))
    second, after = shard_log.take_over(store, SHARD, CTX)

    assert (1, 1, 1) == (first.version, first.writer_epoch, position)
    assert (2, 2, 3) == (second.version, second.writer_epoch, after)
    with pytest.raises(CommitConflict):
        shard_log.write_entry(
            store, SHARD, position + 1, shard_log.LogEntry(1, 1, rows((2, "b", False)))
        )
    found = {at: entry.rows for at, entry in shard_log.read_entries(store, SHARD, 0, CTX)}
    assert found == {
        1: rows((1, "a", False)).replace_schema_metadata(found[1].schema.metadata),
        2: None,
    }
    assert second == shard_log.read_manifest(store, SHARD, 2, CTX)
    shard_log.check_log(store, CTX)


def test_a_fence_lies_after_what_was_flushed(store):
    """Where the entries of a shard are removed, the fence follows the last one that was flushed."""
    manifest, _ = shard_log.take_over(store, SHARD, CTX)
    manifest.version, manifest.replay_after_wal_entry_position = 2, 5
    assert store.put_if_absent(shard_log.manifest_path(SHARD, 2), manifest.SerializeToString())

    assert 7 == shard_log.take_over(store, SHARD, CTX)[1]
    assert [6] == [position for position, _ in shard_log.read_entries(store, SHARD, 5, CTX)]


def test_of_each_key_the_newest_row_is_returned():
    """1 was changed, 2 deleted, 3 deleted and written again, 4 deleted before it was written."""
    older = rows((1, "a", False), (2, "b", False), (3, "c", False), (4, None, True))
    newer = rows((3, None, True), (1, "d", False), (2, None, True), (3, "e", False))

    found = shard_log.newest_rows([older, newer], ["k"])

    assert {"k": [1, 3], "v": ["d", "e"]} == found.to_pydict()


def test_a_key_of_several_columns_is_one_key():
    """Rows that agree in one column of the key only are different rows."""
    given = rows((1, "a", False), (1, "b", False), (1, "a", True))

    assert [{"k": 1, "v": "b"}] == shard_log.newest_rows([given], ["k", "v"]).to_pylist()

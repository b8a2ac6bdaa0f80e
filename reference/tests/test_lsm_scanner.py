"""Scans over a table and its log."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EditFailed, NotFound, OperationRefused
from pylanceref.lsm_scanner import LsmScanner, primary_key
from pylanceref.shard_snapshot import ShardSnapshot

SHARD = str(uuid.UUID(int=5))
KEY = {"lance-schema:unenforced-primary-key": "true"}
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False, metadata=KEY), ("val", pa.string())])
FLUSHED = pa.schema([*SCHEMA, pa.field("_tombstone", pa.bool_(), nullable=False)])


@pytest.fixture
def dataset(tmp_path):
    """Rows 1 to 3, of which two flushed generations change some."""
    root = tmp_path / "t"
    base = pylanceref.write_dataset(
        pa.table({"id": [1, 2, 3], "val": ["a", "b", "c"]}, schema=SCHEMA), root
    )
    for generation, columns in enumerate(
        (
            {"id": [2, 9], "val": ["B", "n"], "_tombstone": [False, False]},
            {"id": [9, 1], "val": ["N", None], "_tombstone": [False, True]},
        ),
        1,
    ):
        folder = root / "_mem_wal" / SHARD / f"g{generation}"
        pylanceref.write_dataset(pa.table(columns, schema=FLUSHED), folder)
    return base


def snapshot(*generations: int) -> ShardSnapshot:
    """Return a snapshot with flushed generations."""
    found = ShardSnapshot(SHARD).with_spec_id(1).with_current_generation(3)
    for generation in generations:
        found.with_sstable(generation, f"g{generation}")
    return found


def rows(scanner: LsmScanner) -> list[tuple[object, ...]]:
    """Return the rows that a scan finds."""
    return [tuple(row.values()) for row in scanner.to_table().to_pylist()]


def test_the_newest_row_of_each_key(dataset):
    """Whatever order generations are named in; a deleted key is gone."""
    assert primary_key(dataset.schema) == ["id"]
    for generations in ((1, 2), (2, 1)):
        scanner = LsmScanner.from_snapshots(dataset, [snapshot(*generations)])
        assert rows(scanner) == [(9, "N"), (2, "B"), (3, "c")]
        assert scanner.count_rows() == 3
        assert scanner.to_batch().num_rows == sum(map(len, scanner.to_batches())) == 3
    assert rows(LsmScanner.from_snapshots(dataset, [])) == [(1, "a"), (2, "b"), (3, "c")]
    only_first = LsmScanner.from_snapshots(dataset, [snapshot(1)])
    assert rows(only_first) == [(2, "B"), (9, "n"), (1, "a"), (3, "c")]


def test_what_is_shown(dataset):
    """The key always; a filter sees the newest rows only."""

    def scan() -> LsmScanner:
        return LsmScanner.from_snapshots(dataset, [snapshot(1, 2)])

    assert scan().to_table().schema.equals(SCHEMA)
    assert scan().project(["val"]).to_table().schema.names == ["val", "id"]
    assert rows(scan().filter("val > 'B'")) == [(9, "N"), (3, "c")]
    assert rows(scan().filter("val = 'b'")) == []
    assert rows(scan().limit(1, 1)) == [(2, "B")]
    assert rows(scan().project([]).with_memtable_gen().with_row_address()) == [
        (9, None, 2),
        (2, None, 1),
        (3, 2, 0),
    ]


def test_later_rows_of_a_generation_are_newer(dataset):
    """As they stand in the log."""
    columns = {"id": [3, 3], "val": ["x", "y"], "_tombstone": [False, False]}
    unflushed = [(3, pa.table(columns, schema=FLUSHED))]
    assert rows(LsmScanner(dataset, [], unflushed))[0] == (3, "y")


def test_what_cannot_be_scanned_is_refused(dataset, tmp_path):
    """A table without a key, a folder or a column that is not there, an id that is none."""
    plain = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "plain")
    with pytest.raises(OperationRefused, match="no primary key"):
        LsmScanner.from_snapshots(plain, [])
    with pytest.raises(NotFound):
        LsmScanner.from_snapshots(dataset, [snapshot(7)]).to_table()
    with pytest.raises(EditFailed):
        LsmScanner.from_snapshots(dataset, []).project(["zz"])
    with pytest.raises(ValueError, match="badly formed"):
        ShardSnapshot("x")

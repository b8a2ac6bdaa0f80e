"""Shard snapshots."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound
from pylanceref.shard_snapshot import ShardSnapshot

SHARD = str(uuid.UUID(int=5))


def test_what_is_read_is_shown():
    """The id in the usual form, however it was written."""
    made = ShardSnapshot(SHARD.replace("-", "")).with_spec_id(3).with_current_generation(4)

    assert SHARD == made.shard_id
    assert 1 == made.with_sstable(1, "x").num_sstables
    assert f"_ShardSnapshot(shard_id='{SHARD}', current_gen=4, sstables=1)" == repr(made)


def test_generations_are_opened_as_they_are_named(tmp_path):
    """In the folder of the shard; one that is not there is refused."""
    table = pa.table({"a": [1]})
    made = pylanceref.write_dataset(table, tmp_path / "t")
    for name in ("x", "y"):
        pylanceref.write_dataset(table, tmp_path / "t" / "_mem_wal" / SHARD / name)
    snapshot = ShardSnapshot(SHARD).with_sstable(7, "y").with_sstable(2, "x")

    found = snapshot.opened(made)

    assert [7, 2] == [number for number, _ in found]
    assert found[0][1].uri.endswith(f"_mem_wal/{SHARD}/y")
    with pytest.raises(NotFound):
        snapshot.with_sstable(8, "z").opened(made)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: ShardSnapshot("x"), ValueError),
        (lambda: ShardSnapshot(3), TypeError),
        (lambda: ShardSnapshot(SHARD).with_spec_id(-1), OverflowError),
        (lambda: ShardSnapshot(SHARD).with_spec_id(2**32), OverflowError),
        (lambda: ShardSnapshot(SHARD).with_current_generation(-1), OverflowError),
        (lambda: ShardSnapshot(SHARD).with_sstable("1", "x"), TypeError),
        (lambda: ShardSnapshot(SHARD).with_sstable(1, 2), TypeError),
    ],
)
def test_what_is_no_snapshot_is_refused(call, kind):
    """Ids, numbers and folders are of their types."""
    with pytest.raises(kind):
        call()

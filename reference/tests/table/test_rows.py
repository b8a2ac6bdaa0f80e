"""Rows of a fragment without the deleted ones."""

import numpy as np
import pyarrow as pa
import pylanceref
import pyroaring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases
from lanceref.table.rows import FragmentRows

from .manifests import fragment, minimal, parse

SYSTEM = ("_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version")
IDS = b"\x0a\x06\x0a\x04\x08\x07\x10\x11"
"""Row ids 7 to 16: one range."""


def _rows(root, deleted, stable=False, **more) -> FragmentRows:
    """Ten rows in no file, so that every column is null; some deleted."""
    (root / "_deletions").mkdir(exist_ok=True)
    bitmap = pyroaring.BitMap(deleted).serialize()
    (root / "_deletions" / "3-0-1.bin").write_bytes(bitmap)
    entry = {"file_type": 1, "id": 1, "num_deleted_rows": len(deleted)}
    one = {"id": 3, "physical_rows": 10, **({"deletion_file": entry} if deleted else {}), **more}
    manifest = parse(minimal(fragments=[one]), findings=[])
    bases = Bases(LocalStore(root), manifest)
    return FragmentRows(manifest.fragments[0], bases, Context("m"), stable)


def _scan(rows: FragmentRows, size: int, start: int, end: int, system=("_rowaddr",), **how):
    fields = parse(minimal()).schema.fields
    return list(rows.scan(fields, system, size, start, end, **how))


@given(st.sets(st.integers(0, 9), max_size=10), st.integers(1, 11), st.integers(0, 10), st.data())
def test_any_slice_of_the_live_rows(tmp_path_factory, deleted, size, start, data):
    """Scan and take give the offsets that a list without the deleted ones gives."""
    live = [offset for offset in range(10) if offset not in deleted]
    start = min(start, len(live))
    end = data.draw(st.integers(start, len(live)))
    rows = _rows(tmp_path_factory.mktemp("t"), deleted)
    batches = _scan(rows, size, start, end)
    wanted = [(3 << 32) + offset for offset in live[start:end]]

    assert len(live) == rows.num_rows
    assert wanted == [value for _, arrays in batches for value in arrays[1].to_pylist()]
    assert all(count == len(array) for count, arrays in batches for array in arrays)
    assert all(size == count for count, _ in batches[:-1])
    taken = rows.take(np.arange(start, end), (), ("_rowaddr",))
    assert wanted == taken[0].to_pylist()
    uncut = _scan(rows, size, start, end, uncut=True)
    assert wanted == [value for _, arrays in uncut for value in arrays[1].to_pylist()]
    assert all(count % size == 0 for count, _ in uncut[:-1])
    assert len(uncut) <= len(batches)


def test_system_columns_without_stable_ids(tmp_path):
    """The id is the address, both versions are 1."""
    arrays = _rows(tmp_path, {0}).take(np.array([0, 8]), (), SYSTEM)
    addresses = [(3 << 32) + 1, (3 << 32) + 9]

    assert [addresses, addresses, [1, 1], [1, 1]] == [array.to_pylist() for array in arrays]
    assert {pa.uint64()} == {array.type for array in arrays}


def test_system_columns_with_stable_ids(tmp_path):
    """Sequences count the deleted rows."""
    rows = _rows(
        tmp_path,
        {0},
        stable=True,
        inline_row_ids=IDS,
        inline_created_at_versions=bytes.fromhex("0a080a040a02100a1004"),
    )
    arrays = rows.take(np.array([0, 8]), (), SYSTEM)

    assert [[8, 16], [4, 4], [1, 1]] == [arrays[i].to_pylist() for i in (0, 2, 3)]


def test_a_sequence_covers_the_rows(tmp_path):
    """Eleven ids for ten rows are refused where they are asked for."""
    rows = _rows(tmp_path, set(), stable=True, inline_row_ids=b"\x0a\x04\x0a\x02\x10\x0b")

    assert [3 << 32] == rows.take(np.array([0]), (), ("_rowaddr",))[0].to_pylist()
    with pytest.raises(FormatError) as caught:
        rows.take(np.array([0]), (), ("_rowid",))
    assert "L.table.row-ids.length" == caught.value.clause


def test_a_missing_deletion_file_is_refused(tmp_path):
    """Counting goes on, reading does not."""
    entry = {"file_type": 1, "id": 9, "num_deleted_rows": 1}
    manifest = parse(minimal(fragments=[fragment(deletion_file=entry)]), findings=[])
    bases = Bases(LocalStore(tmp_path), manifest)
    rows = FragmentRows(manifest.fragments[0], bases, Context("m"), False)

    assert 9 == rows.num_rows
    with pytest.raises(FormatError):
        _ = rows.deleted


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_a_null_that_is_deleted_is_none(tmp_path, version):
    """A column may lose its nullability when only deleted rows lack a value."""
    table = pa.table({"k": [1, 2, 3], "n": [{"x": 1}, {"x": None}, {"x": 3}]})
    dataset = pylanceref.write_dataset(table, tmp_path, data_storage_version=version)
    dataset.delete("k = 2")
    if version != "2.0":
        dataset.alter_columns({"path": "n.x", "nullable": False})
    opened = pylanceref.dataset(tmp_path)

    assert [{"x": 1}, {"x": 3}] == opened.to_table()["n"].to_pylist()
    assert [{"x": 3}] == opened.take([1])["n"].to_pylist()


def test_a_null_among_live_rows_is_refused(tmp_path):
    """L.page.required.null, also where other rows are deleted."""
    schema = pa.schema([pa.field("k", pa.int64()), pa.field("n", pa.int64(), nullable=False)])
    dataset = pylanceref.write_dataset(pa.table([[1, 2], [3, 4]], schema=schema), tmp_path)
    dataset.delete("k = 1")
    (rows,) = pylanceref.dataset(tmp_path)._snapshot.fragments
    field = pylanceref.dataset(tmp_path)._snapshot.manifest.schema.fields[1]

    assert [4] == rows._checked(field, pa.array([4])).to_pylist()
    with pytest.raises(FormatError, match=r"L\.page\.required\.null"):
        rows._checked(field, pa.array([None], pa.int64()))

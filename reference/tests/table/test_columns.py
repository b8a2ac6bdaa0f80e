"""Columns of fragments: split, missing, overlaid and without deleted rows."""

import numpy as np
import pyarrow as pa
import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, FormatError
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader, NullColumn, overlaid_column, split_column
from lanceref.table.file_entries import Patch
from lanceref.table.lineage import ROW_ID, open_lineage
from lanceref.table.rows import FragmentRows
from pylanceref.file import LanceFileWriter

from tests.table.manifests import data_file, fragment, minimal, parse

CTX = Context("m.manifest")
PLACE = CTX.at(4, 50)


@given(st.integers(0, 3_000_000), st.integers(0, 3_000_000))
def test_null_columns_cover_what_is_asked(start, rows):
    """A column in no file has nulls for all rows, a bounded run at a time."""
    column = NullColumn(pa.int64(), start + rows, CTX, PLACE)
    arrays = list(column.scan(start, start + rows))

    assert rows == sum(len(array) for array in arrays) == sum(a.null_count for a in arrays)
    assert all(array.nbytes < 2**22 for array in arrays)
    assert [None] * 3 == column.take(np.array([0, 0, 1])).to_pylist()


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
    """Scan and take give the offsets of a list without the deleted ones."""
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


class HeldArray:
    """A column of an array."""

    def __init__(self, array, run=2):
        self.array, self.type, self.num_rows, self.run = array, array.type, len(array), run

    def scan(self, start, end):
        """Yield runs."""
        for at in range(start, end, self.run):
            yield self.array.slice(at, min(self.run, end - at))

    def take(self, rows):
        """Return rows."""
        return self.array.take(pa.array(rows))

    def check(self):
        """Pass."""


PATCHES = st.lists(st.dictionaries(st.integers(0, 9), st.none() | st.integers(0, 99)), max_size=4)


@settings(max_examples=50)
@given(PATCHES, st.integers(0, 10), st.integers(0, 10), st.integers(1, 4))
def test_every_way_to_the_rows_shows_the_same(patches, start, end, run):
    """Scans and takes of patched columns agree with a loop over the patches."""
    wanted = list(range(100, 110))
    held = []
    for patch in patches:
        for row, value in patch.items():
            wanted[row] = value
        offsets = np.array(sorted(patch), np.int64)
        values = pa.array([patch[row] for row in sorted(patch)], pa.int64())
        held.append(Patch((), offsets, HeldArray(values), 0))
    column = overlaid_column(HeldArray(pa.array(range(100, 110), pa.int64()), run), held)

    scanned = [value for array in column.scan(start, end) for value in array.to_pylist()]
    assert wanted[start:end] == scanned
    assert wanted[start:end] == column.take(np.arange(start, max(start, end))).to_pylist()


ITEM = pa.struct([("p", pa.int8()), ("q", pa.string())])
LISTS = {
    "list": pa.list_,
    "large list": pa.large_list,
    "fixed-size list": lambda item: pa.list_(item, 2),
}
VALUES = [[{"p": 1, "q": "a"}, {"p": 2, "q": None}], None, [{"p": 3, "q": "c"}] * 2]


def _part(make, values, leaf: str) -> HeldArray:
    rows = [value and [{leaf: item[leaf]} for item in value] for value in values]
    return HeldArray(pa.array(rows, make(pa.struct([ITEM.field(leaf)]))), run=1)


@pytest.mark.parametrize("kind", LISTS)
def test_parts_of_items_are_joined(kind):
    """Files with one field of the items each make the whole lists, if their lists are equal."""
    make = LISTS[kind]
    column = split_column(make(ITEM), [_part(make, VALUES, leaf) for leaf in "pq"], PLACE)

    assert VALUES == pa.chunked_array(column.scan(0, 3)).to_pylist()
    assert [VALUES[2], VALUES[0]] == column.take(np.array([2, 0])).to_pylist()
    if kind != "fixed-size list":
        other = _part(make, [VALUES[0], None, VALUES[2][:1]], "q")
        with pytest.raises(FormatError, match=r"L\.table\.datafile\.lists"):
            split_column(make(ITEM), [_part(make, VALUES, "p"), other], PLACE).take(np.arange(3))


def test_a_null_among_hidden_row_ids_is_refused(tmp_path):
    """Row ids of a hidden column are read, and a null is refused when its row is read."""
    (tmp_path / "data").mkdir()
    table = pa.table({"_rowid": pa.array([9, None, 7], pa.uint64())})
    path = str(tmp_path / "data" / "ids.lance")
    with LanceFileWriter(path, table.schema, version="2.2") as writer:
        writer.write_batch(table)
    file = data_file(path="ids.lance", fields=[-3])
    flags = {"reader_feature_flags": 2050, "writer_feature_flags": 2050}
    one = fragment(0, file, physical_rows=3, column_row_ids={})
    manifest = parse(minimal(fragments=[one], **flags))
    columns = FragmentReader(manifest.fragments[0], Bases(LocalStore(tmp_path), manifest), CTX)
    ids = open_lineage(ROW_ID, columns, CTX)

    assert [9, 7] == ids.at(np.array([0, 2])).tolist()
    with pytest.raises(CorruptPage, match=r"L\.table\.row-ids\.column"):
        ids.at(np.array([1]))

"""Deletion files, written."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.storage import BytesSource, LocalStore
from lanceref.storage.protocol import Draft
from lanceref.table.deletions import encode_arrow, encode_bitmap, read_deletions, write_deletions


@pytest.mark.parametrize(
    ("count", "as_bitmap", "end"),
    [(4999, False, "arrow"), (5000, False, "bin"), (2, True, "bin")],
)
def test_the_number_of_rows_decides_the_form(tmp_path, count, as_bitmap, end):
    """From 5 000 on it is a bitmap; a rebase asks for one whatever the number."""
    rows = np.arange(count)
    entry = write_deletions(LocalStore(tmp_path), 3, 7, rows, Draft(), as_bitmap=as_bitmap)
    store, path = LocalStore(tmp_path), f"_deletions/3-7-{entry.id}.{end}"

    assert rows.tolist() == read_deletions(store.open(path), Context("d"), count).tolist()
    assert (count, 7) == (entry.num_deleted_rows, entry.read_version)


def test_a_bitmap_has_no_runs():
    """Golden bytes: 1 and 3; nine thousand rows in a row are one bitset container."""
    golden = "3a30000001000000000001001000000001000300"

    assert bytes.fromhex(golden) == encode_bitmap(np.array([1, 3]))
    assert 8208 == len(encode_bitmap(np.arange(9000)))


def test_an_arrow_file_has_one_required_column():
    """The name and type every reader looks for."""
    read = pa.ipc.open_file(encode_arrow(np.array([5, 9]))).read_all()

    assert pa.schema([pa.field("row_id", pa.uint32(), nullable=False)]) == read.schema
    assert [5, 9] == read["row_id"].to_pylist()


@given(st.lists(st.integers(0, 2**32 - 2), unique=True, max_size=30).map(sorted))
def test_any_rows_come_back(rows):
    """In both forms."""
    for data, name in (
        (encode_arrow(np.array(rows)), "d.arrow"),
        (encode_bitmap(np.array(rows)), "d.bin"),
    ):
        assert rows == read_deletions(BytesSource(data, name), Context("d")).tolist()

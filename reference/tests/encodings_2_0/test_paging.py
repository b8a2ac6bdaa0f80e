"""Pages of a column one after another."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.cursor import Extent
from lanceref.core.errors import LimitExceeded, Place
from lanceref.encodings_2_0.page import Paging, concat, distinct, repeat, run_rows
from lanceref.file.container import ColumnMetadata, PageMetadata

from .building import VALUES, flat

PLACE = Place("built", 0)


def _paging(*lengths: int) -> Paging:
    pages = tuple(PageMetadata((Extent(0, 8 * n),), n, 0, flat(64), PLACE) for n in lengths)
    return Paging(ColumnMetadata(0, pages, VALUES, (), PLACE))


def test_runs_never_cross_a_page():
    """Rows 2 to 9 of pages of 4, 0 and 8 rows, three at a time."""
    runs = list(_paging(4, 0, 8).runs(2, 9, 3))

    assert [(0, 2, 4), (2, 0, 3), (2, 3, 5)] == runs


def test_rows_are_split_by_page():
    """Each row is counted from the start of its page; pages without rows wanted are left out."""
    split = [
        (page, rows.tolist()) for page, rows in _paging(4, 0, 8, 2).split(np.array([3, 4, 11]))
    ]

    assert [(0, [3]), (2, [0, 7])] == split


def test_very_near_rows_are_decoded_together():
    """Up to sixteen rows apart, and never more than a request bridges."""
    paging = _paging(5000)

    assert ((0, 18),) == paging.covering(0, np.array([0, 17])).bounds
    assert ((0, 1), (18, 19)) == paging.covering(0, np.array([0, 18])).bounds


def test_runs_are_whole_bytes_of_bitmaps():
    """Rows of a run are a multiple of 64, or few."""
    assert 2**19 == run_rows(8)
    assert 64 * 6 == run_rows(10_000)
    assert 1 == run_rows(1e9)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50)).map(sorted))
def test_repeats_come_back(rows):
    """Distinct rows and where they lie give the rows again."""
    unique, inverse = distinct(np.array(rows, dtype=np.int64))

    assert sorted(set(rows)) == unique.tolist()
    assert rows == repeat(pa.array(unique), inverse).to_pylist()


def test_dictionaries_too_large_for_their_keys_are_refused():
    """Two dictionaries of 100 items do not fit keys of one signed byte."""
    keys = pa.array(range(100), pa.int8())
    arrays = [
        pa.DictionaryArray.from_arrays(keys, pa.array([f"{name}{i}" for i in range(100)]))
        for name in "ab"
    ]

    with pytest.raises(LimitExceeded, match=r"L\.array\.dictionary\.key-range"):
        concat(arrays, arrays[0].type, PLACE)

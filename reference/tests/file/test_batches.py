"""Batches cut from scans."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import LimitExceeded, OutOfRange
from lanceref.file import column_io as module
from lanceref.file.column_io import Recutter, batches, stretches


class Column:
    """A column whose scan is cut at given rows."""

    def __init__(self, array: pa.Array, cuts: list[int]) -> None:
        self.array, self.cuts, self.type = array, cuts, array.type

    def scan(self, start, end):
        """Yield the rows start..end in pieces."""
        edges = sorted({start, end, *(c for c in self.cuts if start < c < end)})
        for first, last in pairwise(edges):
            yield self.array.slice(first, last - first)


@given(st.data(), st.integers(1, 60), st.integers(1, 20))
def test_batches_are_the_rows_cut_evenly(data, rows, batch_size):
    """However two columns are cut, every batch has both columns' rows of the same range."""
    cuts = st.lists(st.integers(0, rows), max_size=6)
    one = Column(pa.array(range(rows)), data.draw(cuts))
    two = Column(pa.array([str(i) for i in range(rows)]), data.draw(cuts))
    start = data.draw(st.integers(0, rows - 1))
    made = list(batches([one, two], start, rows, batch_size))

    assert list(range(start, rows)) == [v for a, _ in made for v in a.to_pylist()]
    assert [str(i) for i in range(start, rows)] == [v for _, b in made for v in b.to_pylist()]
    assert all(batch_size == len(a) == len(b) for a, b in made[:-1])


@given(st.data(), st.integers(1, 60), st.integers(1, 20))
def test_stretches_are_whole_batches(data, rows, batch_size):
    """A stretch has both columns' rows of whole batches, as many as both have in one array."""
    cuts = st.lists(st.integers(0, rows), max_size=6)
    one = Column(pa.array(range(rows)), data.draw(cuts))
    two = Column(pa.array([str(i) for i in range(rows)]), data.draw(cuts))
    start = data.draw(st.integers(0, rows - 1))
    made = list(stretches([one, two], start, rows, batch_size))

    assert list(range(start, rows)) == [v for a, _ in made for v in a.to_pylist()]
    assert [str(i) for i in range(start, rows)] == [v for _, b in made for v in b.to_pylist()]
    assert all(len(a) == len(b) and len(a) % batch_size == 0 for a, b in made[:-1])


def test_a_stretch_reaches_to_the_last_batch_before_a_cut():
    """With a cut at 10, batches of 3 rows come as 9, then the one across, then the rest."""
    column = Column(pa.array(range(20)), [10])

    assert [9, 3, 6, 2] == [len(a) for (a,) in stretches([column], 0, 20, 3)]


def test_stretches_of_nested_fixed_size_lists_are_batches():
    """Each batch must be a copy of its own, so that pyarrow takes the right items from it."""
    nested = pa.list_(pa.list_(pa.int8(), 1), 1)
    column = Column(pa.array([[[1]], [[2]], [[3]]], nested), [])

    assert [(1, 0)] * 3 == [(len(a), a.offset) for (a,) in stretches([column], 0, 3, 1)]


def test_without_columns_there_are_still_batches():
    """A projection of no column counts rows."""
    assert [[], []] == list(batches([], 0, 5, 3)) == list(stretches([], 0, 5, 3))


def test_slices_of_nested_fixed_size_lists_are_copies():
    """pyarrow takes wrong items from such slices, so none leaves this module."""
    nested = pa.list_(pa.list_(pa.int8(), 1), 1)
    array = pa.array([[[1]], [[2]], [[3]]], nested)
    recutter = Recutter(iter([array]))
    recutter.next(1)

    assert 0 == recutter.next(2).offset


def test_dictionaries_that_do_not_fit_one_array_are_a_limit():
    """Two int8 dictionaries of 100 different values each cannot be joined: a limit."""
    parts = [
        pa.DictionaryArray.from_arrays(
            pa.array(range(100), pa.int8()), pa.array([f"{part}-{i}" for i in range(100)])
        )
        for part in range(2)
    ]

    with pytest.raises(LimitExceeded):
        Recutter(iter(parts)).next(200)


@pytest.mark.parametrize(("most", "fits"), [(40, 5), (39, 4), (32, 4), (31, 2), (1, 2)])
def test_as_many_rows_fit_as_one_array_holds(monkeypatch, most, fits):
    """Five of eight bytes in two, two and one array: whole arrays, one of them at least."""
    monkeypatch.setattr(module, "MOST_BYTES", most)
    column = Column(pa.array(range(6)), [2, 4])
    recutter = Recutter(column.scan(0, 6))

    assert fits == recutter.fitting(5)
    assert list(range(fits)) == recutter.next(fits).to_pylist()


def test_one_array_fits_however_large_it_is(monkeypatch):
    """Nothing is put together."""
    monkeypatch.setattr(module, "MOST_BYTES", 1)

    assert 3 == Recutter(iter([pa.array(range(4))])).fitting(3)


def test_a_column_that_ends_early_is_refused():
    """The scan of a file whose columns differ in length, which `validate` goes on with."""
    recutter = Recutter(iter([pa.array([1, 2])]))

    with pytest.raises(OutOfRange, match="ends 1 rows early"):
        recutter.next(3)

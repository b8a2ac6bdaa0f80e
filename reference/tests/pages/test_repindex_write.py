"""Repetition index, written."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.pages.repindex import parse_index, repetition_index


@pytest.mark.parametrize(
    ("rep", "ends", "index"),
    [
        ([1, 0, 1, 1, 1], [5], [[4, 0]]),
        ([1, 0, 0, 0], [2, 4], [[0, 2], [1, 0]]),
        ([1, 0, 1, 0], [2, 4], [[1, 0], [1, 0]]),
        ([1, 0, 1, 0, 0, 1], [3, 6], [[1, 1], [2, 0]]),
    ],
)
def test_worked_indices(rep, ends, index):
    """A row that ends with its chunk leaves nothing over."""
    found = repetition_index(np.array(rep, np.uint16), 1, np.array(ends))

    assert found.tolist() == index


@given(st.data())
def test_a_reader_finds_what_was_written(data):
    """Parsing and checking the index against the same levels succeeds."""
    rep = np.array([1, *data.draw(st.lists(st.integers(0, 1), max_size=60))], np.uint16)
    inner = data.draw(st.sets(st.integers(1, len(rep) - 1), max_size=5)) if len(rep) > 1 else []
    ends = np.array([*sorted(inner), len(rep)])

    written = repetition_index(rep, 1, ends)

    cursor = Cursor(memoryview(written.tobytes()), 0, Context("f"))
    index = parse_index(cursor, len(ends), int(rep.sum()))
    first = np.append(0, ends[:-1])
    index.check(np.arange(len(ends)), first, np.flatnonzero(rep), len(rep))

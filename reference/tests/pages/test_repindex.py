"""Repetition index: worked numbers, and a slow count against the vectorised one."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.pages.repindex import parse_index


def _parse(pairs, num_rows):
    data = np.array(pairs, "<u8").tobytes()
    return parse_index(Cursor(memoryview(data), 0, Context("test")), len(pairs), num_rows)


def _counted(chunks):
    """Count, entry by entry, what the index of these chunks (True begins a row) must say."""
    pairs = []
    for number, chunk in enumerate(chunks):
        last = number + 1 == len(chunks)
        finished, leftover = (
            sum(chunk[1:]),
            len(chunk) - max((i for i, begins in enumerate(chunk) if begins), default=0),
        )
        if last or chunks[number + 1][0]:
            finished, leftover = finished + 1, 0
        pairs.append((finished, leftover))
    return pairs


@st.composite
def chunked_rows(draw):
    """Chunks of row-start flags; the first entry of all begins a row."""
    chunks = draw(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=6))
    chunks[0][0] = True
    return chunks


def test_worked_example_of_one_chunk():
    """Four rows in one chunk: 4, 0."""
    index = _parse([(4, 0)], 4)

    assert [0] == index.first_start.tolist()
    assert ([0, 0], [0, 0]) == tuple(
        x.tolist() for x in index.chunks_of(np.array([0, 3]), np.array([0, 3]))
    )


@given(chunked_rows())
def test_rows_are_found_in_the_chunks_that_hold_them(chunks):
    """For every row the index names the chunk of its first and of its last entry."""
    where = [(row, at) for at, chunk in enumerate(chunks) for row in chunk]
    starts = [i for i, (begins, _) in enumerate(where) if begins]
    ends = [*starts[1:], len(where)]
    index = _parse(_counted(chunks), len(starts))
    first, last = index.chunks_of(np.arange(len(starts)), np.arange(len(starts)))

    assert [where[i][1] for i in starts] == first.tolist()
    assert [where[i - 1][1] for i in ends] == last.tolist()


@given(chunked_rows(), st.data())
def test_index_agrees_with_its_own_chunks_and_with_no_others(chunks, data):
    """The check passes on the counted index and fails when any number is changed."""
    pairs = _counted(chunks)
    flags = np.concatenate([np.array(c) for c in chunks])
    sizes = np.array([len(c) for c in chunks])
    first_entry, starts = np.cumsum(sizes) - sizes, np.flatnonzero(flags)
    chosen = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(chunks))), min_size=1))))
    part = np.concatenate([np.array(chunks[i]) for i in chosen])
    part_first = np.cumsum(sizes[chosen]) - sizes[chosen]
    _parse(pairs, len(starts)).check(np.arange(len(chunks)), first_entry, starts, len(flags))
    _parse(pairs, len(starts)).check(chosen, part_first, np.flatnonzero(part), len(part))

    if len(pairs) > 1:
        at = data.draw(st.integers(0, len(pairs) - 2))
        moved = [list(pair) for pair in pairs]
        moved[at][0] += 1
        moved[-1][0] += -1 if moved[-1][0] else 0
        total = sum(pair[0] for pair in moved)
        with pytest.raises(CorruptPage) as caught:
            _parse(moved, total).check(np.arange(len(chunks)), first_entry, starts, len(flags))
        assert "L.page.repindex.agrees" == caught.value.clause


@pytest.mark.parametrize(
    ("pairs", "rows", "clause"),
    [
        ([(3, 0)], 4, "rows"),
        ([(4, 1)], 4, "rows"),
        ([(2**63, 0)], 4, "range"),
    ],
)
def test_impossible_numbers_are_refused(pairs, rows, clause):
    """Totals that differ from the page, and numbers beyond any page."""
    with pytest.raises(CorruptPage) as caught:
        _parse(pairs, rows)

    assert f"L.page.repindex.{clause}" == caught.value.clause
    assert "" != str(caught.value.found)
    assert "" != str(caught.value.wanted)


def test_size_must_fit_the_chunks():
    """Two u64 per chunk, nothing else."""
    with pytest.raises(CorruptPage) as caught:
        parse_index(Cursor(memoryview(bytes(24)), 0, Context("test")), 1, 4)

    assert "L.page.repindex.size" == caught.value.clause

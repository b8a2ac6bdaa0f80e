"""Page table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import OutOfRange
from lanceref.file_0_1.page_table import Pages, parse_page_table, write_page_table
from lanceref.storage import BytesSource

from .building import file_bytes, i64

PAGES = {4: [(0, 3), (12, 2)], 6: [(20, 4), (28, 3)]}
TABLE = i64(0, 3, 12, 2, 0, 0, 0, 0, 20, 4, 28, 3)
"""Fields 4 and 6 of two batches: id 5 is a hole."""


def test_every_id_between_the_first_and_the_last_has_a_row():
    """The hole is zeros."""
    assert write_page_table(PAGES, range(4, 7), 2) == TABLE


def test_pages_are_found_by_id():
    """Positions and lengths by batch; no row for other ids."""
    table = parse_page_table(file_bytes(bytes(40) + TABLE), 40, (4, 6), 2, 136)

    pages = table.pages(6)
    assert ([20, 28], [4, 3]) == (pages.positions.tolist(), pages.lengths.tolist())
    assert (40 + 64, 32) == (pages.place.offset, pages.place.size_bytes)
    assert table.pages(3) is None
    assert table.pages(7) is None


def test_a_table_that_leaves_its_bounds_is_refused():
    """Before anything is sized by it."""
    with pytest.raises(OutOfRange) as refusal:
        parse_page_table(file_bytes(TABLE), 0, (0, 2**31 - 2), 2**31, 96)
    assert "L.legacy.page-table.extent" == refusal.value.clause


def test_pages_of_a_hole_are_reported():
    """A reader does not look at them."""
    findings = []
    file = FileBytes(BytesSource(TABLE), Context("f", findings=findings))
    table = parse_page_table(file, 0, (4, 6), 2, 96)

    table.lint_holes({5})
    assert [] == findings
    table.lint_holes({6})
    assert ["L.legacy.page-table.holes"] == [finding.clause for finding in findings]


def _pages(*pairs: tuple[int, int]) -> Pages:
    positions, lengths = np.array(pairs, np.int64).T
    return Pages(positions, lengths, 100, Context("f").at(0, 16))


@pytest.mark.parametrize(
    ("pairs", "rows", "bits", "tail", "clause"),
    [
        ([(-1, 3)], [3], 8, 0, "range"),
        ([(98, 3)], [3], 8, 0, "range"),
        ([(2**63 - 1, 1)], [1], 8, 0, "range"),
        ([(0, 3)], [3], 2**70, 0, "range"),
        ([(90, 1)], [1], 64, 8, "range"),
        ([(0, 3)], [2], 8, 0, "length"),
        ([(0, -3)], None, 8, 0, "length"),
        ([(0, 2**62)], None, 8, 0, "range"),
    ],
)
def test_pages_outside_of_the_data_or_of_another_length_are_refused(
    pairs, rows, bits, tail, clause
):
    """Whatever the numbers: nothing overflows."""
    lengths = None if rows is None else np.array(rows)
    with pytest.raises(OutOfRange) as refusal:
        _pages(*pairs).require(lengths, bits, tail)
    assert f"L.legacy.page-table.{clause}" == refusal.value.clause


@given(st.lists(st.tuples(st.integers(0, 92), st.integers(0, 64)), min_size=1))
def test_a_page_passes_exactly_when_its_bits_lie_before_the_end(pairs):
    """Computed one by one."""
    fits = all(position + (length + 7) // 8 <= 100 for position, length in pairs)
    if fits:
        _pages(*pairs).require(None, 1)
    else:
        with pytest.raises(OutOfRange):
            _pages(*pairs).require(None, 1)

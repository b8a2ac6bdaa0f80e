"""Expectations of numbers."""

import pytest
from lanceref.core.context import Context, expect
from lanceref.core.errors import CorruptPage

PLACE = Context("test").at(7, 3)


def test_equal_numbers_pass():
    """A flag and a count compare alike: True is 1."""
    expect("L.page.repindex.depth", 1, True, PLACE)


def test_other_numbers_are_refused_with_all_facts():
    """Clause, place, what was found and what was wanted."""
    with pytest.raises(CorruptPage) as caught:
        expect("L.page.repindex.depth", 2, 1, PLACE)

    error = caught.value
    assert ("L.page.repindex.depth", 7, 2, 1) == (
        error.clause,
        error.offset,
        error.found,
        error.wanted,
    )

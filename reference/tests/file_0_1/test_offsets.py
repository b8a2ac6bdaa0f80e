"""Offsets of several pieces."""

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.file_0_1.page_table import BatchRanges, Pages, read_offsets

from .building import file_bytes, i64

CLAUSE = "L.legacy.binary.ascending"


def _read(first: bytes, second: bytes):
    pages = Pages(np.array([0, len(first)]), np.array([2, 2]), 1000, Context("f").at(0))
    pieces = BatchRanges(np.array([0, 1]), np.array([0, 1]), np.array([2, 2]))
    return read_offsets(file_bytes(first + second), pages, pieces, "<i8", CLAUSE)


def test_each_piece_has_its_own_first_and_last():
    """Rows 0 and 1 of the first page, row 1 of the second."""
    offsets = _read(i64(5, 7, 10), i64(1, 1, 4))

    assert ([5, 1], [10, 4]) == (offsets.firsts.tolist(), offsets.lasts.tolist())
    assert [2, 3, 3] == offsets.lengths.tolist()
    assert [0, 2, 5, 8] == offsets.ends().tolist()


@pytest.mark.parametrize("first", [i64(5, 4, 10), i64(5, 12, 10), i64(5, -1, 10)])
def test_falling_offsets_are_refused(first):
    """Named with the page they stand in."""
    with pytest.raises(CorruptPage) as refusal:
        _read(first, i64(1, 1, 4))
    assert (CLAUSE, 0, 24) == (
        refusal.value.clause,
        refusal.value.offset,
        refusal.value.place.size_bytes,
    )

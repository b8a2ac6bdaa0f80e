"""Occurrences."""

from __future__ import annotations

import numpy as np
from lanceref.index.fulltext.occurrences import counted, gathered, of_each


def numbers(*values: int) -> np.ndarray:
    """Return numbers as they are kept."""
    return np.array(values, np.uint32)


def test_a_worked_run_of_tokens():
    """Token 1 stands twice in document 0 and once in 1, token 0 once in 0."""
    found = counted(numbers(1, 0, 1, 1), numbers(0, 0, 0, 1), numbers(0, 1, 2, 5))
    assert [0, 1, 1] == found.tokens.tolist()
    assert [0, 0, 1] == found.documents.tolist()
    assert [1, 2, 1] == found.frequencies.tolist()
    assert [1, 0, 2, 5] == found.positions.tolist()
    assert [1, 2, 0] == of_each(found, 3).tolist()


def test_parts_are_gathered_by_token():
    """Positions come along, and a part of them with a part."""
    first = counted(numbers(1, 0), numbers(0, 0), numbers(0, 1))
    second = counted(numbers(0, 0), numbers(1, 1), numbers(3, 4))
    found = gathered([first, second])
    assert [0, 0, 1] == found.tokens.tolist()
    assert [0, 1, 0] == found.documents.tolist()
    assert [1, 3, 4, 0] == found.positions.tolist()
    assert [3, 4] == found.part(1, 2).positions.tolist()
    without = counted(numbers(1, 0), numbers(0, 0), None)
    assert [] == without.part(0, 1).positions.tolist() == gathered([]).tokens.tolist()

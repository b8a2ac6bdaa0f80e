"""Occurrences."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.index.full_text.partition_writer import Occurrences, counted, gathered, keep


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
    assert [1, 2, 0] == keep(found).counts(3).tolist()


def test_parts_are_gathered_by_token():
    """Positions come along, and a part of them with a part."""
    first = counted(numbers(1, 0), numbers(0, 0), numbers(0, 1))
    second = counted(numbers(0, 0), numbers(1, 1), numbers(3, 4))
    found = gathered([first, second])
    assert [0, 0, 1] == found.tokens.tolist()
    assert [0, 1, 0] == found.documents.tolist()
    assert [1, 3, 4, 0] == found.positions.tolist()
    assert [3, 4] == keep(second).of(0, 1).positions.tolist()
    without = counted(numbers(1, 0), numbers(0, 0), None)
    assert [] == keep(without).of(0, 1).positions.tolist() == gathered([]).tokens.tolist()


@pytest.mark.parametrize("first", [0, 70_000])
@pytest.mark.parametrize("often", [1, 300])
def test_what_is_kept_comes_back(first, often):
    """Of all tokens and of some; far documents, and many words in one."""
    tokens, documents = numbers(*[3] * often, 9, 3, 5), numbers(*[0] * often, 0, 1, 2)
    found = counted(tokens, documents + np.uint32(first), np.arange(often + 3, dtype=np.uint32))
    kept = keep(found)
    assert shown(kept.of(0, 10)) == shown(found)
    parts = [kept.of(0, 3), kept.of(3, 4), kept.of(4, 9), kept.of(9, 10)]
    assert [0, 2, 1, 1] == [len(part.tokens) for part in parts]
    assert shown(gathered(parts)) == shown(found)
    assert kept.documents.dtype == np.uint8


def test_nothing_is_kept_as_nothing():
    """No tokens, no documents."""
    kept = keep(gathered([]))
    assert [[], [], [], []] == shown(kept.of(0, 5))
    assert [0, 0] == kept.counts(2).tolist()


def shown(found: Occurrences) -> list[list[int]]:
    """Return the columns of occurrences."""
    columns = (found.tokens, found.documents, found.frequencies, found.positions)
    assert all(column.dtype == np.uint32 for column in columns)
    return [column.tolist() for column in columns]

"""Occurrences."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.index.full_text.partition_writer import (
    CompactOccurrences,
    Occurrences,
    count_occurrences,
    merge_occurrences,
)


def numbers(*values: int) -> np.ndarray:
    """Return numbers as they are kept."""
    return np.array(values, np.uint32)


def test_a_worked_run_of_tokens():
    """Token 1 occurs twice in document 0 and once in 1, token 0 once in 0."""
    found = count_occurrences(numbers(1, 0, 1, 1), numbers(0, 0, 0, 1), numbers(0, 1, 2, 5))
    assert [0, 1, 1] == found.tokens.tolist()
    assert [0, 0, 1] == found.documents.tolist()
    assert [1, 2, 1] == found.frequencies.tolist()
    assert [1, 0, 2, 5] == found.positions.tolist()
    assert [1, 2, 0] == CompactOccurrences.of(found).counts(3).tolist()


def test_parts_are_gathered_by_token():
    """Positions come along, and a part of them with a part."""
    first = count_occurrences(numbers(1, 0), numbers(0, 0), numbers(0, 1))
    second = count_occurrences(numbers(0, 0), numbers(1, 1), numbers(3, 4))
    found = merge_occurrences([first, second])
    assert [0, 0, 1] == found.tokens.tolist()
    assert [0, 1, 0] == found.documents.tolist()
    assert [1, 3, 4, 0] == found.positions.tolist()
    assert [3, 4] == CompactOccurrences.of(second).between(0, 1).positions.tolist()
    without = count_occurrences(numbers(1, 0), numbers(0, 0), None)
    assert (
        []
        == CompactOccurrences.of(without).between(0, 1).positions.tolist()
        == merge_occurrences([]).tokens.tolist()
    )


@pytest.mark.parametrize("first", [0, 70_000])
@pytest.mark.parametrize("often", [1, 300])
def test_what_is_kept_comes_back(first, often):
    """Of all tokens and of some; far documents, and many words in one."""
    tokens, documents = numbers(*[3] * often, 9, 3, 5), numbers(*[0] * often, 0, 1, 2)
    found = count_occurrences(
        tokens, documents + np.uint32(first), np.arange(often + 3, dtype=np.uint32)
    )
    kept = CompactOccurrences.of(found)
    assert shown(kept.between(0, 10)) == shown(found)
    parts = [kept.between(0, 3), kept.between(3, 4), kept.between(4, 9), kept.between(9, 10)]
    assert [0, 2, 1, 1] == [len(part.tokens) for part in parts]
    assert shown(merge_occurrences(parts)) == shown(found)
    assert kept.documents.dtype == np.uint8


def test_nothing_is_kept_as_nothing():
    """No tokens, no documents."""
    kept = CompactOccurrences.of(merge_occurrences([]))
    assert [[], [], [], []] == shown(kept.between(0, 5))
    assert [0, 0] == kept.counts(2).tolist()


def shown(found: Occurrences) -> list[list[int]]:
    """Return the columns of occurrences."""
    columns = (found.tokens, found.documents, found.frequencies, found.positions)
    assert all(column.dtype == np.uint32 for column in columns)
    return [column.tolist() for column in columns]

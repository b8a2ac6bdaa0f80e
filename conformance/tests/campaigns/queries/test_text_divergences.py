"""Divergences of full-text searches."""

from __future__ import annotations

import pytest
from lance_conformance.campaigns.queries.text_divergences import (
    MISSING,
    History,
    Question,
    equal,
    published,
)
from pylanceref.query import BooleanQuery, BoostQuery, MatchQuery, MultiMatchQuery, Occur

ROWS = [(1, 0, 0.5), (2, 0, 0.25), (3, 0, 0.25)]


@pytest.mark.parametrize(
    ("found", "limited", "verdict"),
    [
        (ROWS, False, True),
        ([(1, 0, 0.500001), *ROWS[1:]], False, True),
        ([(1, 0, 0.5001), *ROWS[1:]], False, False),
        (ROWS[:2], False, False),
        ([*ROWS[:2], (4, 0, 0.25)], False, False),
        ([*ROWS[:2], (4, 0, 0.25)], True, True),
        ([(9, 0, 0.5), *ROWS[1:]], True, False),
        ("ValueError: no", False, False),
    ],
)
def test_answers_are_compared(found, limited, verdict):
    """The rows, the scores, and within a limit any of the last equal ones."""
    assert verdict is equal(ROWS, found, limited=limited)


MATCH, MULTI = MatchQuery("a", "s"), MultiMatchQuery("a", ["s"])
MUST = BoostQuery(MATCH, BooleanQuery([(Occur.MUST, MATCH)]))
LIVED = History(stable_ids=True, compacted=True, several_segments=True, replaced=frozenset([3]))
LIMIT = {"limit": 2}
OTHER = [*ROWS[:2], (3, 0, 0.75)]
LAST = [(1, 0, 0.5), (9, 0, 0.25)]


def verdict(wanted, found, whole, scan=LIMIT, query=MATCH, raw=False, history=LIVED):
    """The divergence of two answers, where both are `whole` when they are asked otherwise."""
    return published(Question(query, scan, raw, lambda _: whole), wanted, found, history)


@pytest.mark.parametrize("query", [MULTI, MUST])
def test_null_is_a_text_within_a_limit(query):
    """For raw, in queries made of others; without a limit the same rows have to come."""
    same, name = (ROWS, ROWS), "D.index.fts-null-texts"
    assert name == verdict(LAST, ROWS[:2], same, query=query, raw=True)
    assert verdict(LAST, ROWS[:2], same, query=query) is None
    assert verdict(LAST, ROWS[:2], same, query=MATCH, raw=True) is None
    assert verdict(LAST, ROWS[:2], (ROWS, OTHER), {**LIMIT, "prefilter": True}, query, True) is None
    assert verdict(LAST, LAST, (OTHER, OTHER), query=query, raw=True) is None


def test_rows_that_a_compaction_dropped_take_a_place():
    """Of a table with stable ids; the rows that come are fewer, and without a limit the same."""
    same, name = (ROWS, ROWS), "D.index.fts-compacted-ids"
    assert name == verdict(ROWS[:1], ROWS[:2], same)
    assert verdict(LAST, ROWS[:2], same) is None
    assert verdict(ROWS[:1], OTHER[::2], same) is None
    assert verdict(ROWS[:1], ROWS[:2], same, history=History(stable_ids=True)) is None
    assert verdict(ROWS[:1], ROWS[:2], same, history=History(compacted=True)) is None


def test_texts_that_were_replaced_are_found():
    """Only these; every other row has to be the same, in a table that has several segments."""
    name = "D.index.fts-replaced-texts"
    assert name == verdict(OTHER, ROWS, (OTHER, ROWS), {})
    assert name == verdict(OTHER[1:], ROWS[:2], (OTHER, ROWS))
    assert verdict(OTHER, [*ROWS, (4, 0, 1.0)], (OTHER, [*ROWS, (4, 0, 1.0)]), {}) is None
    assert verdict(OTHER, ROWS, (OTHER, ROWS), {}, history=History(stable_ids=True)) is None


def test_elements_cannot_be_found_nearly():
    """A fast search, which reads no row, has to find the same."""
    error, name = f"OSError: {MISSING} 'fox'", "D.index.fts-fuzzy-elements"
    assert name == verdict(error, ROWS, (ROWS, ROWS), {})
    assert verdict(error, ROWS, (ROWS, OTHER), {}) is None
    assert verdict("OSError: no", ROWS, (ROWS, ROWS), {}) is None
    assert verdict(ROWS, "OSError: no", (ROWS, ROWS), {}) is None

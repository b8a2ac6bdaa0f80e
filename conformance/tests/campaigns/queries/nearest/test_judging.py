"""Judging answers that are made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lance_conformance.campaigns.queries.nearest.judging import (
    REFUSED,
    ROUNDED,
    SAME,
    TIED,
    WALKED,
    Judge,
    agreement,
    as_far,
    compared,
    is_fine,
    one_sided,
)
from lance_conformance.campaigns.queries.nearest.questions import Question

ASKED = Question({"q": [0.0], "k": 3}, {})

NEAR = [(7, 0.5), (1, 1.0), (4, 2.0)]


def _judge(asked=None, *, graphs=False, passing=(), published=""):
    """A judge of a table of ten rows, where `asked` says what is found by what is asked."""

    def ask(question):
        return (asked or {})[question.told]

    return Judge(ask, lambda _: passing, graphs, 10, lambda *_: published)


@pytest.mark.parametrize(
    ("ours", "word"),
    [
        (NEAR, SAME),
        ([(7, 0.50001), (1, 1.0), (4, 2.0)], ROUNDED),
        ([(7, 0.5), (1, 1.0), (3, 2.00001)], TIED),
        ([(7, 0.5), (1, 1.0), (3, 2.1)], "other rows"),
        ([(7, 0.5), (3, 1.0), (4, 2.0)], "other rows"),
        ([(7, 0.5), (1, 1.0)], "other rows"),
        ([(7, 0.5), (1, 1.2), (4, 2.0)], "other distances"),
        ([(7, 0.5), (4, 2.0), (1, 1.0)], "not in order"),
        ([(7, 0.5), (7, 0.5), (4, 2.0)], "a row twice"),
        ([], "other rows"),
    ],
)
def test_rows_and_distances_are_the_same(ours, word):
    """To rounding; of rows as far as the last one any may be there."""
    assert word == compared(ASKED, ([NEAR], [ours]))
    assert is_fine(word) == (word in (SAME, ROUNDED, TIED))
    assert word == _judge().verdict(ASKED.scanned(fast_search=True), ([NEAR], [ours]))


def test_the_last_of_too_few_rows_is_none():
    """Rows that are fewer than wanted are all there are."""
    few = ASKED.but(k=5)
    assert "other rows" == compared(few, ([NEAR], [[*NEAR[:2], (3, 2.0)]]))
    assert "other rows" == compared(few, ([NEAR], [NEAR[:2]]))


def test_distances_from_long_vectors_are_rounded_more():
    """As what they are sums of; for cosine they have a length of 1."""
    ours = [(7, 0.503), *NEAR[1:]]
    far = ASKED.but(q=[[3.0], [60.0]])
    assert ROUNDED == compared(far, ([NEAR], [ours]))
    assert "other distances" == compared(far.but(metric="cosine"), ([NEAR], [ours]))
    assert "other distances" == compared(ASKED.but(q=[50.0]), ([NEAR], [ours]))


def test_rows_at_the_end_of_a_range():
    """May be within it or not."""
    within = ASKED.but(distance_range=(0.5, None))
    assert TIED == compared(within, ([NEAR], [NEAR[1:]]))
    assert "other rows" == compared(ASKED.but(distance_range=(0.4, None)), ([NEAR], [NEAR[1:]]))


def test_refusals():
    """Both may refuse, in their own words."""
    assert REFUSED == compared(ASKED, ("no", "never"))
    assert "refused by one" == compared(ASKED, ([NEAR], "never"))
    assert "refused by one" == _judge().verdict(ASKED, ("no", [NEAR]))


def test_the_worst_of_several_answers_counts():
    """And there must be as many."""
    tied = [(7, 0.5), (1, 1.0), (3, 2.0)]
    assert TIED == compared(ASKED, ([NEAR, NEAR], [NEAR, tied]))
    assert "other rows" == compared(ASKED, ([NEAR, NEAR], [tied, []]))
    assert "other number of answers" == compared(ASKED, ([NEAR, NEAR], [NEAR]))


REFINED = Question({"q": [0.0], "k": 2, "refine_factor": 2}, {})

CODES = "{'k': 4, 'fast_search': True}"

MORE = "{'k': 32, 'fast_search': True}"


@pytest.mark.parametrize(
    ("ours", "codes", "word"),
    [
        ([(3, 0.2), (7, 0.5)], [(7, 0.0), (1, 1.0), (2, 2.0), (3, 2.0)], TIED),
        ([(3, 0.2), (1, 1.0)], [(7, 0.0), (1, 1.0), (2, 2.0), (3, 2.0)], "other rows"),
        ([(3, 0.2), (7, 0.5)], [(7, 0.0), (1, 1.0), (2, 2.0), (3, 2.1)], "other rows"),
        ([(5, 0.2), (7, 0.5)], [(7, 0.0), (1, 1.0), (2, 2.0), (3, 2.0)], TIED),
        ([(6, 0.2), (7, 0.5)], [(7, 0.0), (1, 1.0), (2, 2.0), (3, 2.0)], "other rows"),
    ],
)
def test_rows_with_codes_as_far_may_be_looked_at_or_not(ours, codes, word):
    """A row that both have looked at may only fall after others."""
    theirs = [(7, 0.5), (1, 1.0)]
    looked_at = ([[(7, 0.0), (1, 1.0), (2, 2.0), (4, 2.0)]], [codes])
    more = [*looked_at[0][0], (5, 2.00001), (6, 2.1)]
    judge = _judge({CODES: looked_at, MORE: ([more], [more])})
    assert word == judge.verdict(REFINED, ([theirs], [ours]))


def test_rows_are_filtered_when_they_are_found():
    """The last of what there was may be another; a row that passes is not left out."""
    asked = ASKED.scanned(filter="i", prefilter=False)
    before = ([NEAR], [[*NEAR[:2], (3, 2.0)]])
    judge = _judge({ASKED.told: before}, passing={1, 4})
    assert TIED == judge.verdict(asked, ([[NEAR[1], NEAR[2]]], [[NEAR[1]]]))
    assert "other rows" == judge.verdict(asked, ([[NEAR[1]]], [[]]))
    judge = _judge({ASKED.told: ([NEAR], "no")}, passing={1, 4})
    assert "other rows" == judge.verdict(asked, ([[NEAR[1]]], [[]]))


def test_a_walk_is_judged_by_one_that_keeps_every_row():
    """Where that gives the same the walk has turned elsewhere, and only over graphs."""
    asked = ASKED.scanned(fast_search=True)
    every = asked.but(ef=80)
    answers = ([NEAR], [[NEAR[0], NEAR[2], (3, 9.0)]])
    judge = _judge({every.told: ([NEAR], [NEAR])}, graphs=True)
    assert WALKED == judge.verdict(asked, answers)
    judge = _judge({every.told: answers}, graphs=True)
    assert "other rows" == judge.verdict(asked, answers)
    assert "other rows" == _judge().verdict(asked, answers)


def test_what_is_published_is_told():
    """But not of answers that are the same."""
    judge = _judge(published="D.x")
    assert "D.x" == judge.verdict(ASKED, ([NEAR], [[]]))
    assert SAME == judge.verdict(ASKED, ([NEAR], [NEAR]))
    assert is_fine("D.x")


def test_what_is_published_is_judged_as_all_else():
    """But for what is published."""
    asked = ASKED.scanned(fast_search=True)

    def published(question, pair, fine):
        assert not fine(question, ([NEAR], [[]]))
        assert fine(question, ([NEAR], [NEAR]))
        return "D.x"

    judge = replace(_judge(), published=published)
    assert "D.x" == judge.verdict(asked, ([NEAR], [[]]))


def test_agreement_is_over_ten_rows():
    """Of each answer; what is tied is alike."""
    theirs, ours = [[(n, 0.0) for n in range(start, start + 12)] for start in (0, 2)]
    assert 0.8 == agreement(([theirs], [ours]), WALKED)
    assert 0.9 == agreement(([theirs, []], [ours, []]), "other rows")
    assert 0.0 == agreement(([theirs], "no"), "refused by one")
    assert 1.0 == agreement(([theirs], [ours]), TIED)


def test_rows_of_one_query_alone_are_found_for_each():
    """Though another query finds them by both."""
    theirs, ours = [(1, 0.0), (2, 1.0)], [(1, 0.0), (3, 1.0)]
    assert {2, 3} == one_sided(([theirs, theirs], [ours, theirs]))
    assert frozenset() == one_sided(([theirs], [theirs]))
    more = ([[*theirs, (3, 1.0)]], [[*ours, (4, 1.5)]])
    assert {2, 3} == as_far(ASKED.but(k=2), ([theirs], [ours]), more)
    assert frozenset() == as_far(ASKED, ([theirs], [ours]), more)

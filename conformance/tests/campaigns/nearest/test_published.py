"""What is published, told from answers that are made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lance_conformance.campaigns.nearest.cases import Case
from lance_conformance.campaigns.nearest.judging import FINE, TIED, compared
from lance_conformance.campaigns.nearest.published import (
    ALL,
    COMPACTED_IDS,
    FAST_WALK,
    HAMMING_GRAPHS,
    NO_NUMBER,
    PRUNED,
    ROUNDED_SUMS,
    Published,
)
from lance_conformance.campaigns.nearest.questions import Question
from lance_conformance.campaigns.nearest.tables import Shape

CASE = Case("IVF_SQ", "cosine", "f32", "2.1", "plain", "oracle")

SHAPE = Shape(60, 2, 1, 25, False, {"num_bits": 5}, ())

ASKED = Question({"q": np.array([1.0, 0.0]), "k": 2}, {})

NOWHERE = Question({"q": np.array([[1.0, 0.0], [0.0, 0.0]]), "k": 2}, {})

LIVE = {1, 3, 4, 5, 7}

NEAR = [(7, 0.5), (1, 1.0)]


def _told(question, pair, case=CASE, shape=SHAPE, more=None):
    """What is reported of a pair, where the oracle finds `more` when it is asked for more."""

    def ask(wider):
        assert wider.k > question.k
        assert "distance_range" not in wider.nearest
        return (more if isinstance(more, str) else [more]), "not asked"

    return Published(case, shape, ask, lambda _: LIVE).of_answer(question, pair, _fine)


def _fine(question, pair):
    return compared(question, pair) in FINE


def test_a_query_without_a_direction_finds_nothing():
    """Of the others the rows are the same."""
    assert NO_NUMBER == _told(NOWHERE, ([NEAR, NEAR], [NEAR, []]))
    tied = [NEAR[0], (4, 1.0)]
    assert NO_NUMBER == _told(NOWHERE, ([NEAR, NEAR], [tied, []]))
    assert NO_NUMBER == _told(ASKED.but(q=np.zeros(2)), ([NEAR], [[]]))
    assert "" == _told(NOWHERE, ([NEAR, NEAR], [NEAR, NEAR[:1]]))
    assert "" == _told(NOWHERE, ([NEAR, NEAR], [NEAR[:1], []]))
    assert "" == _told(ASKED, ([NEAR], [[]]))
    assert "" == _told(NOWHERE, ("refused", [NEAR, []]))
    for other in (replace(CASE, metric="l2"), replace(CASE, type="IVF_FLAT")):
        assert "" == _told(NOWHERE, ([NEAR, NEAR], [NEAR, []]), other)
    several = replace(CASE, type="IVF_PQ", life="several")
    assert "" == _told(NOWHERE, ([[(3, 0.1)]], [[]]), several)


@pytest.mark.parametrize(
    ("case", "shape", "told"),
    [
        (replace(CASE, type="IVF_RQ"), SHAPE, PRUNED),
        (CASE, replace(SHAPE, stable_ids=True, steps=("compact",)), COMPACTED_IDS),
        (CASE, replace(SHAPE, steps=("compact",)), ""),
        (CASE, replace(SHAPE, stable_ids=True), ""),
        (replace(CASE, type="IVF_RQ"), replace(SHAPE, index={"num_bits": 1}), ""),
    ],
)
def test_rows_that_are_found_when_more_are_asked_for(case, shape, told):
    """Of codes of several bits, and where a compaction dropped rows."""
    pair = [[NEAR[0], (4, 3.0)]], [NEAR]
    assert told == _told(ASKED, pair, case, shape, [*NEAR, (4, 3.0)])
    assert "" == _told(ASKED, pair, case, shape, [NEAR[0], (4, 3.0), (5, 4.0)])
    assert "" == _told(ASKED, pair, case, shape, "refused")
    dropped = [(9, 0.1), *NEAR, (4, 3.0)]
    assert told == _told(ASKED, pair, case, shape, dropped)
    ranged = ASKED.but(distance_range=(0.5, 2.0))
    assert told == _told(ranged, pair, case, shape, [(3, 0.3), *NEAR])
    assert "" == _told(ranged, pair, case, shape, [NEAR[0], (3, 0.6), NEAR[1]])


def test_graphs_of_hamming_are_not_brought_up_to_date():
    """By the oracle, which panics."""
    graphs = Published(replace(CASE, type="IVF_HNSW_FLAT", metric="hamming"), SHAPE, None, None)
    panic = "panic: not implemented: unsupported index type: HNSW, FLATBIN"
    assert HAMMING_GRAPHS == graphs.of_step("oracle", "delta", panic)
    assert "" == graphs.of_step("reference", "optimize", panic)
    assert "" == graphs.of_step("oracle", "insert", panic)
    assert "" == graphs.of_step("oracle", "optimize", "panic: another")
    assert "" == Published(CASE, SHAPE, None, None).of_step("oracle", "optimize", panic)


def test_a_fast_walk_is_judged_by_the_usual_one():
    """Over graphs, where that gives the same."""
    fast = ASKED.but(approx_mode="fast")
    pair = [[NEAR[0], (4, 3.0)]], [NEAR]

    def told(case, usual):
        def ask(question):
            assert "approx_mode" not in question.nearest
            return usual

        published = Published(case, SHAPE, ask, None)
        return published.of_answer(fast, pair, lambda *one: compared(*one) in FINE)

    graphs = replace(CASE, type="IVF_HNSW_SQ")
    assert FAST_WALK == told(graphs, ([NEAR], [NEAR]))
    assert "" == told(graphs, pair)
    assert "" == told(CASE, ([NEAR], [NEAR]))


def test_sums_between_two_steps_are_rounded_either_way():
    """The same rows, nearly as far, and as far where sums are not rounded."""
    case = replace(CASE, type="IVF_RQ")
    stepped = ([NEAR], [[(7, 0.501), (1, 1.0)]])

    def told(pair, accurate, question=ASKED):
        def ask(other):
            assert "accurate" == other.nearest["approx_mode"]
            return [NEAR], [accurate]

        one_bit = replace(SHAPE, index={"num_bits": 1})
        return Published(case, one_bit, ask, lambda _: LIVE).of_answer(question, pair, _fine)

    assert ROUNDED_SUMS == told(stepped, NEAR)
    assert "" == told(stepped, stepped[1][0])
    assert "" == told(stepped, NEAR, ASKED.but(approx_mode="accurate"))
    assert "" == told(([NEAR], [[(7, 0.51), (1, 1.0)]]), NEAR)
    assert "" == told(([NEAR], [[(7, 0.5), (3, 1.0)]]), NEAR)
    assert "" == told(("refused", [NEAR]), NEAR)


def test_the_ends_of_several_searches_are_tied():
    """Of all rows both find the same; a search for one vector has one end."""
    several = replace(CASE, type="IVF_PQ", life="several")
    ours = [(7, 0.4), (1, 1.0)]

    def told(every, case=several):
        published = Published(case, SHAPE, lambda _: ([NEAR], [every]), lambda _: LIVE)
        return published.of_answer(ASKED, ([NEAR], [ours]), _fine)

    assert TIED == told(NEAR)
    assert "" == told(ours)
    assert "" == told(NEAR, replace(several, life="plain"))
    assert "" == told(NEAR, replace(several, type="IVF_SQ"))


def test_a_vector_that_is_passed_over_is_the_end_of_one_search_of_several():
    """The oracle's furthest is then the next: of 9 bits by codes, never of one."""
    several = replace(CASE, type="IVF_RQ", life="several")
    theirs, ours = [(3, 0.5), (7, 1.000167)], [(3, 0.5), (7, 1.0)]
    whole = [(3, 0.4), (7, 0.9)]

    def told(bits, every):
        shape = replace(SHAPE, index={"num_bits": bits})

        def answers(asked):
            return ([whole], [every]) if asked.k == ALL else ([theirs], [ours])

        published = Published(several, shape, answers, lambda _: LIVE)
        return published.of_answer(ASKED, ([theirs], [ours]), _fine)

    assert PRUNED == told(9, whole)
    assert "" == told(9, ours)
    assert "" == told(1, whole)

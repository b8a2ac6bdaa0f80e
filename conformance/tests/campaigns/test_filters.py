"""The filters campaign, small."""

from __future__ import annotations

from random import Random

import pytest
from lance_conformance.campaigns.filter_grammar import TABLE, Grammar
from lance_conformance.campaigns.filters import FAMILIES, judge


def test_a_filter_is_the_same_for_the_same_seed():
    """So that a difference can be repeated by its number."""
    texts = [Grammar(Random("0/7")).filter() for _ in range(2)]

    assert texts[0] == texts[1]
    assert 400 < len({Grammar(Random(f"0/{number}")).filter() for number in range(500)})


def test_the_grammar_names_every_column():
    """No column of the table is left out by the rules."""
    texts = " ".join(Grammar(Random(f"1/{number}")).filter() for number in range(3000))

    assert [] == [name for name in TABLE.column_names if name not in texts]


def test_verdicts():
    """Two refusals agree, whatever they say; rows beside a refusal differ."""
    assert "refused" == judge("grammar", 0, "x", "ValueError: a", "QueryRefused: b").verdict
    assert "equal" == judge("grammar", 0, "x", [1, 2], [1, 2]).verdict
    assert "differs" == judge("grammar", 0, "x", [1, 2], [1]).verdict
    assert "differs" == judge("grammar", 0, "x", [1, 2], "QueryRefused: b").verdict


def test_only_rows_of_the_negative_zero_are_a_known_difference():
    """Row 1 holds -0.0, row 2 does not."""
    text = "f64 = coalesce(0.0, dec)"
    known = "D.query.zero-after-simplification"

    assert known == judge("grammar", 0, text, [0, 1, (1 << 32) + 5], [0]).verdict
    assert "differs" == judge("grammar", 0, text, [0, 1, 2], [0]).verdict
    assert "differs" == judge("grammar", 0, "f64 = 0.0", [0, 1], [0]).verdict
    assert "differs" == judge("grammar", 0, text, [0, 1], "QueryRefused: b").verdict


@pytest.mark.oracle
@pytest.mark.parametrize("family", FAMILIES)
def test_random_filters_find_the_rows_of_the_oracle(family, tmp_path):
    """Sixty of each family."""
    run, _ = FAMILIES[family]
    outcomes = list(run(tmp_path, 5, range(60)))

    assert [] == [one for one in outcomes if one.verdict == "differs"]
    assert 40 < sum(one.verdict == "equal" for one in outcomes)

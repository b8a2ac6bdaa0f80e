"""The full-text campaign."""

from __future__ import annotations

from random import Random

import pytest
from lance_conformance.campaigns import text_divergences, texts
from lance_conformance.campaigns.full_text import Outcome, report, run
from pylanceref import query as names


def test_questions_are_the_same_for_a_seed():
    """Whoever's classes they are made of."""
    for seed in range(40):
        one, other = (texts.question("code", names, Random(seed)) for _ in range(2))
        assert texts.told(one) == texts.told(other)
        assert "object at" not in texts.told(one)


@pytest.mark.parametrize("family", texts.FAMILIES)
def test_every_family_has_parameters(family):
    """And rows with some values of each kind."""
    assert {"base_tokenizer", "with_position"} < set(texts.parameters(family, Random(1)))
    rows = texts.rows(family, 80, Random(2), 100)
    assert all(80 > rows[name].null_count > 0 for name in "stlj")
    assert 179 == rows["i"][79].as_py()


def test_differences_end_the_run(capsys):
    """With their table, its life and the question."""
    assert 0 == report([Outcome(1, "raw", asked=3, found=2)])
    assert 0 == report([Outcome(1, "raw", asked=3, published={"D.x": 2})])
    assert "D.x 2" in capsys.readouterr().out
    assert 1 == report([Outcome(1, "raw", differences=["here"], steps=["insert"])])
    assert "DIFFERENCE seed 1, raw: insert\n  here" in capsys.readouterr().out


@pytest.mark.oracle
@pytest.mark.parametrize("family", texts.FAMILIES)
def test_a_sample_of_each_family(tmp_path, family):
    """A table lives four steps, ten questions each; what is done is kept."""
    out = tmp_path / "out"
    (outcome,) = run([3], [family], 10, out)
    assert [] == outcome.differences
    assert (40, 4) == (outcome.asked, len(outcome.steps))
    assert outcome.found > 3
    assert [outcome] == run([3], [family], 10, out)
    assert text_divergences.TOLERANCE <= 1e-5

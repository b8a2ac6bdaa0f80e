"""Running cases."""

from __future__ import annotations

from random import Random

import lanceref
import pylanceref
import pytest
from lance_conformance.campaigns.nearest.cases import TYPES, Case, cases
from lance_conformance.campaigns.nearest.judging import SAME, is_fine
from lance_conformance.campaigns.nearest.running import Run, run_all

pytestmark = pytest.mark.oracle

LEGAL = [one for one in cases() if one.legal]


@pytest.mark.parametrize("type_", TYPES)
def test_a_sample_of_each_type(tmp_path, type_):
    """Nothing differs, and what is done is kept."""
    own = Random(type_).sample([one for one in LEGAL if one.type == type_], 4)
    out, keep = tmp_path / "out", tmp_path / "keep"
    outcomes = list(run_all(own, 5, 4, out, keep))
    assert [] == [one.differences for one in outcomes if one.differences]
    assert all(one.asked == 4 or one.no_index for one in outcomes)
    assert any(one.answered for one in outcomes)
    assert all(one.alike == one.answered for one in outcomes)
    assert outcomes == list(run_all(own, 5, 4, out, keep))
    assert len(out.read_text().splitlines()) == len(own)
    assert not keep.exists()


def test_what_differs_is_told_and_kept(tmp_path, monkeypatch):
    """A reference that finds the second nearest row first."""
    case = Case("IVF_FLAT", "l2", "f32", "2.1", "plain", "reference")
    nearest = lanceref.search.vector_search.VectorSearch.nearest

    def wrong(self, condition):
        return [type(one)(one.ids[1:], one.distances[1:]) for one in nearest(self, condition)]

    monkeypatch.setattr("lanceref.search.vector_search.VectorSearch.nearest", wrong)
    (outcome,) = run_all([case], 1, 6, None, tmp_path)
    assert len(outcome.differences) == outcome.asked - outcome.words.get(SAME, 0) > 3
    assert any(not is_fine(word) for word in outcome.words)
    assert outcome.alike < outcome.answered
    assert outcome.differences[0].startswith("other ")
    assert 1 == len(list(tmp_path.iterdir()))


def test_an_index_that_only_one_makes(tmp_path, monkeypatch):
    """Is a difference, one that neither makes is none."""
    case = Case("IVF_FLAT", "l2", "u8", "2.1", "plain", "oracle")
    outcome = Run(case, 1, tmp_path / "t").run(3)
    assert outcome.no_index
    assert (0, []) == (outcome.asked, outcome.differences)

    def refused(*_, **__):
        raise ValueError("no")

    monkeypatch.setattr(pylanceref.LanceDataset, "create_index", refused)
    case = Case("IVF_FLAT", "l2", "f32", "2.1", "plain", "reference")
    (told,) = Run(case, 1, tmp_path / "t").run(3).differences
    assert told.startswith("only reference makes no index: ValueError: no")


def test_a_step_that_only_one_does(tmp_path, monkeypatch):
    """Is a difference; the other goes on."""

    def refused(*_, **__):
        raise ValueError("no")

    monkeypatch.setattr(pylanceref.LanceDataset, "delete", refused)
    case = Case("IVF_FLAT", "l2", "f32", "2.1", "changed", "oracle")
    outcomes = [Run(case, seed, tmp_path / "t").run(1) for seed in range(4)]
    told = [difference for one in outcomes for difference in one.differences]
    assert any(one.startswith("reference alone does not delete: ValueError") for one in told)
    assert all(one.asked == 1 for one in outcomes)

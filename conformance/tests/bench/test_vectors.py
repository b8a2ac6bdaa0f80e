"""The vector benchmark: figures of what both sides built; no time is asserted."""

import pytest
from lance_conformance.bench import vectors
from lance_conformance.bench.goals import GOALS


@pytest.mark.oracle
def test_a_type_is_built_and_asked(tmp_path, monkeypatch):
    """Both sides find most of what is near in what they built, and queries are counted."""
    monkeypatch.setattr(vectors, "TYPES", {"IVF_SQ": {}})
    monkeypatch.setattr(vectors, "ROWS_PER_MIB", 500)
    figures = {one.measure: one for one in vectors.vectors(tmp_path, 1, 1)}
    assert {"build", "recall", "query"} == set(figures)
    assert all(one.ours > 0 and one.oracle > 0 for one in figures.values())
    assert 0.9 < figures["recall"].ours <= 1


def test_every_goal_of_indices_is_measured():
    """Each asks for types that are built."""
    asked = {
        name for goal in GOALS if {"query", "build"} & {*goal.measures} for name in goal.tables
    }
    assert asked <= set(vectors.TYPES)

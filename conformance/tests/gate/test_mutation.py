"""The score of mutants, beside the one before."""

import json

import pytest
from lance_conformance.gate import mutation
from lance_conformance.gate.checks import Colour
from lance_conformance.gate.trees import Tree


def keeping(folder, noticed: int | None) -> Tree:
    """Return a tree whose cases notice so many of 200 mutants, and want 95 %."""
    path = folder / mutation.SCORE
    path.parent.mkdir(parents=True)
    if noticed is not None:
        path.write_text(json.dumps({"judged": 200, "noticed": noticed, "bar": 95.0}))
    return Tree(folder.name, folder)


@pytest.mark.parametrize(
    ("before", "after", "colours"),
    [
        (192, 192, []),
        (198, 194, []),
        (198, 193, ["red"]),
        (192, 189, ["red"]),
        (189, 189, ["yellow"]),
        (150, 145, ["red", "yellow"]),
        (None, 189, ["red"]),
        (None, 190, []),
    ],
)
def test_a_score_that_fell_or_is_too_low_is_told(tmp_path, before, after, colours):
    """More than two points lower is red; below the bar is red when it was not so before."""
    base, head = keeping(tmp_path / "base", before), keeping(tmp_path / "head", after)
    check = mutation.check(base, head)
    assert [finding.colour.label for finding in check.findings] == colours


def test_a_tree_that_keeps_none_is_not_judged(tmp_path):
    """Nothing is said of a score that nobody measured."""
    base, head = keeping(tmp_path / "base", 190), keeping(tmp_path / "head", None)
    check = mutation.check(base, head)
    assert (check.colour, check.skipped) == (Colour.GREEN, f"the head keeps no {mutation.SCORE}")

"""Clauses: what may happen to the register."""

import json
import shutil
from pathlib import Path

import pytest
from lance_conformance.gate import clauses
from lance_conformance.gate.checks import Colour
from lance_conformance.gate.trees import Tree
from lance_conformance.stored import case_folder

FIXTURES = Path(__file__).parents[3] / "fixtures"
SHOWN = "file/2.1/miniblock/int32"

KEPT = {
    "id": "L.page.miniblock.padding",
    "level": "MUST",
    "text": "Padding MUST be there.",
    "chapter": "30-pages-2.1",
    "audience": ["writer"],
}
"""A clause that the case shows, and none breaks."""


def tree(folder: Path, *entries: dict[str, object]) -> Tree:
    """A tree with a register and one case."""
    (folder / "spec").mkdir(parents=True)
    (folder / "spec" / "register.json").write_text(json.dumps({"clauses": entries}))
    shutil.copytree(case_folder(FIXTURES / SHOWN), folder / "fixtures" / SHOWN)
    (folder / "fixtures" / "SUITE.json").write_text("{}")
    return Tree(folder.name, folder)


@pytest.mark.parametrize(
    ("change", "colour", "told"),
    [
        ({"text": "Padding MUST be zero."}, Colour.YELLOW, "says now: Padding MUST be zero."),
        ({"level": "SHOULD"}, Colour.RED, "MUST of writers is SHOULD of writers"),
        ({"audience": ["reader"]}, Colour.RED, "MUST of writers is MUST of readers"),
        ({"id": "L.page.other.name"}, Colour.RED, "gone"),
        ({"chapter": "31-codecs"}, Colour.GREEN, ""),
    ],
)
def test_changes_of_a_clause(tmp_path, change, colour, told):
    """An id keeps its level and audience for ever; its text may be improved."""
    check = clauses.check(tree(tmp_path / "a", KEPT), tree(tmp_path / "b", {**KEPT, **change}))[0]

    assert colour == check.colour
    assert told in "".join(finding.text for finding in check.findings)


def test_new_clauses_need_their_cases(tmp_path):
    """A new MUST without cases is red; an old one and a new SHOULD yellow, excused ones green."""
    must = {**KEPT, "id": "L.page.new.must"}
    should = {**KEPT, "id": "L.page.new.should", "level": "SHOULD"}
    excused = {**KEPT, "id": "L.page.new.excused", "untestable": "nobody can see it"}
    head = tree(tmp_path / "b", KEPT, must, should, excused)
    check = clauses.check(tree(tmp_path / "a", KEPT), head)[1]

    assert {
        "L.page.miniblock.padding": (Colour.YELLOW, "no negative case, as before"),
        "L.page.new.must": (Colour.RED, "no positive and no negative case"),
        "L.page.new.should": (Colour.YELLOW, "no case"),
    } == {f.place: (f.colour, f.text) for f in check.findings}


def test_trees_without_a_register_are_not_judged(tmp_path):
    """What is not there is said to be missing."""
    checks = clauses.check(Tree("a", tmp_path), Tree("b", tmp_path))

    assert ["a tree has no register"] * 2 == [check.skipped for check in checks]

"""The gate: clauses, fixtures, scores, pages and writers of two trees, and the comment."""

import json
import shutil
from pathlib import Path

import pytest
from lance_conformance.gate import clauses, comment, coverage, golden, mutation, writers
from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree
from lance_conformance.suite import suite_file
from lance_conformance.suite.case_storage import case_folder

ROOT = Path(__file__).parents[3]
CASE = "file/2.1/miniblock/int32"
"""A case that shows the clause below."""

KEPT = {
    "id": "L.page.miniblock.padding",
    "level": "MUST",
    "text": "Padding MUST be there.",
    "chapter": "30-pages-2.1",
    "audience": ["writer"],
}
"""A clause that the case shows, and none breaks."""


def tree(folder, *cases, clauses=(), packages=False):
    """A tree of some cases, with a register; with this repository's packages where asked."""
    for case in cases:
        shutil.copytree(case_folder(ROOT / "fixtures" / case), folder / "fixtures" / case)
    (folder / "fixtures" / "SUITE.json").write_text('{"notes": {}}')
    (folder / "spec").mkdir()
    (folder / "spec" / "register.json").write_text(json.dumps({"clauses": clauses}))
    for package in ("reference", "conformance") if packages else ():
        (folder / package).symlink_to(ROOT / package)
    return Tree(folder.name, folder)


@pytest.mark.parametrize(
    ("change", "colour", "text"),
    [
        ({"text": "Padding MUST be zero."}, Colour.YELLOW, "new text: Padding MUST be zero."),
        ({"level": "SHOULD"}, Colour.RED, "MUST of writers is SHOULD of writers"),
        ({"audience": ["reader"]}, Colour.RED, "MUST of writers is MUST of readers"),
        ({"id": "L.page.other.name"}, Colour.RED, "removed"),
        ({"chapter": "31-codecs"}, Colour.GREEN, ""),
    ],
)
def test_changes_of_a_clause(tmp_path, change, colour, text):
    """An id keeps its level and audience for ever; its text may be improved."""
    base = tree(tmp_path / "a", CASE, clauses=[KEPT])
    check = clauses.check(base, tree(tmp_path / "b", CASE, clauses=[{**KEPT, **change}]))[0]

    assert colour == check.colour
    assert text in "".join(finding.text for finding in check.findings)


def test_new_clauses_need_their_cases(tmp_path):
    """A new MUST without cases is red; an old one and a new SHOULD yellow, excused ones green."""
    must = {**KEPT, "id": "L.page.new.must"}
    should = {**KEPT, "id": "L.page.new.should", "level": "SHOULD"}
    excused = {**KEPT, "id": "L.page.new.excused", "untestable": "it cannot be observed"}
    head = tree(tmp_path / "b", CASE, clauses=[KEPT, must, should, excused])
    check = clauses.check(tree(tmp_path / "a", CASE, clauses=[KEPT]), head)[1]

    assert {
        "L.page.miniblock.padding": (Colour.YELLOW, "no negative case, as before"),
        "L.page.new.must": (Colour.RED, "no positive and no negative case"),
        "L.page.new.should": (Colour.YELLOW, "no case"),
    } == {f.place: (f.colour, f.text) for f in check.findings}


BASE, HEAD = Tree("main", Path()), Tree("topic", Path())

CHECKS = [
    Check("wire breaks", (Finding(Colour.RED, "a.proto:3", "deleted"),)),
    Check("clauses", (Finding(Colour.YELLOW, "L.a.b.c", "new text: x", "L.a.b.c"),)),
    Check("golden drift"),
    Check("old readers, new bytes", skipped="no old reader is named"),
]


def test_the_comment_has_a_row_for_every_check():
    """Red first, a skipped check says why, a clause is not repeated after itself."""
    lines = comment.markdown(BASE, HEAD, CHECKS).splitlines()

    assert "## 🔴 red: what this change does to the Lance format" == lines[0]
    assert "| wire breaks | 🔴 red | 1 | 0 |" in lines
    assert "| clauses | 🟡 yellow | 0 | 1 |" in lines
    assert "| golden drift | 🟢 green | 0 | 0 |" in lines
    assert "| old readers, new bytes | not judged: no old reader is named | | |" in lines
    assert "* 🟡 `L.a.b.c`: new text: x" in lines


def test_a_value_that_no_longer_occurs_is_red(tmp_path):
    """The head lost the only case of a layout; what neither tree shows is yellow."""
    kept = ROOT / "fixtures" / "file" / "2.1" / "constant"
    constant = sorted(path.name for path in kept.iterdir() if not path.name.startswith("neg-"))[0]
    both = tree(tmp_path / "base", CASE, f"file/2.1/constant/{constant}", packages=True)
    owned, values = coverage.check(both, tree(tmp_path / "head", CASE, packages=True))
    red = {(f.place, f.text) for f in values.findings if f.colour == Colour.RED}
    yellow = {(f.place, f.text) for f in values.findings if f.colour == Colour.YELLOW}

    assert Colour.GREEN == owned.colour
    assert ("layout in 2.1", "constant_layout occurs in no case") in red
    assert ("layout in 2.1", "blob_layout occurs in no case, as before") in yellow


def golden_tree(folder, **changes):
    """A tree with one case, whose manifest is changed."""
    made = tree(folder, CASE)
    path = folder / "fixtures" / CASE / "case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    suite_file.write_suite(folder / "fixtures")
    return made


@pytest.mark.parametrize(
    ("changes", "colour", "text"),
    [
        ({}, Colour.GREEN, ""),
        ({"title": "another"}, Colour.YELLOW, "title of the manifest changed"),
        ({"kind": "take"}, Colour.RED, "its kind changed"),
        ({"status": "withdrawn", "withdrawn": "wrong"}, Colour.YELLOW, "withdrawn: wrong"),
        ({"status": "withdrawn"}, Colour.YELLOW, "status"),
    ],
)
def test_changes_of_a_manifest(tmp_path, changes, colour, text):
    """What decides a verdict is red; words and withdrawals are yellow."""
    check = golden.check(golden_tree(tmp_path / "a"), golden_tree(tmp_path / "b", **changes))

    assert colour == check.colour
    assert text in "".join(finding.text for finding in check.findings)


@pytest.mark.parametrize(
    ("seal", "text"),
    [(suite_file.write_suite, "bytes of data.lance"), (lambda _: None, "not match SUITE.json")],
)
def test_changed_bytes_and_lost_cases_are_red(tmp_path, seal, text):
    """One byte more, or the whole case less; a hash that stays in SUITE.json hides neither."""
    base, head = golden_tree(tmp_path / "a"), golden_tree(tmp_path / "b")
    data, is_sealed = head.root / "fixtures" / CASE / "data.lance", seal is suite_file.write_suite
    data.write_bytes(data.read_bytes() + b"!")
    seal(head.root / "fixtures")
    edited = golden.check(base, head)
    assert not is_sealed or [CASE] == golden.new_or_changed(base.fixtures, head.fixtures)
    shutil.rmtree(data.parent)
    seal(head.root / "fixtures")
    lost = golden.check(base, head)

    assert [Colour.RED, Colour.RED] == [edited.colour, lost.colour]
    assert text in edited.findings[0].text
    assert "published, and removed" == lost.findings[0].text
    assert not is_sealed or [] == golden.new_or_changed(base.fixtures, head.fixtures)


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


NEGATIVE = "file/2.1/miniblock/neg-int32-num-levels"


@pytest.mark.oracle
def test_other_bytes_are_red(tmp_path, monkeypatch):
    """The recipe gives the published bytes; when these are others, the first that differ is said.

    A damaged case is not held against its recipe: it is a copy of its parent.
    """
    monkeypatch.setattr(
        writers, "DETERMINISTIC_CASES", "file/2.1/miniblock/*int32*"
    )  # no others are made
    head = tree(tmp_path / "head", CASE, NEGATIVE, packages=True)
    assert writers.check(head).findings == ()
    for case in (CASE, NEGATIVE):
        path = head.root / "fixtures" / case / "data.lance"
        data = bytearray(path.read_bytes())
        data[64] ^= 1
        path.write_bytes(data)
    (found,) = writers.check(head).findings
    assert (found.colour, found.place) == (Colour.RED, CASE)
    assert "column 0 page 0: buffer" in found.text

"""Golden drift: a published case is never edited."""

import json
import shutil
from pathlib import Path

import pytest
from lance_conformance import suite
from lance_conformance.gate import golden
from lance_conformance.gate.checks import Colour
from lance_conformance.gate.trees import Tree
from lance_conformance.stored import case_folder

FIXTURES = Path(__file__).parents[3] / "fixtures"
CASE = "file/2.1/miniblock/int32"


def tree(folder: Path, **changes: object) -> Tree:
    """A tree with one case, whose manifest is changed."""
    case = folder / "fixtures" / CASE
    if not case.exists():
        shutil.copytree(case_folder(FIXTURES / CASE), case)
    manifest = json.loads((case / "case.json").read_text())
    (case / "case.json").write_text(json.dumps({**manifest, **changes}))
    suite.write(folder / "fixtures")
    return Tree(folder.name, folder)


@pytest.mark.parametrize(
    ("changes", "colour", "told"),
    [
        ({}, Colour.GREEN, ""),
        ({"title": "another"}, Colour.YELLOW, "title of the manifest changed"),
        ({"kind": "take"}, Colour.RED, "its kind changed"),
        ({"status": "withdrawn", "withdrawn": "wrong"}, Colour.YELLOW, "withdrawn: wrong"),
        ({"status": "withdrawn"}, Colour.YELLOW, "status"),
    ],
)
def test_changes_of_a_manifest(tmp_path, changes, colour, told):
    """What decides a verdict is red; words and withdrawals are yellow."""
    check = golden.check(tree(tmp_path / "a"), tree(tmp_path / "b", **changes))

    assert colour == check.colour
    assert told in "".join(finding.text for finding in check.findings)


def test_changed_bytes_and_lost_cases_are_red(tmp_path):
    """One byte more, or the whole case less."""
    base, head = tree(tmp_path / "a"), tree(tmp_path / "b")
    data = head.root / "fixtures" / CASE / "data.lance"
    data.write_bytes(data.read_bytes() + b"!")
    suite.write(head.root / "fixtures")
    edited = golden.check(base, head)
    assert [CASE] == golden.brought(base.fixtures, head.fixtures)
    shutil.rmtree(data.parent)
    suite.write(head.root / "fixtures")
    lost = golden.check(base, head)

    assert [Colour.RED, Colour.RED] == [edited.colour, lost.colour]
    assert "the bytes of data.lance changed" in edited.findings[0].text
    assert "published, and gone" == lost.findings[0].text
    assert [] == golden.brought(base.fixtures, head.fixtures)


def test_a_hash_that_stays_does_not_hide_changed_files(tmp_path):
    """The head edits a published file, or removes its folder, and leaves SUITE.json as it was."""
    base, head = tree(tmp_path / "a"), tree(tmp_path / "b")
    folder = head.root / "fixtures" / CASE
    (folder / "data.lance").write_bytes(b"other")
    edited = golden.check(base, head)
    shutil.rmtree(folder)
    lost = golden.check(base, head)

    assert [Colour.RED, Colour.RED] == [edited.colour, lost.colour]
    assert "not those of SUITE.json" in edited.findings[0].text
    assert "published, and gone" == lost.findings[0].text

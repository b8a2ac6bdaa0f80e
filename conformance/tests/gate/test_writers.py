"""Writer drift: what recipes give now, beside what is published."""

import shutil
from pathlib import Path

import pytest
from lance_conformance.gate import writers
from lance_conformance.gate.checks import Colour
from lance_conformance.gate.trees import Tree
from lance_conformance.stored import case_folder

ROOT = Path(__file__).parents[3]
CASES = "file/2.1/miniblock"
NAMES = ("int32", "neg-int32-num-levels")


@pytest.fixture
def head(tmp_path, monkeypatch):
    """A tree with this repository's packages and two cases, the only ones that are made again."""
    monkeypatch.setattr(writers, "WRITTEN", f"{CASES}/*int32*")
    for name in NAMES:
        case = f"{CASES}/{name}"
        shutil.copytree(case_folder(ROOT / "fixtures" / case), tmp_path / "fixtures" / case)
    (tmp_path / "fixtures" / "SUITE.json").write_text("{}")
    for package in ("reference", "conformance"):
        (tmp_path / package).symlink_to(ROOT / package)
    return Tree("head", tmp_path)


@pytest.mark.oracle
def test_other_bytes_are_red(head):
    """The recipe gives the published bytes; when these are others, the first that differ is said.

    A damaged case is not held against its recipe: it is a copy of its parent.
    """
    assert writers.check(head).findings == ()
    for name in NAMES:
        path = head.root / "fixtures" / CASES / name / "data.lance"
        data = bytearray(path.read_bytes())
        data[64] ^= 1
        path.write_bytes(data)
    (found,) = writers.check(head).findings
    assert (found.colour, found.place) == (Colour.RED, f"{CASES}/int32")
    assert "column 0 page 0: buffer" in found.text


def test_a_tree_without_fixtures_is_not_judged(tmp_path):
    """Nothing to compare with."""
    assert writers.check(Tree("head", tmp_path)).skipped

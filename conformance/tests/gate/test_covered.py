"""Covered: what the fixtures of both trees show."""

import shutil
from pathlib import Path

import pytest
from lance_conformance.gate import covered
from lance_conformance.gate.checks import Colour
from lance_conformance.gate.trees import Tree
from lance_conformance.stored import case_folder

ROOT = Path(__file__).parents[3]
COLUMN, CONSTANT = "file/2.1/miniblock/int32", "file/2.1/constant/int32"


@pytest.fixture
def tree(tmp_path):
    """Make trees with this repository's packages and some of its cases."""

    def make(name: str, *cases: str) -> Tree:
        folder = tmp_path / name
        for case in cases:
            shutil.copytree(case_folder(ROOT / "fixtures" / case), folder / "fixtures" / case)
        (folder / "fixtures" / "SUITE.json").write_text("{}")
        for package in ("reference", "conformance"):
            (folder / package).symlink_to(ROOT / package)
        (folder / "spec").mkdir()
        shutil.copy(ROOT / "spec" / "register.json", folder / "spec")
        return Tree(name, folder)

    return make


def test_a_value_that_no_longer_occurs_is_red(tree):
    """The head lost the only case of a layout; what neither tree shows is yellow."""
    kept = ROOT / "fixtures" / "file" / "2.1" / "constant"
    constant = sorted(path.name for path in kept.iterdir() if not path.name.startswith("neg-"))[0]
    both = tree("base", COLUMN, f"file/2.1/constant/{constant}")
    owned, values = covered.check(both, tree("head", COLUMN))
    red = {(f.place, f.text) for f in values.findings if f.colour == Colour.RED}
    yellow = {(f.place, f.text) for f in values.findings if f.colour == Colour.YELLOW}

    assert Colour.GREEN == owned.colour
    assert ("layout in 2.1", "constant_layout occurs in no case") in red
    assert ("layout in 2.1", "blob_layout occurs in no case, as before") in yellow


def test_trees_without_fixtures_are_not_judged(tmp_path):
    """Nothing to count."""
    assert all(check.skipped for check in covered.check(Tree("a", tmp_path), Tree("b", tmp_path)))

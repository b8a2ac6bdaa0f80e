"""Attacks: each kind changes a table, and the same seed makes the same change."""

import json
import os
import shutil
from pathlib import Path
from random import Random

import pytest
from lance_conformance.campaigns.damage.whole import bombs
from lance_conformance.campaigns.damage.whole.attacks import ATTACKS
from lance_conformance.campaigns.damage.whole.bases import BASES, MARK, make_bases
from lance_conformance.campaigns.damage.whole.trial import contents


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every base and its victim."""
    folder = tmp_path_factory.mktemp("bases")
    make_bases(folder)
    return folder


def _state(root: Path) -> dict[str, str]:
    """Return what is at each path: rights, the goal of a link, or the bytes of a small file."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        held = str(path.readlink()) if path.is_symlink() else ""
        if not held and path.is_file() and status.st_size < 10**7 and status.st_mode & 0o444:
            held = path.read_bytes().hex()
        found[ascii(path.relative_to(root))] = f"{status.st_mode:o} {status.st_size} {held}"
    return found


@pytest.mark.parametrize("kind", sorted(ATTACKS))
def test_a_seed_makes_the_same_hostile_table_again(kind, bases, tmp_path):
    """It is not the base any more, and nothing outside has changed."""
    attack = ATTACKS[kind]
    name = attack.bases[-1]
    states, outside = [], contents(bases / name / "outside")
    for place in (tmp_path / "a" / "case", tmp_path / "b" / "case"):
        shutil.copytree(bases / name, place)
        told = attack.make(place / "table", Random(7))
        states.append(_state(place / "table"))

        assert told
        assert outside == contents(place / "outside")
    shutil.copytree(bases / name, tmp_path / "c" / "case")
    before = _state(tmp_path / "c" / "case" / "table")
    assert before != states[0]
    assert list(states[0]) == list(states[1])


def test_every_base_is_attacked():
    """In every kind that works on it."""
    assert set(BASES) == {name for attack in ATTACKS.values() for name in attack.bases}


def test_no_base_has_a_row_of_a_victim():
    """Their ids count from where no base comes."""
    for base in BASES.values():
        assert max(base.rows(0, 120)["id"].to_pylist()) < MARK


def test_a_wandering_tag_leads_to_the_victim(bases, tmp_path):
    """From the folder of branches, by a path that exists."""
    shutil.copytree(bases / "early", tmp_path / "case")
    root = tmp_path / "case" / "table"
    leads = []
    for seed in range(20):
        ATTACKS["wandering tag"].make(root, Random(seed))
        held = json.loads((root / "_refs" / "tags" / "stable.json").read_text())
        leads.append(os.path.realpath(root / "tree" / held["branch"].replace("\0", "")))

    assert os.path.realpath(tmp_path / "case" / "outside" / "victim") in leads


def test_a_full_bitmap_holds_every_value_of_its_containers():
    """A few bytes for each 65,536 values."""
    from pyroaring import BitMap

    for containers in (1, 3, 4, 9):
        assert containers * 65536 == len(BitMap.deserialize(bombs.full_bitmap(containers)))

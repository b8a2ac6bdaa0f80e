"""Targets: every file of the tables is written, found and damaged in a copy."""

from pathlib import Path

import pytest
from lance_conformance.campaigns.damage.tables import FILES, MAKERS, make_table
from lance_conformance.campaigns.damage.targets import (
    DATASETS,
    Target,
    damaged_copy,
    find_targets,
    make_targets,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The targets that the reference can write."""
    path = tmp_path_factory.mktemp("targets")
    make_targets(path, 1, by_oracle=False)
    return path


def test_without_the_oracle_most_are_made(folder):
    """All but those that only the oracle writes, each once, with a file to damage."""
    found = find_targets(folder)
    files = sum(map(len, FILES.values()))
    datasets = {f"dataset/{name}" for name, recipe in DATASETS.items() if not recipe.oracle_only}

    assert files + len(datasets) == len({target.id for target in found}) == len(found)
    assert datasets == {target.id for target in found if target.is_dataset}
    assert all(target.victim.is_file() for target in found)


def test_every_kind_of_column_is_in_a_file():
    """No maker is left over, and no file has none."""
    assert set(MAKERS) == {name for names in FILES.values() for name in names}


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_seed_decides_what_a_table_holds(name):
    """One column called c."""
    assert ["c"] == make_table(name, 1).column_names
    assert make_table(name, 1) == make_table(name, 1)


def test_damage_goes_into_a_copy(folder, tmp_path):
    """The target stays as it is, of a file and of a dataset."""
    for target in (find_targets(folder)[0], find_targets(folder)[-1]):
        whole = target.victim.read_bytes()
        (tmp_path / target.group).mkdir()
        damage = damaged_copy(target, tmp_path / target.group)

        damaged = damage(b"broken")
        assert isinstance(damaged, Target)
        assert b"broken" == damaged.victim.read_bytes()
        assert whole == target.victim.read_bytes()

"""Each part of each campaign, end to end with a tiny count."""

import subprocess
import sys
from pathlib import Path

import lance_conformance
import pytest
from lance_conformance.campaigns.__main__ import NAMES, load
from lance_conformance.known_divergences import entries, find, id_of

TINY = {
    "files": {"differential": 5, "written": 4, "odd": 2},
    "damage": {"files": 20_000, "tables": 2, "flips": 5},
    "queries": {"grammar": 20, "indexed": 7, "full_text": 1, "nearest": 1, "answers": 1},
    "histories": {"plain": 1, "indexed": 1, "conflicts": 3},
    "faults": {"concurrency": 98, "crash": 1000, "crash_cloud": 1, "kills": 1, "spark": 1},
    "recall": {"vectors": 1, "rabitq": 30},
}
"""Number of cases of every part."""

ONE = {
    "damage/files": "files/file/2.1/*:truncation@0",
    "queries/full_text": "full_text/simple/*",
    "faults/concurrency": "concurrency/local/addresses, V1 names/appends, mixed",
    "faults/crash": "crash/addresses, V1 names/append, refused",
    "recall/vectors": "vectors/places/IVF_FLAT/*",
}
"""Patterns where the whole part would take long."""

LONG = ("faults/concurrency", "faults/crash_cloud", "faults/kills", "faults/spark")


def test_every_part_is_tried():
    """A new part needs a row here."""
    parts = {name: [part.name for part in load(name).parts] for name in NAMES}

    assert {name: list(some) for name, some in TINY.items()} == parts


def _parts(*, are_long):
    return [
        pytest.param(name, part, count, id=f"{name}-{part}")
        for name, some in TINY.items()
        for part, count in some.items()
        if (f"{name}/{part}" in LONG) == are_long
    ]


def _runs(name, part, count, tmp_path):
    """Run a part in a process of its own: children are forked before the oracle has threads."""
    options = {"--seed": 1, "--count": count, "--resume": tmp_path}
    options["--only"] = ONE.get(f"{name}/{part}", part)
    arguments = [str(word) for option in options.items() for word in option]
    command = [sys.executable, "-m", "lance_conformance.campaigns", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "part", "count"), _parts(are_long=False))
def test_a_part_agrees(name, part, count, tmp_path):
    """A few cases of each part end without a difference, and the report has a line of the part."""
    ended = _runs(name, part, count, tmp_path)

    assert 0 == ended.returncode, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert f"\n{part} " in ended.stdout


@pytest.mark.oracle
@pytest.mark.nightly
@pytest.mark.parametrize(("name", "part", "count"), _parts(are_long=True))
def test_a_long_part_agrees(name, part, count, tmp_path):
    """Parts with a server, with rounds of kills or with Spark, as the others."""
    ended = _runs(name, part, count, tmp_path)

    assert 0 == ended.returncode, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert f"\n{part} " in ended.stdout


def test_known_divergences_are_named_once():
    """No two entries of the list match the same facts, and each names a part of a campaign."""
    places = {f"{name}/{part.name}" for name in NAMES for part in load(name).parts}
    facts = [(one.campaign, str(one.where)) for one in entries()]

    assert len(facts) == len(set(facts))
    assert {one.campaign for one in entries()} <= {*places, "matrix"}


def test_all_patterns_of_an_entry_must_match():
    """A fact that is missing or another is no match."""
    known = {"theirs": "Pr", "ours": "Ix", "oracle": ".", "reference": "X"}

    assert "L.txn.rebase.index" == find("histories/conflicts", **known).id
    assert find("histories/conflicts", **{**known, "reference": "E"}) is None
    assert find("histories/conflicts", theirs="Pr", ours="Ix") is None
    with pytest.raises(LookupError, match="moonlight"):
        id_of("queries/nearest", "moonlight")


def test_nothing_in_the_wheel_imports_a_campaign():
    """The wheel leaves the campaigns out: what a subcommand needs lies elsewhere."""
    package = Path(lance_conformance.__file__).parent
    modules = [
        path for path in package.rglob("*.py") if path.relative_to(package).parts[0] != "campaigns"
    ]

    assert modules
    assert [] == [
        path.name for path in modules if "lance_conformance.campaigns" in path.read_text("utf-8")
    ]

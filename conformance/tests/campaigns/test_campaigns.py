"""Each part of each campaign, end to end with a tiny count."""

import pytest
from lance_conformance.campaigns.__main__ import NAMES, load, main
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

LONG = ("faults/crash_cloud", "faults/kills", "faults/spark")


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
    only = ONE.get(f"{name}/{part}", part)
    arguments = [name, "--seed", "1", "--count", str(count), "--resume", str(tmp_path)]
    return main([*arguments, "--only", only])


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "part", "count"), _parts(are_long=False))
def test_a_part_agrees(name, part, count, tmp_path, capsys):
    """A few cases of each part end without a difference, and the report has a line of the part."""
    assert 0 == _runs(name, part, count, tmp_path)
    assert f"\n{part} " in capsys.readouterr().out


@pytest.mark.oracle
@pytest.mark.nightly
@pytest.mark.parametrize(("name", "part", "count"), _parts(are_long=True))
def test_a_long_part_agrees(name, part, count, tmp_path, capsys):
    """Parts with a server, with rounds of kills or with Spark, as the others."""
    assert 0 == _runs(name, part, count, tmp_path)
    assert f"\n{part} " in capsys.readouterr().out


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

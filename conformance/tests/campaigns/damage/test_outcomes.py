"""Outcomes: chosen by a seed, kept in a file, not asked for twice."""

from dataclasses import replace
from pathlib import Path

import pytest
from lance_conformance.campaigns.damage.outcomes import Log, ask_all, cases_of
from lance_conformance.campaigns.damage.readers import REFERENCE
from lance_conformance.campaigns.damage.tables import make_table
from lance_conformance.campaigns.damage.targets import Target
from pylanceref.file import LanceFileWriter


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    """One file of numbers."""
    path = tmp_path_factory.mktemp("outcomes") / "runs.lance"
    table = make_table("runs", 1)
    with LanceFileWriter(str(path), table.schema, version="2.1") as writer:
        writer.write_batch(table)
    return Target("file/2.1/runs", "file 2.1", path)


def test_a_share_is_drawn_by_the_seed(target):
    """In the order of all cases; the same share again, another with another seed."""
    everything = [case.name for case in cases_of(target, 1, None)]
    some = [case.name for case in cases_of(target, 1, 20)]

    assert 20 == len(some)
    assert some == [name for name in everything if name in some]
    assert some == [case.name for case in cases_of(target, 1, 20)]
    assert some != [case.name for case in cases_of(target, 2, 20)]
    assert everything == [case.name for case in cases_of(target, 1, 10**6)]


def test_outcomes_are_kept_and_not_asked_for_again(target, tmp_path: Path):
    """The second run reads the log and asks nobody."""
    cases = cases_of(target, 1, 8)
    first = list(ask_all(cases, [REFERENCE], Log(tmp_path / "log"), tmp_path / "a"))
    nobody = replace(REFERENCE, read=None)

    assert 8 == len(first) == len((tmp_path / "log").read_text().splitlines())
    assert first == list(ask_all(cases, [nobody], Log(tmp_path / "log"), tmp_path / "b"))
    assert not (tmp_path / "b").exists()


def test_an_outcome_tells_what_was_damaged(target, tmp_path: Path):
    """Target, kind and region of the damage, size of the damaged file."""
    cases = [c for c in cases_of(target, 1, None) if c.mutation.name == "appended bytes@7"]
    (outcome,) = ask_all(cases, [REFERENCE], Log(tmp_path / "log"), tmp_path)

    assert "file/2.1/runs" == outcome.target
    assert ("appended bytes", "the file's length") == (outcome.damage, outcome.region)
    assert len(cases[0].anatomy.data) + 7 == outcome.size
    assert ("err", "L.file.footer.magic") == (outcome.judged.kind, outcome.judged.clause)

"""`generate`: fixtures from their recipes."""

import json
from pathlib import Path

import pytest
from lance_conformance import suite
from lance_conformance.cli import app
from typer.testing import CliRunner

FIXTURES = Path(__file__).parents[3] / "fixtures"
NEGATIVE = "file/2.1/miniblock/neg-int32-num-levels"
PARENT = "file/2.1/miniblock/int32"


@pytest.mark.oracle
def test_a_negative_brings_its_parent_and_both_are_as_frozen(tmp_path):
    """The bytes are those of the suite; a second call writes nothing.

    A parent names the clauses that its negatives break: a frozen one lacks those of later ones.
    """
    arguments = ["generate", "--out", str(tmp_path), "--only", NEGATIVE]
    first = CliRunner().invoke(app, arguments)
    second = CliRunner().invoke(app, arguments)

    assert (0, 0) == (first.exit_code, second.exit_code)
    assert "2 cases written" in first.output
    assert "0 cases written" in second.output
    for case_id in (PARENT, NEGATIVE):
        made, frozen = (suite.case_files(root / case_id) for root in (tmp_path, FIXTURES))
        for name in ("data.lance", "data.lance.hexmap"):
            assert frozen[name] == made[name]
        new, old = (json.loads(files["case.json"]) for files in (made, frozen))
        made, frozen = new.pop("clauses"), old.pop("clauses")
        assert new == old
        assert made == frozen if case_id == NEGATIVE else all(one in made for one in frozen)
    assert {PARENT, NEGATIVE} == json.loads((tmp_path / "SUITE.json").read_text())["cases"].keys()


def test_an_id_that_no_case_has_is_wrong_use(tmp_path):
    """Also a pattern that ends one folder too early; nothing is made."""
    for pattern in ("no/such", "file/2.1/*"):
        arguments = ["generate", "--out", str(tmp_path / "new"), "--only", pattern]
        result = CliRunner().invoke(app, arguments)
        assert 2 == result.exit_code
        assert "no case matches" in result.output
    assert not (tmp_path / "new").exists()

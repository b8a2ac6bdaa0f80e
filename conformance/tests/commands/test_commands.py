"""Commands that generate and measure: what they print and how they exit."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from lance_conformance.bench import engines, run
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.goals import GOALS
from lance_conformance.cli import app
from lance_conformance.commands import options
from lance_conformance.suite import case_storage, suite_file
from typer.testing import CliRunner

FLOOR = next(goal.floor for goal in GOALS if goal.name == "P1")
"""The mean ratio of scans at which a strict run no longer fails."""


def _scan(table: str, version: str, ratio: float) -> Figure:
    return Figure("scan", table, version, ratio, 1.0, "GB/s")


@pytest.fixture
def measured(monkeypatch):
    """Figures in place of a measurement; the tests stay on all their cores."""

    def set_figures(*figures: Figure) -> None:
        monkeypatch.setattr(options, "find_spec", lambda _: True)
        monkeypatch.setattr(engines, "pin_to_one_core", lambda: None)
        monkeypatch.setattr(run, "run", lambda *_: iter(figures))

    return set_figures


def _call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["bench", *arguments])
    return result.exit_code, result.stdout


def test_strict_fails_below_a_floor_only(measured):
    """The mean over the tables of 2.1 counts; other versions and goals do not."""
    measured(_scan("f32", "2.1", 1.01 * FLOOR), _scan("f32", "2.0", 0.1))
    assert 0 == _call("--strict", "--only", "P1")[0]
    measured(_scan("f32", "2.1", 0.99 * FLOOR))
    assert (1, 0) == (_call("--strict", "--only", "P1")[0], _call("--only", "P1")[0])


FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture
def one_case(tmp_path):
    """A folder of fixtures with a single case."""
    name = "file/2.1/miniblock/int32"
    shutil.copytree(case_storage.case_folder(FIXTURES / name), tmp_path / name)
    return tmp_path


def _coverage(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["coverage", *map(str, arguments)])
    return result.exit_code, result.output


def test_what_is_missing_is_named_and_fails(one_case):
    """One file shows little: exit 1, the gaps by axis, the totals at the end, 80 columns."""
    code, output = _coverage("--fixtures", one_case)

    assert 1 == code and "layout in 2.1: 1 of 4\n  mini_block_layout x1" in output
    assert "layout in 2.1: constant_layout, full_zip_layout, blob_layout" in output
    assert "bytes with an owner: 100.00 % of 346 in 1 files" in output
    assert max(map(len, output.splitlines())) <= 80


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
        made, frozen = (suite_file.case_files(root / case_id) for root in (tmp_path, FIXTURES))
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


@pytest.mark.oracle
@pytest.mark.parametrize("what", [["--corpus", "1"], ["--only", "file/2.1/odd/flat-84"]])
def test_what_needs_the_test_data_runs_from_a_checkout(tmp_path, monkeypatch, what):
    """Where `lanceref_testing` is missing, as from a wheel, one sentence says so."""
    for name in ("lanceref_testing.tables", "lanceref_testing.noncanonical.variations"):
        monkeypatch.setitem(sys.modules, name, None)
    result = CliRunner().invoke(app, ["generate", "--out", str(tmp_path / "new"), *what])

    assert 2 == result.exit_code
    assert "runs from a checkout" in result.output


def test_files_of_the_working_directory_become_absolute(tmp_path, monkeypatch):
    """The adapter runs elsewhere, and still finds the script that the user named."""
    (tmp_path / "adapter.py").touch()
    (tmp_path / "python").touch()
    monkeypatch.chdir(tmp_path)

    assert ("python", str(tmp_path / "adapter.py"), "-x") == options.adapter_command(
        ["python", "adapter.py", "-x"]
    )
    assert (str(tmp_path / "adapter.py"),) == options.adapter_command(["./adapter.py"])

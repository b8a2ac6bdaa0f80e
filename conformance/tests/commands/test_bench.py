"""`bench`: what it prints and how it exits, on results made by hand."""

import pytest
from lance_conformance.bench import scan
from lance_conformance.bench.scan import ScanResult
from lance_conformance.cli import app
from typer.testing import CliRunner


@pytest.fixture
def measured(monkeypatch):
    """Results in place of a measurement; the tests stay on all their cores."""

    def set_results(*results: ScanResult) -> None:
        monkeypatch.setattr(scan, "pin_to_one_core", lambda: None)
        monkeypatch.setattr(scan, "run", lambda *_: iter(results))

    return set_results


def _call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["bench", *arguments])
    return result.exit_code, result.output


def test_means_and_the_worst_table_are_printed(measured):
    """The geometric mean of 1 and 4 is 2."""
    measured(ScanResult("f32", "2.1", 1.0, 1.0), ScanResult("bool", "2.1", 4.0, 1.0))
    code, told = _call()

    assert 0 == code
    assert ["2.1", "2.00", "f32", "1.00"] == told.splitlines()[-1].split()


def test_strict_fails_below_the_floor_only(measured):
    """1.5 over the tables of 2.1; other versions do not count."""
    measured(ScanResult("f32", "2.1", 1.6, 1.0), ScanResult("f32", "2.0", 0.1, 1.0))
    assert 0 == _call("--strict")[0]
    measured(ScanResult("f32", "2.1", 1.4, 1.0))
    assert (1, 0) == (_call("--strict")[0], _call()[0])


def test_unknown_tables_are_wrong_use(measured):
    """Exit 2, and their names."""
    measured()
    code, told = _call("--tables", "f32,none")

    assert 2 == code
    assert "no table none" in told

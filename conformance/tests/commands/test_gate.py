"""`gate`: what it prints, writes and exits with."""

import json
from pathlib import Path

import pytest
from lance_conformance.cli import app
from lance_conformance.gate import definitions
from typer.testing import CliRunner

REPLAYS = Path(__file__).parents[1] / "gate" / "replays"


@pytest.mark.parametrize(
    ("name", "code", "colour"),
    [
        ("fragment-reuse-groups", 1, "red"),
        ("mem-wal-merged", 0, "yellow"),
        ("field-order", 0, "green"),
    ],
)
def test_the_comment_of_a_real_change(tmp_path, name, code, colour):
    """The comment is printed and written beside its JSON; red is exit 1."""
    sides = [f"--{side}={REPLAYS / name / side}" for side in ("base", "head")]
    result = CliRunner().invoke(app, ["gate", *sides, "--out", str(tmp_path)])
    document = json.loads((tmp_path / "gate.json").read_text("utf-8"))

    assert code == result.exit_code
    assert (tmp_path / "comment.md").read_text("utf-8") == result.output
    assert colour == document["colour"]
    assert 14 == len(document["checks"])


def test_wrong_use_is_exit_2():
    """A side that is nothing."""
    result = CliRunner().invoke(app, ["gate", "--base", "no-such-revision", "--head", "HEAD"])

    assert 2 == result.exit_code


def test_equal_sides_are_said():
    """A gate that compares a folder with itself says so."""
    folder = str(REPLAYS / "field-order" / "base")
    result = CliRunner().invoke(app, ["gate", "--base", folder, "--head", folder])

    assert 0 == result.exit_code
    assert "base and head are the same" in result.output


def test_without_buf_nothing_is_judged(monkeypatch):
    """What to install is said at once, as wrong use and not as a broken format."""
    monkeypatch.setattr(definitions.shutil, "which", lambda *_, **__: None)
    sides = [f"--{side}={REPLAYS / 'field-order' / side}" for side in ("base", "head")]
    result = CliRunner().invoke(app, ["gate", *sides])

    assert 2 == result.exit_code
    assert "lance-conformance[gate]" in " ".join(result.output.split())


@pytest.mark.parametrize("command", ["", "'"])
def test_a_reader_that_is_no_command_is_wrong_use(command):
    """An empty command, and a quote that is not closed."""
    assert 2 == CliRunner().invoke(app, ["gate", "--reader", command]).exit_code


def test_the_help_says_that_code_is_executed():
    """Who runs a gate on a pull request learns what it must not be near."""
    told = " ".join(CliRunner().invoke(app, ["gate", "--help"]).output.split())

    assert "EXECUTES" in told
    assert "pull_request_target" in told

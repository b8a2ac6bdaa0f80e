"""`gate`: what it prints, writes and exits with."""

import json
from pathlib import Path

import pytest
from lance_conformance.cli import app
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
    assert 13 == len(document["checks"])


def test_wrong_use_is_exit_2():
    """A side that is nothing."""
    result = CliRunner().invoke(app, ["gate", "--base", "no-such-revision", "--head", "HEAD"])

    assert 2 == result.exit_code

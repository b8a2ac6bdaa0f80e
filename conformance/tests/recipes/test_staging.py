"""Tests of staging: operations as steps, and tables as files."""

from __future__ import annotations

from pathlib import Path

from lance_conformance.recipes.staging import commit, files_below
from pylanceref.operation import LanceOperation


def test_a_step_names_the_message_of_its_operation() -> None:
    """The arm by its message, the version as text."""
    step = commit(LanceOperation.Restore(3), 7, "b")

    assert ("commit.apply", "b") == (step.op, step.actor)
    assert {"Restore": {"version": "3"}} == step.args["operation"]
    assert "7" == step.args["read_version"]


def test_files_by_their_paths(tmp_path: Path) -> None:
    """Relative, with slashes, in order."""
    (tmp_path / "b").mkdir()
    for name in ("b/c", "a"):
        (tmp_path / name).write_bytes(name.encode())

    assert {"a": b"a", "b/c": b"b/c"} == files_below(tmp_path)

"""Tests of shared options: the adapter command."""

from __future__ import annotations

from pathlib import Path

import pytest
from lance_conformance.commands import options
from lance_conformance.judging import REFERENCE
from typer import BadParameter


def test_files_of_the_working_directory_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adapter runs elsewhere, and still finds the script that the user named."""
    (tmp_path / "adapter.py").touch()
    (tmp_path / "python").touch()
    monkeypatch.chdir(tmp_path)

    assert ("python", str(tmp_path / "adapter.py"), "-x") == options.adapter(
        ["python", "adapter.py", "-x"]
    )
    assert (str(tmp_path / "adapter.py"),) == options.adapter(["./adapter.py"])


def test_reference_is_the_default() -> None:
    """Without a command the bundled reference is judged."""
    assert REFERENCE == options.adapter(None)


def test_a_folder_is_made_before_the_work(tmp_path: Path) -> None:
    """Where none can be made, nothing is judged for nothing."""
    (tmp_path / "file").touch()

    assert options.made(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(BadParameter, match="no such folder can be made"):
        options.made(tmp_path / "file" / "b")


def test_the_oracle_is_asked_for_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is missing, the message names what to install."""
    monkeypatch.setattr(options, "find_spec", lambda _: None)

    with pytest.raises(BadParameter, match=r"lance-conformance\[oracle\]"):
        options.require_oracle()

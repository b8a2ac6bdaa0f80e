"""Tests of the copy of an input: what counts as a change of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance.inputs import copy_input, is_unchanged, snapshot


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The copy of a folder with two files."""
    source = tmp_path / "source"
    (source / "data").mkdir(parents=True)
    (source / "data" / "a").write_bytes(b"12345678")
    (source / "b").write_bytes(b"")
    (tmp_path / "work").mkdir()
    return copy_input(source, tmp_path / "work")


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a file."""
    path.unlink()
    make(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: (table / "data" / "a").write_bytes(b"12345679"),
        lambda table: os.truncate(table / "data" / "a", 1 << 40),
        lambda table: (table / "b").unlink(),
        lambda table: (table / "c").touch(),
        lambda table: (table / "link").symlink_to("/dev/zero"),
        lambda table: replaced(table / "data" / "a", os.mkfifo),
        lambda table: replaced(table / "data" / "a", lambda path: path.symlink_to("/dev/zero")),
        lambda table: replaced(table / "data" / "a", lambda path: path.mkdir()),
        lambda table: table.rename(table.with_name("elsewhere")),
    ],
)
def test_a_change_is_seen(table: Path, change: Callable[[Path], object]) -> None:
    """Other bytes, files, links and kinds of file are changes; nothing endless is opened."""
    before = snapshot(table)
    assert is_unchanged(table, before)
    change(table)

    assert not is_unchanged(table, before)


def test_a_file_and_nothing_are_inputs_too(tmp_path: Path) -> None:
    """A file is copied; what is still to be made has a place, and nothing there is no change."""
    source, work = tmp_path / "a.lance", tmp_path / "work"
    source.write_bytes(b"abc")
    work.mkdir()
    given, none = copy_input(source, work), copy_input(tmp_path / "none", work)
    before, nothing = snapshot(given), snapshot(none)
    given.write_bytes(b"abd")

    assert not is_unchanged(given, before)
    assert not none.exists()
    assert is_unchanged(none, nothing)
    none.mkdir()
    (none / "made").touch()
    assert not is_unchanged(none, nothing)

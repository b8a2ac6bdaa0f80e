"""Tests of scratch folders: made and removed whatever lies there, nothing outside touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from lance_conformance.scratch import fresh_folder, open_up, remove, scratch_folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file outside, in a folder that links point to."""
    path = tmp_path / "victim" / "kept"
    path.parent.mkdir()
    path.touch()
    return path


def test_a_scratch_folder_goes_with_all_it_holds(kept: Path) -> None:
    """Locked folders too; links are not followed."""
    with scratch_folder() as folder:
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "link").symlink_to(kept.parent)
        (folder / "a" / "b").chmod(0)
        (folder / "a").chmod(0)

    assert not folder.exists()
    assert kept.exists()


def test_a_scratch_folder_may_be_gone(kept: Path) -> None:
    """Or a link may be in its place."""
    with scratch_folder() as folder:
        folder.rmdir()
        folder.symlink_to(kept.parent)

    assert not folder.is_symlink()
    assert kept.exists()


@pytest.mark.parametrize("linked", ["parent", "parent/1"])
def test_a_fresh_folder_is_empty_and_its_own(kept: Path, tmp_path: Path, linked: str) -> None:
    """A link, a file or an old folder in its place, or in its parent's, gives way."""
    (tmp_path / linked).parent.mkdir(exist_ok=True)
    (tmp_path / linked).symlink_to(kept.parent)
    first = fresh_folder(tmp_path / "parent", "1")
    (first / "old").touch()
    second = fresh_folder(tmp_path / "parent", "1")

    assert first == second
    assert [] == list(second.iterdir())
    assert second.resolve() == second
    assert kept.exists()


def test_remove_and_open_up_take_what_is_there(kept: Path, tmp_path: Path) -> None:
    """A folder that is not there is none to remove; a link is removed, its rights are kept."""
    link = tmp_path / "link"
    link.symlink_to(kept.parent)
    kept.parent.chmod(0o755)
    open_up(link)
    remove(link)
    remove(tmp_path / "none")

    assert 0o755 == kept.parent.stat().st_mode & 0o777
    assert kept.exists()
    assert not link.is_symlink()

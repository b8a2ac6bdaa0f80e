"""Tests of places: a checkout is found from any folder of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lance_conformance import places


def test_checkout_around_the_working_directory_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder deep in a checkout its fixtures and register are found."""
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "spec").mkdir()
    (tmp_path / "fixtures/SUITE.json").write_text("{}")
    (tmp_path / "spec/register.json").write_text("{}")
    deep = tmp_path / "a/b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)

    assert tmp_path / "fixtures" == places.fixtures()
    assert tmp_path / "spec/register.json" == places.register()


def test_folder_of_the_same_name_is_no_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's folder `fixtures` is not taken for ours."""
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/SUITE.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    try:
        found = places.fixtures()
    except places.NotThere:
        return

    assert tmp_path / "fixtures" != found


def test_sources_of_the_reference() -> None:
    """The folder of the installed reference holds its modules."""
    assert (places.reference_sources() / "explain.py").exists()

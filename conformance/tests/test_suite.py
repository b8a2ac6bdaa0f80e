"""Tests of the suite: canonical manifests, and hashes that notice every change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lance_conformance import suite

CASE = "toy/any/read/columns"


def test_canonical_orders_keys_by_the_schema() -> None:
    """Keys come in the order of the schema at every depth, and the values stay."""
    manifest = {
        "kind": "lint",
        "id": "a",
        "expect": [{"findings": ["x"], "table": {"order": "any", "path": "ü"}}],
        "schema": 1,
    }
    text = suite.canonical(manifest)

    assert manifest == json.loads(text)
    assert ["schema", "id", "kind", "expect"] == list(json.loads(text))
    assert ["table", "findings"] == list(json.loads(text)["expect"][0])
    assert text == suite.canonical(json.loads(text))
    assert "ü" in text


def test_fresh_suite_verifies(toy_suite: Path) -> None:
    """What was written just now has no problems, and counts its cases."""
    stored = json.loads((toy_suite / suite.SUITE).read_text())

    assert [] == suite.verify(toy_suite)
    assert 3 == stored["counts"]["cases"]
    assert suite.tree_hash(toy_suite) == stored["tree_sha256"]


@pytest.mark.parametrize("name", ["data.lance", "case.json", "expect.arrow"])
def test_changed_file_is_found(toy_suite: Path, name: str) -> None:
    """A changed byte of a published case is reported with its id."""
    path = toy_suite / CASE / name
    path.write_bytes(path.read_bytes() + b" ")

    assert f"{CASE}: published, and changed" in suite.verify(toy_suite)


def test_renamed_case_is_found(toy_suite: Path) -> None:
    """A file of another name is another suite."""
    (toy_suite / CASE / "data.lance").rename(toy_suite / CASE / "other.lance")

    assert f"{CASE}: published, and changed" in suite.verify(toy_suite)


def test_flags_need_notes(toy_suite: Path) -> None:
    """A flag of a case has its note in the suite's file."""
    path = toy_suite / CASE / "case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "flags": ["HugeCount"]}))

    assert "flag HugeCount has no note" in suite.verify(toy_suite)


def test_notes_survive_writing(toy_suite: Path) -> None:
    """Writing the file anew takes over the notes, which are written by hand."""
    path = toy_suite / suite.SUITE
    notes = {"HugeCount": {"bugType": "BOUNDS", "description": "", "effect": "", "links": []}}
    path.write_text(json.dumps({**json.loads(path.read_text()), "notes": notes}))
    suite.write(toy_suite)

    assert notes == json.loads(path.read_text())["notes"]


def test_suite_without_its_file(tmp_path: Path) -> None:
    """A folder without the file says so."""
    assert ["no SUITE.json"] == suite.verify(tmp_path)

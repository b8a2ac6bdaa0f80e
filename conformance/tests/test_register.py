"""Tests of the register: what is read of a clause."""

from __future__ import annotations

import json
from pathlib import Path

from lance_conformance import register


def test_clauses_by_id(tmp_path: Path) -> None:
    """Clauses are found by id; only MUST and MUST NOT leave no choice."""
    entries = [
        {"id": f"L.a.{n}", "level": level, "text": "t", "chapter": "c", "audience": ["reader"]}
        for n, level in enumerate(("MUST", "MUST NOT", "SHOULD", "MAY"))
    ]
    path = tmp_path / "register.json"
    path.write_text(json.dumps({"clauses": entries}))
    clauses = register.load(path)

    assert [True, True, False, False] == [clause.is_must for clause in clauses.values()]
    assert ("reader",) == clauses["L.a.0"].audience


def test_register_of_the_checkout_is_read() -> None:
    """The register beside the cases can be loaded."""
    assert all(name == clause.id for name, clause in register.load().items())

"""Equivalents: mutants that cannot be distinguished from the original, with the reasons.

An entry of `tools/equivalent_mutants.toml` gives one reason for some mutants: for single ones by
`ids`, or for all of some `functions` that no answer depends on. With `tests = true` only no case
can tell the mutants from the original: where tests judge too, they are judged. A test holds every
name against the tree: one that names nothing has to go.

    load(root)              the reasons, by name of a mutant or function
    load(root, tests=True)  those that hold before tests too
    excuse(reasons, mutant) the reason why a mutant cannot be noticed; empty: some case must
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from mutants import Mutant

PLACE = "tools/equivalent_mutants.toml"
"""File of the entries."""


def load(root: Path, *, tests: bool = False) -> dict[str, str]:
    """Return the reasons by name: `file:function`, or that and a change. No name occurs twice.

    With `tests`, entries of mutants that tests can distinguish are omitted.
    """
    document = tomllib.loads((root / PLACE).read_text(encoding="utf-8"))
    reasons: dict[str, str] = {}
    for entry in document.get("equivalent", []):
        if tests and entry.get("tests"):
            continue
        for name in [*entry.get("functions", []), *entry.get("ids", [])]:
            if name in reasons:
                raise ValueError(f"{name} occurs twice in {PLACE}")
            reasons[name] = entry["reason"]
    return reasons


def excuse(reasons: Mapping[str, str], mutant: Mutant) -> str:
    """Return the reason why a mutant is equivalent, empty when it is not.

    The name of a function covers all of its mutants.
    """
    return reasons.get(mutant.id) or reasons.get(f"{mutant.path}:{mutant.function}", "")

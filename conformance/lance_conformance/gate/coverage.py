"""Coverage: bytes without an owner and values that never occur, before and after a change.

Each tree is counted with its own packages and fixtures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree

BYTES = "bytes without an owner"
VALUES = "values that never occur"


def check(base: Tree, head: Tree) -> list[Check]:
    """Return both checks; the base is counted only where the head has gaps."""
    if head.packages is None or head.fixtures is None:
        return [Check(name, skipped="the head has no fixtures") for name in (BYTES, VALUES)]
    after = _count(head)
    owned = Check(BYTES, tuple(_unowned(after)))
    gaps = _gaps(after)
    if not gaps:
        return [owned, Check(VALUES)]
    before = _gaps(_count(base)) if base.packages and base.fixtures else set()
    return [owned, Check(VALUES, tuple(_gap_finding(gap, gap in before) for gap in sorted(gaps)))]


def _count(tree: Tree) -> Mapping[str, Any]:
    """Return the output of `coverage --json` of a tree. Exit code 1 means that gaps exist."""
    path = os.pathsep.join(str(folder) for folder in tree.packages or ())
    command = [sys.executable, "-m", "lance_conformance.cli", "coverage", "--json"]
    done = subprocess.run(
        [*command, "--fixtures", str(tree.fixtures)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tree.root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > 1:
        raise RuntimeError(f"{tree.name}: coverage failed: {done.stderr.strip()[-500:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _unowned(count: Mapping[str, Any]) -> list[Finding]:
    return [
        Finding(Colour.RED, file, f"{size} bytes have no owner")
        for file, size in count["unowned"].items()
    ]


def _gaps(count: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(axis, member) for axis, member in count["gaps"]}


def _gap_finding(gap: tuple[str, str], old: bool) -> Finding:
    axis, member = gap
    colour = Colour.YELLOW if old else Colour.RED
    return Finding(colour, axis, f"{member} occurs in no case{', as before' if old else ''}")

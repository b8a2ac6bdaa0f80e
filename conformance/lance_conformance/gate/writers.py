"""Writer drift: whether the oracle still writes the published bytes.

Files of 2.0 and later are written again from their recipes by the installed oracle. The order of
protobuf map entries is ignored, and FSST symbol tables are trained at random.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree
from lance_conformance.random_files.identity import IDENTICAL, TRAINED, compare_files
from lance_conformance.suite import cases

NAME = "writer drift"

DETERMINISTIC_CASES = "file/2.*/**"
"""Cases with deterministic files, with the exceptions above."""


def check(head: Tree) -> Check:
    """Return the check on files of the oracle whose recipes now give other bytes."""
    if head.packages is None or head.fixtures is None:
        return Check(NAME, skipped="the head has no fixtures")
    if importlib.util.find_spec("lance") is None:
        return Check(NAME, skipped="pylance, which makes the inputs, is not installed")
    with tempfile.TemporaryDirectory() as folder:
        _generate(head, folder)
        return Check(NAME, tuple(_drift(head.fixtures, Path(folder))))


def _generate(head: Tree, folder: str) -> None:
    path = os.pathsep.join(str(package) for package in head.packages or ())
    command = [sys.executable, "-m", "lance_conformance.cli", "generate", "--out", folder]
    done = subprocess.run(
        [*command, "--only", DETERMINISTIC_CASES],
        env={**os.environ, "PYTHONPATH": path},
        cwd=head.root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{head.name}: generate failed: {done.stderr.strip()[-500:]}")


def _drift(published: Path, made: Path) -> Iterator[Finding]:
    for case in cases.load(made):
        before, now = (root / case.id / "data.lance" for root in (published, made))
        by_oracle = case.manifest["provenance"]["made_by"] == "oracle"
        if not by_oracle or not before.exists() or not now.exists():
            continue
        found = compare_files(now, before)
        if found not in (IDENTICAL, TRAINED):
            yield Finding(Colour.RED, case.id, f"the oracle writes other bytes now: {found}")

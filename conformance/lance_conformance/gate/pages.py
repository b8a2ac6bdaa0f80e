"""Pages: whether what is generated from the chapters is up to date in the head."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from lance_conformance.gate.checks import Check, Colour, Finding
from lance_conformance.gate.trees import Tree

NAME = "generated pages"

CHECKERS = (("register.py", "--check"), ("citations.py",), ("prose.py",))
"""Tools of a tree that compare its pages with what they are made from."""


def check(head: Tree) -> Check:
    """Return what the head's own checkers complain about."""
    if not all((head.root / "tools" / tool[0]).is_file() for tool in CHECKERS):
        return Check(NAME, skipped="the head has no tools")
    return Check(NAME, tuple(_complaints(head)))


def _complaints(head: Tree) -> Iterator[Finding]:
    for tool, *arguments in CHECKERS:
        command = [sys.executable, str(head.root / "tools" / tool), *arguments]
        done = subprocess.run(command, cwd=head.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            told = (done.stdout + done.stderr).strip().splitlines()
            yield Finding(Colour.RED, f"tools/{tool}", "; ".join(told[-3:]) or "failed")

"""Generated pages: whether they are up to date in the head."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree

NAME = "generated pages"

CHECKERS = (("register.py", "--check"), ("citations.py",), ("prose.py",))
"""Tools of a tree that compare its pages with their sources."""


def check(head: Tree) -> Check:
    """Return the findings of the head's own checkers."""
    if not all((head.root / "tools" / tool[0]).is_file() for tool in CHECKERS):
        return Check(NAME, skipped="the head has no tools")
    return Check(NAME, tuple(_checker_findings(head)))


def _checker_findings(head: Tree) -> Iterator[Finding]:
    for tool, *arguments in CHECKERS:
        command = [sys.executable, str(head.root / "tools" / tool), *arguments]
        done = subprocess.run(command, cwd=head.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            output = (done.stdout + done.stderr).strip().splitlines()
            yield Finding(Colour.RED, f"tools/{tool}", "; ".join(output[-3:]) or "failed")

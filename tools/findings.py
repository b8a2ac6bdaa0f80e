"""Findings of the linters of this repository, and their exit code.

A finding is a place and a sentence. Every linter collects all of them, prints them in the order of
the files, and ends with 1 when there are any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule: `path` from the root, `line` from 1 (0: the whole file)."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


def conclude(name: str, findings: Iterable[Finding]) -> int:
    """Print `findings` under the name of the linter and return the exit code."""
    ordered = sorted(findings)
    for finding in ordered:
        print(finding)
    print(f"{name}: {len(ordered) or 'no'} finding{'' if len(ordered) == 1 else 's'}")
    return 1 if ordered else 0

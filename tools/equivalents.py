"""Equivalents: mutants that nothing can tell from the original, each named with its reason.

An entry of `tools/equivalent_mutants.toml` names one mutant, or all of a line or function whose
text decides only how the same answer comes about: how much is read at once, what is kept, where
work is cut. A test holds every entry against the tree: one that names nothing has to go.

    load(root)                      the entries
    excuse(entries, source, mutant) the entry that names a mutant, or none
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants import Mutant
from sources import Source

PLACE = "tools/equivalent_mutants.toml"
"""Where the entries stand."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A reason, and what it is about: a mutant by `id`, or a `function` or one `line` of it."""

    reason: str
    id: str = ""
    function: str = ""
    line: str = ""

    def names(self, source: Source, mutant: Mutant) -> bool:
        """Whether the entry is about a mutant of `source`."""
        if self.id:
            return self.id == mutant.id
        if self.function != f"{mutant.path}:{mutant.function}":
            return False
        return not self.line or self.line == source.text.splitlines()[mutant.line - 1].strip()


def load(root: Path) -> list[Entry]:
    """Return the entries, in their order."""
    document = tomllib.loads((root / PLACE).read_text(encoding="utf-8"))
    return [Entry(**entry) for entry in document.get("equivalent", [])]


def excuse(entries: Sequence[Entry], source: Source, mutant: Mutant) -> Entry | None:
    """Return the entry that says why a mutant cannot be noticed; none: a case must notice it."""
    return next((entry for entry in entries if entry.names(source, mutant)), None)

"""Divergences: where written text, real bytes and the official implementation differ, as data.

The entries are the sections of `spec/divergences.md`. Each has a kind: *erratum* of a written
document, *freedom* that the text leaves, or *defect* of the official implementation, with its
severity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lance_conformance import resources

SEVERITIES = ("data loss", "wrong answer", "crash", "refusal", "waste")
"""Severities of a defect, the worst first."""

KINDS = ("erratum", "freedom", *(f"defect: {severity}" for severity in SEVERITIES))
"""Values of the row `kind` of an entry."""

_ROW = re.compile(r"\| ([^|]+) \| (.*) \|")


@dataclass(frozen=True, slots=True)
class Divergence:
    """One entry: its id, the rows of its table by name, and its text."""

    id: str
    line: int
    rows: Mapping[str, str]
    text: str

    @property
    def kind(self) -> str:
        """One of `KINDS`; empty where the entry has none."""
        return self.rows.get("kind", "")

    @property
    def severity(self) -> str:
        """Severity of a defect; empty for other kinds."""
        return self.kind.partition("defect: ")[2]

    @property
    def script(self) -> str:
        """Name of the script of a defect below `spec/defects`."""
        return self.id.removeprefix("D.").replace(".", "-") + ".py"


def parse(text: str) -> list[Divergence]:
    """Return the entries of a page in their order."""
    found, lines = list[Divergence](), text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("## D.")]
    for start, end in zip(heads, [*heads[1:], len(lines)]):
        body = lines[start + 1 : end]
        matches = (_ROW.fullmatch(line) for line in body)
        rows = {match[1].strip(): match[2].strip() for match in matches if match}
        rows = {name: value for name, value in rows.items() if name not in ("field", "---")}
        prose = "\n".join(line for line in body if not line.startswith("|")).strip()
        found.append(Divergence(lines[start].split()[1], start + 1, rows, prose))
    return found


def load(path: Path | None = None) -> Mapping[str, Divergence]:
    """Return the entries by id; without `path` those of this checkout or wheel."""
    page = resources.divergences() if path is None else path
    return {entry.id: entry for entry in parse(page.read_text("utf-8"))}

"""Register: the clauses of the specification, as published with the cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lance_conformance import resources


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: `level` is MUST, MUST NOT, SHOULD, SHOULD NOT or MAY.

    `violation` is the required reaction of a reader to a violation: `refuse`, `either` or `read`.
    """

    id: str
    level: str
    text: str
    chapter: str
    audience: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    source: str = ""
    untestable: str = ""
    anchor: str = ""
    violation: str = ""
    divergences: tuple[str, ...] = ()

    @property
    def is_must(self) -> bool:
        """Whether the clause is mandatory."""
        return self.level in ("MUST", "MUST NOT")


def has_must(clauses: Iterable[str], register: Mapping[str, Clause]) -> bool:
    """Whether any of the clauses is a MUST; unknown clauses count as such."""
    return any(clause not in register or register[clause].is_must for clause in clauses)


def load(path: Path | None = None) -> Mapping[str, Clause]:
    """Return the clauses by id; without `path` those of this checkout or wheel."""
    if path is None:
        path = resources.register()
    document = json.loads(path.read_text("utf-8"))
    clauses = (
        Clause(
            id=entry["id"],
            level=entry["level"],
            text=entry["text"],
            chapter=entry["chapter"],
            audience=tuple(entry.get("audience", ())),
            since=entry.get("since", ""),
            until=entry.get("until", ""),
            source=entry.get("source", ""),
            untestable=entry.get("untestable", ""),
            anchor=entry.get("anchor", ""),
            violation=entry.get("violation", ""),
            divergences=tuple(entry.get("divergences", ())),
        )
        for entry in document["clauses"]
    )
    return {clause.id: clause for clause in clauses}

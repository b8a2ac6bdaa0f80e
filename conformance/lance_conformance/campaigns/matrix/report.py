"""Report: the verdicts as a table, and what was excused, grouped by its reason."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from lance_conformance.campaigns.matrix.judging import (
    CONTINUED,
    CONTINUES,
    DIFFERS,
    EXCUSED,
    READ,
    READS,
    REFUSED,
    SAME,
    Verdict,
)

DIRECTIONS = (READS, CONTINUES, READ, CONTINUED)
"""Columns of the table."""


def show(verdicts: list[Verdict]) -> None:
    """Print the table: histories that are the same, excused, refused and that differ."""
    cells: dict[tuple[str, str], dict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for one in verdicts:
        cells[one.release, one.format][one.direction][one.outcome] += 1
    print(f"{'release':9} {'format':8}" + "".join(f"{name:>30}" for name in DIRECTIONS))
    for (release, name), row in cells.items():
        told = "".join(f"{_cell(row[direction]):>30}" for direction in DIRECTIONS)
        print(f"{release:9} {name:8}{told}")
    print("same / excused / refused / differs")
    for outcome in (EXCUSED, REFUSED, DIFFERS):
        for text, names in _grouped(one for one in verdicts if one.outcome == outcome):
            print(f"{outcome} {len(names)}: {text}\n    {', '.join(sorted(names)[:6])}")


def _cell(counts: Counter[str]) -> str:
    if not counts:
        return "-"
    return " / ".join(str(counts[name]) for name in (SAME, EXCUSED, REFUSED, DIFFERS))


def _grouped(verdicts: Iterable[Verdict]) -> list[tuple[str, set[str]]]:
    groups: dict[str, set[str]] = defaultdict(set)
    for one in verdicts:
        for text in one.told[:1]:
            key = re.sub(r"/\S+|[0-9a-f-]{36}|\d+", "N", text)[:160]
            groups[key].add(f"{one.release} {one.format} {one.history}")
    return sorted(groups.items(), key=lambda item: -len(item[1]))

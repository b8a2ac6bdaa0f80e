"""Report data: the outcomes of one implementation on the fixtures, read from its report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lance_conformance.command_error import CommandError

REPORT = "report.jsonl"
"""Name of the report in the folder of an implementation."""

WRITTEN = "written.json"
"""Name of the file with the outcomes of tables that the implementation wrote."""


@dataclass(frozen=True, slots=True)
class ReportData:
    """Outcomes and details by case; `written` are the outcomes of tables that it wrote, if any."""

    name: str
    version: str
    outcomes: Mapping[str, str]
    details: Mapping[str, str]
    capabilities: Mapping[str, Any]
    totals: Mapping[str, Any]
    written: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"


class NoReport(CommandError):
    """A folder has no finished report."""


def read(folder: Path) -> ReportData:
    """Read the report of a folder. Raises NoReport."""
    path = folder / REPORT
    if not path.exists():
        raise NoReport(f"no {REPORT} in {folder}")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    header, *results, footer = lines
    if footer.get("type") != "footer":
        raise NoReport(f"{path} has no footer: the run did not end")
    if "incomplete" in header:
        raise NoReport(f"{path} is incomplete: {header['incomplete']}")
    written = folder / WRITTEN
    return ReportData(
        header["implementation"]["name"],
        header["implementation"]["version"],
        {one["id"]: one["outcome"] for one in results},
        {one["id"]: one["detail"] for one in results},
        header["capabilities"],
        {name: footer.get(name, {}) for name in ("outcomes", "scores", "numbers")},
        json.loads(written.read_text("utf-8")) if written.exists() else {},
    )


def order(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, as a sort key."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def is_done(folder: Path) -> bool:
    """Whether a folder has a finished report."""
    try:
        read(folder)
    except NoReport:
        return False
    return True

"""The files of a report: which formats there are, and writing them to a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from lance_conformance.reports import badge, html, jsonl, junit, markdown
from lance_conformance.reports.jsonl import Run

FORMATS = ("json", "junit", "html", "badge", "md")
"""Names of the formats, as `--report` takes them."""


def write(run: Run, folder: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write the chosen formats to `folder`, and return the paths."""
    contents: dict[str, str] = {}
    for name in formats:
        match name:
            case "json":
                contents["report.jsonl"] = "".join(jsonl.lines(run))
                contents["timings.jsonl"] = _timings(run)
            case "junit":
                contents["junit.xml"] = junit.render(run)
            case "html":
                contents["report.html"] = html.render(run)
            case "badge":
                contents["badge.json"], contents["badge.svg"] = badge.shields(run), badge.svg(run)
            case "md":
                contents["summary.md"] = markdown.render(run)
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, text in contents.items():
        (folder / file_name).write_text(text, encoding="utf-8")
    return [folder / file_name for file_name in contents]


def _timings(run: Run) -> str:
    return "".join(
        json.dumps({"id": r.case.id, "check": c.name, "seconds": round(c.seconds, 6)}) + "\n"
        for r in run.results
        for c in r.checks
    )

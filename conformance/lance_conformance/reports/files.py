"""The files of a report: which formats there are, and writing them to a folder.

Each file is written apart and put in its place when it is whole: one that cannot be written takes
nothing from the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lance_conformance.failures import Failure
from lance_conformance.outside_text import clean
from lance_conformance.reports import badge, html, jsonl, junit, markdown
from lance_conformance.reports.jsonl import Run

REPORT, TIMINGS = "report.jsonl", "timings.jsonl"

LEVEL_BADGES = "badges"
"""Folder of the badges of levels."""

FORMATS = ("json", "junit", "html", "badge", "md")
"""Names of the formats, as `--report` takes them."""


class ReportFailed(Failure):
    """Files of a report could not be written; the text names each with its reason."""

    exit_code = 3


def write(run: Run, folder: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write the chosen formats to `folder`, and return the paths.

    Raises ReportFailed at the end, when all that can be written is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, failed = [], []
    for name in formats:
        for file_name, render in _files(run, name).items():
            path = folder / file_name
            try:
                path.parent.mkdir(exist_ok=True)
                put(path, render(run))
            except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
                failed.append(f"{path}: {clean(str(error))}")
            else:
                written.append(path)
    if failed:
        raise ReportFailed("; ".join(failed))
    return written


def _files(run: Run, name: str) -> dict[str, Callable[[Run], str]]:
    """Return what makes each file of a format; of the badges, one for each level too."""
    levels = badge.by_level(run) if name == "badge" else {}
    return _FILES[name] | {
        f"{LEVEL_BADGES}/{key}": lambda _, text=text: text for key, text in levels.items()
    }


def put(path: Path, text: str) -> None:
    """Write a file beside its place, then put it there."""
    beside = path.with_name(f"{path.name}.part")
    try:
        beside.write_text(text, encoding="utf-8", errors="backslashreplace")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def timing(case_id: str, check: str, seconds: float) -> str:
    """Return a line of the timings."""
    return json.dumps({"id": case_id, "check": check, "seconds": round(seconds, 6)}) + "\n"


def _report(run: Run) -> str:
    return "".join(jsonl.lines(run))


def _timings(run: Run) -> str:
    return "".join(timing(r.case.id, c.name, c.seconds) for r in run.results for c in r.checks)


_FILES: Mapping[str, dict[str, Callable[[Run], str]]] = {
    "json": {REPORT: _report, TIMINGS: _timings},
    "junit": {"junit.xml": junit.render},
    "html": {"report.html": html.render},
    "badge": {"badge.json": badge.shields, "badge.svg": badge.svg},
    "md": {"summary.md": markdown.render},
}
"""The files of each format."""

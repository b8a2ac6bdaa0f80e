"""Files of a report: the formats, and writing them to a folder.

Each file is written atomically, and independently of the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lance_conformance.command_error import CommandError
from lance_conformance.reports import badge, html, jsonl, junit, markdown
from lance_conformance.reports.jsonl import Run
from lance_conformance.untrusted_text import printable

REPORT, TIMINGS = "report.jsonl", "timings.jsonl"

LEVEL_BADGES = "badges"
"""Folder of the badges of levels."""

FORMATS = ("json", "junit", "html", "badge", "md")
"""Names of the formats, as `--report` takes them."""


class ReportFailed(CommandError):
    """Files of a report could not be written; the message names each with its reason."""

    exit_code = 3


def write(run: Run, folder: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write the selected formats to `folder`, and return the paths.

    Raises ReportFailed after all writable files are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, failed = [], []
    for name in formats:
        for file_name, render in _files(run, name).items():
            path = folder / file_name
            try:
                path.parent.mkdir(exist_ok=True)
                write_atomically(path, render(run))
            except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
                failed.append(f"{path}: {printable(str(error))}")
            else:
                written.append(path)
    if failed:
        raise ReportFailed("; ".join(failed))
    return written


def _files(run: Run, name: str) -> dict[str, Callable[[Run], str]]:
    """Return the renderer of each file of a format; badges include one for each level."""
    levels = badge.by_level(run) if name == "badge" else {}
    return _FILES[name] | {
        f"{LEVEL_BADGES}/{key}": lambda _, text=text: text for key, text in levels.items()
    }


def write_atomically(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename it."""
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def timing_line(case_id: str, check: str, seconds: float) -> str:
    """Return a line of `timings.jsonl`."""
    return json.dumps({"id": case_id, "check": check, "seconds": round(seconds, 6)}) + "\n"


def _report(run: Run) -> str:
    return "".join(jsonl.lines(run))


def _timings(run: Run) -> str:
    return "".join(timing_line(r.case.id, c.name, c.seconds) for r in run.results for c in r.checks)


_FILES: Mapping[str, dict[str, Callable[[Run], str]]] = {
    "json": {REPORT: _report, TIMINGS: _timings},
    "junit": {"junit.xml": junit.render},
    "html": {"report.html": html.render},
    "badge": {"badge.json": badge.shields, "badge.svg": badge.svg},
    "md": {"summary.md": markdown.render},
}
"""The files of each format."""

"""The site: chapters, cases, implementations and divergences as static pages.

Pages are staged as Markdown and made by Sphinx. Verdicts come from the results that are checked in,
and from the newer reports below `report/`, which `nox -s conformance` writes.

    python tools/docs_site.py            into report/site
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import docs_cases
import docs_links
import docs_scoreboard
import docs_tables
from docs_chapters import Shown, shown, staged
from lance_conformance.matrix import floors, report_data
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.specification import register
from lance_conformance.specification.register import Clause
from lance_conformance.suite import cases
from lance_conformance.suite.cases import Case
from sources import ROOT

STAGED = Path("report") / "site-source"
BUILT = Path("report") / "site"
RESULTS = Path("conformance") / "results"


def stage(root: Path, target: Path) -> None:
    """Write the source of the site, in place of what was there."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "_static").mkdir(parents=True)
    shutil.copy(docs_cases.THEME / "conf.py", target)
    shutil.copy(docs_cases.THEME / "site.css", target / "_static")
    every, clauses = cases.load(root / "fixtures"), register.load(root / "spec" / "register.json")
    matrix = json.loads((root / RESULTS / "matrix.json").read_text("utf-8"))
    implementations = reports(root / "report", matrix_results(matrix))
    by_clause = shown(every, implementations)
    for path in sorted((root / "spec").glob("*.md")):
        _write(target / "spec" / path.name, staged(path.read_text("utf-8"), clauses, by_clause))
    shutil.copytree(root / "spec" / "figures", target / "spec" / "figures")
    for name, text in docs_cases.pages(every, clauses, implementations):
        _write(target / "cases" / f"{name}.md", text)
    for path in sorted((root / RESULTS).glob("*.md")):
        _write(target / "results" / path.name, path.read_text("utf-8"))
    for path in sorted((root / RESULTS).glob("*.svg")):
        shutil.copy(path, target / "results")
    shutil.copy(root / "conformance" / "PROTOCOL.md", target / "protocol.md")
    in_full = _pages(target / "results")
    listed = _implementations(every, implementations, matrix, in_full)
    _write(target / "implementations.md", listed)
    for name, text in docs_scoreboard.pages(every, implementations):
        _write(target / f"{name}.md", text)
    failing = _pages(target / docs_scoreboard.FOLDER)
    home = _index(root, every, clauses, by_clause, implementations, failing)
    _write(target / "index.md", home)


def reports(folder: Path, known: Sequence[ReportData]) -> list[ReportData]:
    """Return implementations by name and version: those known, and newer reports below a folder."""
    found = {(one.name, one.version): one for one in known}
    for path in sorted(folder.glob("**/report.jsonl")):
        one = report_data.read(path.parent)
        found[one.name, one.version] = one
    return [found[key] for key in sorted(found, key=lambda one: (one[0], _numbers(one[1])))]


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version, by which 14.0.2 comes after 4.0.1."""
    return [int(digits) for digits in re.findall(r"\d+", version)]


def matrix_results(matrix: Mapping[str, Any]) -> list[ReportData]:
    """Return the results of each implementation in a matrix."""
    found = []
    for one in matrix["implementations"]:
        name, version = one["name"], one["version"]
        outcomes = {row["case"]: _outcome(row, name, version) for row in matrix["read"]}
        known = {case: outcome for case, outcome in outcomes.items() if outcome}
        found.append(ReportData(name, version, known, {}, {}, {}))
    return found


def _outcome(row: Mapping[str, Any], name: str, version: str) -> str:
    outcome = row["others"].get(f"{name} {version}")
    if outcome is None and name == "pylance":
        outcome = row["releases"].get(version)
    return outcome if outcome and outcome != floors.NOT_RUN else ""


def build(source: Path, target: Path) -> int:
    """Run Sphinx; a warning is a failure."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    return subprocess.run([*command, str(source), str(target)], check=False).returncode


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _pages(folder: Path) -> list[str]:
    """Return the names of the pages of a folder without the index, in the order of releases."""
    names = (path.stem for path in folder.glob("*.md"))
    ordered = sorted(names, key=lambda name: (re.sub(r"[\d.]+$", "", name), _numbers(name)))
    return [f"{folder.name}/{name}" for name in ordered]


def _implementations(
    every: Sequence[Case],
    found: Sequence[ReportData],
    matrix: Mapping[str, Any],
    results: Sequence[str],
) -> str:
    lines = ["# Implementations", "", "Cases passed of those claimed, by area.", ""]
    lines += [docs_tables.areas(every, found), ""]
    lines += [
        "## Releases of pylance",
        "",
        "Share of all cases that passed, in percent; a case that is not claimed did not.",
        "",
    ]
    lines += [docs_tables.trend(matrix), "", "## In full", ""]
    return "\n".join([*lines, "```{toctree}", ":maxdepth: 1", "", *results, "```", ""])


def _index(
    root: Path,
    every: Sequence[Case],
    clauses: Mapping[str, Clause],
    by_clause: Mapping[str, Shown],
    implementations: Sequence[ReportData],
    failing: Sequence[str],
) -> str:
    must = [one.id for one in clauses.values() if one.is_must and not one.untestable]
    both = [name for name in must if (s := by_clause.get(name)) and s.keeping and s.breaking]
    chapters = sorted(path.stem for path in (root / "spec").glob("[0-9]*.md"))
    return "\n".join(
        [
            "# The Lance format, decided",
            "",
            "Implementations of the Lance columnar format, judged by the clauses of its",
            "specification: data read right, damage refused, and what they survive.",
            "",
            docs_scoreboard.scoreboard(every, implementations),
            "",
            "## Where cases pass",
            "",
            "Claimed cases that pass, by part of the format; a cell leads to those that fail.",
            "",
            docs_scoreboard.heat_map(every, implementations),
            "",
            "## What it rests on",
            "",
            f"* {len(clauses)} clauses, {len(must)} of them MUST that can be tested;",
            f"  {len(both)} of these have a case that keeps and one that breaks them",
            f"* {sum(case.is_active for case in every)} cases",
            "* [implementations in full](implementations.md), and",
            "  [divergences](spec/divergences.md) between text and programs",
            "",
            *("```{toctree}", ":caption: Specification", ":maxdepth: 1", "", "spec/README"),
            *(f"spec/{name}" for name in chapters),
            *("spec/index", "spec/divergences", "spec/defects", "```", ""),
            *("```{toctree}", ":caption: Suite", ":maxdepth: 1", ""),
            *("cases/index", "protocol", "implementations", "```", ""),
            *("```{toctree}", ":hidden:", ":caption: Failing cases", "", *failing, "```", ""),
        ]
    )


def main() -> int:
    """Stage and build."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", type=Path, default=ROOT / BUILT)
    options = parser.parse_args()
    stage(ROOT, ROOT / STAGED)
    if build(ROOT / STAGED, options.out) != 0:
        return 1
    lost = list(docs_links.broken(options.out.resolve()))
    for link in lost:
        print(f"leads nowhere: {link}")
    print(f"wrote {options.out / 'index.html'}")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())

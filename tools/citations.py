"""Citations: the code and the cases of each clause of the register.

Clause ids are cited by the code of the reference (as argument of an error, or in a comment at the
check; a docstring is no check), by the code around it, and by the manifests of the fixtures. Every
cited id must exist and stand; divergence ids (`D.x.y`) must have their heading in
`spec/divergences.md`.

    python tools/citations.py                     existence; the rest is counted and printed
    python tools/citations.py --strict            every MUST has its citation and its pair of cases
    python tools/citations.py --strict citation   ... only the kinds named

A clause marked `untestable` needs no case; a superseded one needs nothing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from findings import Finding, conclude
from register import CLAUSE_ID, Clause, extract
from sources import ROOT, python_files

KINDS = ("citation", "positive", "negative")
"""What a MUST needs: a check in the reference, a case that keeps it, a case that breaks it."""

DIVERGENCES = "spec/divergences.md"
"""Where divergences are written, one heading each that starts with the id."""

_CITED = re.compile(rf"(?<![\w.]){CLAUSE_ID.pattern}(?![\w-]|\.[\w*<{{])")
_DIVERGENCE = re.compile(r"(?<![\w.])D(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){2,}(?![\w-]|\.[\w*<{])")


@dataclass(slots=True)
class Citations:
    """For each kind of citation: clause id to the places (path, line) that cite it."""

    by_kind: dict[str, dict[str, list[tuple[str, int]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, kind: str, clause: str, path: str, line: int) -> None:
        """Note that `path` cites `clause`."""
        self.by_kind[kind][clause].append((path, line))

    def lacking(self, kind: str, clauses: list[Clause]) -> list[Clause]:
        """Return the clauses that need a citation of this kind and have none."""
        cited = self.by_kind[kind]
        return [c for c in clauses if needs(c, kind) and c.id not in cited]


def needs(clause: Clause, kind: str) -> bool:
    """Whether a clause must have a citation of this kind."""
    if clause.level not in ("MUST", "MUST NOT") or "superseded-by" in clause.attributes:
        return False
    return kind == "citation" or "untestable" not in clause.attributes


def collect(root: Path) -> Citations:
    """Read every citation of the code and of the fixtures."""
    citations = Citations()
    for source in python_files(root, "reference/lanceref", "conformance/lance_conformance"):
        checks = source.name.startswith("reference/")
        for number, line in enumerate(source.text.splitlines(), start=1):
            kind = "citation" if checks and number not in source.docstring_lines else "mention"
            for clause in _CITED.findall(line):
                citations.add(kind, clause, source.name, number)
    for path in sorted((root / "fixtures").rglob("case.json")):
        case = json.loads(path.read_text("utf-8"))
        if case.get("status") == "withdrawn":
            continue
        for entry in case["clauses"]:
            name = path.relative_to(root).as_posix()
            citations.add(entry["role"], entry["id"], name, 0)
    return citations


def unknown(citations: Citations, clauses: list[Clause]) -> Iterator[Finding]:
    """Yield a finding for every cited id that no chapter holds, or that is superseded."""
    known = {clause.id: clause for clause in clauses}
    for cited in citations.by_kind.values():
        for clause, places in cited.items():
            if clause not in known:
                message = f"{clause} is no clause of spec/"
            elif "superseded-by" in known[clause].attributes:
                message = f"{clause} is superseded by {known[clause].attributes['superseded-by']}"
            else:
                continue
            yield from (Finding(path, line, message) for path, line in places)


def unknown_divergences(root: Path) -> Iterator[Finding]:
    """Yield a finding for every divergence id in code or spec that has no heading."""
    page = root / DIVERGENCES
    text = page.read_text("utf-8") if page.exists() else ""
    headings = [line.lstrip("# `") for line in text.splitlines() if line.startswith("#")]
    known = {found.group() for line in headings if (found := _DIVERGENCE.match(line))}
    code = python_files(root, "reference/lanceref", "conformance/lance_conformance")
    paths = [source.path for source in code]
    paths += [*(root / "spec").glob("*.md"), *(root / "fixtures").rglob("case.json")]
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            for cited in _DIVERGENCE.findall(line):
                if cited not in known:
                    name = path.relative_to(root).as_posix()
                    yield Finding(name, number, f"{cited} has no heading in {DIVERGENCES}")


def print_counts(citations: Citations, clauses: list[Clause]) -> None:
    """Print, for each chapter, how many MUST clauses have what they need."""
    chapters: dict[str, list[Clause]] = defaultdict(list)
    for clause in clauses:
        chapters[clause.path].append(clause)
    print(f"{'chapter':36}{'clauses':>9}{'MUST':>6}" + "".join(f"{kind:>12}" for kind in KINDS))
    for name, members in [*chapters.items(), ("all", clauses)]:
        must = [clause for clause in members if needs(clause, "citation")]
        cells = [f"{name:36}{len(members):>9}{len(must):>6}"]
        for kind in KINDS:
            needed = sum(needs(clause, kind) for clause in members)
            have = needed - len(citations.lacking(kind, members))
            cells.append(f"{f'{have}/{needed}':>12}")
        print("".join(cells))


def main() -> int:
    """Check the citations and print the counts."""
    parser = argparse.ArgumentParser(description="Hold code and fixtures against the clauses.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument(
        "--strict", nargs="*", choices=KINDS, help="kinds that no MUST may lack (default: all)"
    )
    options = parser.parse_args()
    clauses, _ = extract(options.root)
    citations = collect(options.root)
    findings = [*unknown(citations, clauses), *unknown_divergences(options.root)]
    strict = KINDS if options.strict == [] else options.strict or ()
    for kind in strict:
        for clause in citations.lacking(kind, clauses):
            findings.append(Finding(clause.path, clause.line, f"{clause.id} has no {kind}"))
    print_counts(citations, clauses)
    return conclude("citations", findings)


if __name__ == "__main__":
    raise SystemExit(main())

"""Register: every clause of `spec/*.md`, extracted into `spec/register.json`.

A clause is a label line and the paragraph below it, which holds exactly one keyword:

    [L.file.footer.magic] reader writer · since 2.0 · source both · violation refuse
    The last four bytes of a file MUST be `LANC`.

Attributes after the audience, each at most once: `since X`, `source X`, and if need be `until X`,
`violation refuse|either|read`, `see D.a.b, D.c.d` (divergences), `untestable: reason`,
`superseded-by L.x.y`. Fenced blocks are passed over. The register adds the version of the suite,
the heading that a clause is below, and the cases that keep and break it. The working labels that a
clause was collected from are in `spec/working-labels.json`, which no program reads.

    python tools/register.py            write the register
    python tools/register.py --check    fail when the register differs from the chapters

An id in the register must not vanish from the chapters: a clause that no longer holds keeps
its paragraph and gets `superseded-by`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from findings import Finding, conclude
from sources import ROOT

REGISTER = "spec/register.json"
"""Path of the register."""

CLAUSE_ID = re.compile(r"L(?:\.[a-z0-9]+(?:-[a-z0-9]+)*){2,}")
"""Form of a clause id: chapter, topic, details."""

KEYWORD = re.compile(r"\b(MUST NOT|MUST|SHOULD NOT|SHOULD|MAY)\b")
"""The keywords that make a paragraph a clause."""

AUDIENCES = ("reader", "writer")
"""Whom a clause binds."""

SOURCES = ("spec", "oracle", "both", "conflict")
"""Where the fact is known from."""

VIOLATIONS = ("refuse", "either", "read")
"""What a reader does with bytes that break a clause."""

_LABEL = re.compile(r"\[(L\.[^\]]*)\]\s*(.*)")
_SINGLE = ("since", "until", "source", "violation", "superseded-by")


@dataclass(slots=True)
class Clause:
    """One clause, and the place of its label line."""

    id: str
    path: str
    line: int
    text: str
    audience: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    heading: str = ""

    @property
    def level(self) -> str:
        """The keyword of the paragraph; empty when it has none."""
        found = KEYWORD.search(self.text)
        return found.group() if found else ""

    def as_json(self) -> dict[str, str | list[str]]:
        """Return the entry of the register."""
        divergences = self.attributes.get("see", "")
        entry: dict[str, str | list[str]] = {
            "id": self.id,
            "level": self.level,
            "text": self.text,
            "chapter": Path(self.path).stem,
            "anchor": f"{self.path}#{slug(self.heading)}",
            "audience": self.audience,
            "since": self.attributes.get("since", ""),
            "source": self.attributes.get("source", ""),
            "divergences": [one.strip() for one in divergences.split(",") if one.strip()],
        }
        for name in ("violation", "until", "untestable", "superseded-by"):
            if name in self.attributes:
                entry[name.replace("-", "_")] = self.attributes[name]
        return entry


def slug(heading: str) -> str:
    """Return the anchor of a heading, as web views of repositories make it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


def chapters(root: Path) -> list[Path]:
    """Return the chapters in the order of their numbers."""
    return sorted((root / "spec").glob("*.md"))


def unfenced(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a Markdown text; those of fenced blocks come out empty."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
            yield number, ""
        else:
            yield number, "" if fence else line


def extract(root: Path) -> tuple[list[Clause], list[Finding]]:
    """Return the clauses of all chapters in their order, and what is wrong with their form."""
    clauses, findings = list[Clause](), list[Finding]()
    for path in chapters(root):
        name = path.relative_to(root).as_posix()
        lines, heading = list(unfenced(path.read_text(encoding="utf-8"))), ""
        for at, (number, line) in enumerate(lines):
            if line.startswith("#"):
                heading = line.lstrip("# ")
            if not line.startswith("[L."):
                continue
            label = _LABEL.fullmatch(line.rstrip())
            if label is None:
                findings.append(Finding(name, number, "a label line that is not [L.…] attributes"))
                continue
            text = _paragraph(lines[at + 1 :])
            clause = Clause(label.group(1), name, number, text, heading=heading)
            problems = [*_read_attributes(clause, label.group(2)), *_form(clause)]
            findings += [Finding(name, number, f"{clause.id}: {text}") for text in problems]
            clauses.append(clause)
    return clauses, [*findings, *_across(clauses)]


def _paragraph(lines: list[tuple[int, str]]) -> str:
    """Return the paragraph at the start of `lines`, after at most one empty line."""
    words: list[str] = []
    for at, (_, line) in enumerate(lines):
        if line.startswith(("[L.", "#")) or (not line.strip() and (words or at)):
            break
        words += line.split()
    return " ".join(words)


def _read_attributes(clause: Clause, text: str) -> Iterator[str]:
    audience, *attributes = [part.strip() for part in text.split("·")]
    clause.audience = audience.replace(",", " ").split()
    for attribute in attributes:
        if attribute.startswith("untestable:"):
            name, value = "untestable", attribute.partition(":")[2].strip()
        else:
            name, _, value = attribute.partition(" ")
        if name not in (*_SINGLE, "see", "untestable"):
            yield f"unknown attribute {attribute!r}"
        elif name in clause.attributes:
            yield f"attribute {name} occurs twice"
        elif not value.strip():
            yield f"attribute {name} is empty"
        elif name in _SINGLE and " " in value.strip():
            yield f"attribute {name} has more than one word: {value!r}"
        else:
            clause.attributes[name] = value.strip()


def _form(clause: Clause) -> Iterator[str]:
    if not CLAUSE_ID.fullmatch(clause.id):
        yield "not of the form L.<chapter>.<topic>[.<detail>] in lower case"
    if not clause.audience or set(clause.audience) - set(AUDIENCES):
        yield f"the audience is reader, writer or both, not {clause.audience}"
    if "since" not in clause.attributes:
        yield "no since"
    if clause.attributes.get("source") not in SOURCES:
        yield f"source is one of {', '.join(SOURCES)}, not {clause.attributes.get('source')}"
    violation = clause.attributes.get("violation", VIOLATIONS[0])
    if violation not in VIOLATIONS:
        yield f"violation is one of {', '.join(VIOLATIONS)}, not {violation}"
    if (
        "reader" not in clause.audience
        and violation == "refuse"
        and "violation" in clause.attributes
    ):
        yield "readers that are not bound by a clause do not refuse what breaks it"
    keywords = KEYWORD.findall(clause.text)
    if not clause.text:
        yield "no paragraph below the label"
    elif len(keywords) != 1:
        yield f"exactly one keyword is wanted, found {keywords}"


def _across(clauses: list[Clause]) -> Iterator[Finding]:
    """Hold the clauses against each other: ids are unique, successors exist."""
    first: dict[str, Clause] = {}
    for clause in clauses:
        before = first.setdefault(clause.id, clause)
        if before is not clause:
            text = f"{clause.id}: exists already at {before.path}:{before.line}"
            yield Finding(clause.path, clause.line, text)
    for clause in clauses:
        successor = clause.attributes.get("superseded-by")
        if successor is not None and successor not in first:
            text = f"{clause.id}: superseded by {successor}, which does not exist"
            yield Finding(clause.path, clause.line, text)


def vanished(root: Path, clauses: list[Clause]) -> list[Finding]:
    """Return a finding for every id of the written register that is no longer in a chapter."""
    present = {clause.id for clause in clauses}
    return [
        Finding(REGISTER, 0, f"{known} vanished: keep its paragraph and add superseded-by")
        for known in registered(root)
        if known not in present
    ]


def registered(root: Path) -> list[str]:
    """Return the ids of the written register."""
    path = root / REGISTER
    if not path.exists():
        return []
    return [clause["id"] for clause in json.loads(path.read_text("utf-8")).get("clauses", [])]


def active_cases(root: Path) -> list[dict[str, Any]]:
    """Return the manifests of the active cases in the order of their ids."""
    paths = sorted((root / "fixtures").rglob("case.json"))
    cases = [json.loads(path.read_text("utf-8")) for path in paths]
    return [case for case in cases if case.get("status", "active") == "active"]


def unfounded(cases: list[dict[str, Any]], clauses: list[Clause]) -> Iterator[Finding]:
    """Yield a finding for each case whose verdict does not follow from the clauses it breaks.

    A negative case breaks a clause whose violation is refused or left open; a lint case breaks
    clauses that say what a reader does; any other case breaks none that a reader may refuse.
    """
    words = {clause.id: clause.attributes.get("violation", "") for clause in clauses}
    for case in cases:
        broken = [named["id"] for named in case["clauses"] if named["role"] == "negative"]
        if case["kind"] in ("negative-file", "negative-dataset"):
            if not {"refuse", "either"} & {words.get(clause) for clause in broken}:
                yield Finding(REGISTER, 0, f"{case['id']}: no clause that it breaks binds readers")
        elif case["kind"] != "lint":
            if {"refuse", "either"} & {words.get(clause) for clause in broken}:
                yield Finding(REGISTER, 0, f"{case['id']}: is to be read, and breaks a clause")
            continue
        for clause in broken:
            if clause in words and not words[clause]:
                yield Finding(REGISTER, 0, f"{clause}: no violation, but {case['id']} breaks it")


def tested(cases: list[dict[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Return the ids of the cases that keep each clause, and of those that break it."""
    found: dict[str, dict[str, list[str]]] = {}
    for case in cases:
        for named in case["clauses"]:
            roles = found.setdefault(named["id"], {"positive": [], "negative": []})
            roles.setdefault(named["role"], []).append(case["id"])
    return found


def version(root: Path) -> str:
    """Return the version of the suite, empty where there are no fixtures."""
    path = root / "fixtures" / "SUITE.json"
    return str(json.loads(path.read_text("utf-8"))["suite"]) if path.exists() else ""


def render(root: Path, clauses: list[Clause]) -> str:
    """Return the text of the register."""
    cases = tested(active_cases(root))
    entries = [
        {**clause.as_json(), "cases": {role: ids for role, ids in cases[clause.id].items() if ids}}
        if clause.id in cases
        else clause.as_json()
        for clause in clauses
    ]
    document = {"version": version(root), "clauses": entries}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    """Write or check the register."""
    parser = argparse.ArgumentParser(description="Extract the clauses of spec/ into the register.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args()
    clauses, findings = extract(options.root)
    cases = active_cases(options.root)
    findings += [*vanished(options.root, clauses), *unfounded(cases, clauses)]
    path, text = options.root / REGISTER, render(options.root, clauses)
    if options.check and (not path.exists() or path.read_text("utf-8") != text):
        findings.append(Finding(REGISTER, 0, "is not up to date: run tools/register.py"))
    if not options.check and not findings:
        path.write_text(text, "utf-8")
    print(f"{len(clauses)} clauses in {len({clause.path for clause in clauses})} chapters")
    print(f"{len(cases)} cases, each verdict held against the violation of its clauses")
    return conclude("register", findings)


if __name__ == "__main__":
    raise SystemExit(main())

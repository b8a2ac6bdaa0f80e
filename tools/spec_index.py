"""Contents: the page of all sections and clauses of `spec/`, and the terms of the glossary.

`spec/index.md` is made from the chapters, in their order. Each term of the glossary in
`spec/00-introduction.md` must name a clause that exists, and must occur in a chapter.

    python tools/spec_index.py            write spec/index.md
    python tools/spec_index.py --check    fail when it differs, or a term of the glossary is wrong
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from findings import Finding, conclude
from register import Clause, extract, slug, unfenced
from sources import ROOT

INDEX = "spec/index.md"
"""The page that is made."""

INTRODUCTION = "spec/00-introduction.md"
"""The page with the glossary."""

_ITALICS = re.compile(r"(?<![\w*])\*([a-z][a-z -]*[a-z])\*(?![\w*])")
_TERM = re.compile(r"\| ([^|`]+) \| [^|]+ \| `(L\.[^`]+)` \|")


def chapters(root: Path) -> list[Path]:
    """Return the numbered chapters in their order."""
    return sorted((root / "spec").glob("[0-9][0-9]-*.md"))


def render(root: Path, clauses: list[Clause]) -> str:
    """Return the text of the page: contents, then clauses by chapter."""
    lines = ["# Contents and index of clauses", "", "Made by `tools/spec_index.py`.", ""]
    lines += ["## Contents", ""]
    for path in chapters(root):
        for _, line in unfenced(path.read_text("utf-8")):
            if line.startswith("# "):
                lines.append(f"* [{line[2:].strip()}]({path.name})")
            elif line.startswith("## "):
                title = line[3:].strip()
                lines.append(f"  * [{title}]({path.name}#{slug(title)})")
    lines += ["", "## Clauses", "", "| clause | level | binds | since |", "|---|---|---|---|"]
    for clause in clauses:
        link = f"[`{clause.id}`]({Path(clause.path).name}#{slug(clause.heading)})"
        since = clause.attributes.get("since", "")
        lines.append(f"| {link} | {clause.level} | {', '.join(clause.audience)} | {since} |")
    return "\n".join(lines) + "\n"


def glossary(root: Path, clauses: list[Clause]) -> Iterator[Finding]:
    """Yield a finding for each term without a clause, that no chapter uses, or that is missing."""
    path, known = root / INTRODUCTION, {clause.id for clause in clauses}
    if not path.exists():
        return
    others = [page for page in chapters(root) if page != path]
    text = " ".join(" ".join(page.read_text("utf-8").lower().split()) for page in others)
    terms = list[str]()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        found = _TERM.fullmatch(line)
        if found is None:
            continue
        term, clause = found.groups()
        terms.append(term)
        if clause not in known:
            yield Finding(INTRODUCTION, number, f"{term}: no clause {clause}")
        if term.lower() not in text:
            yield Finding(INTRODUCTION, number, f"{term}: no chapter uses the term")
    yield from undefined(others, {term.lower() for term in terms})
    if terms != sorted(terms):
        yield Finding(INTRODUCTION, 0, "the terms of the glossary are not in order")


def undefined(pages: list[Path], terms: set[str]) -> Iterator[Finding]:
    """Yield a finding for each term that a page introduces in italics, and the glossary has not."""
    for page in pages:
        for number, line in unfenced(page.read_text("utf-8")):
            for term in _ITALICS.findall(line):
                if not {term, term.removesuffix("s"), term.removesuffix("es")} & terms:
                    yield Finding(f"spec/{page.name}", number, f"{term}: not in the glossary")


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description="Make the contents and index of spec/.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args()
    clauses, _ = extract(options.root)
    findings = list(glossary(options.root, clauses))
    path, text = options.root / INDEX, render(options.root, clauses)
    if not options.check:
        path.write_text(text, "utf-8")
    elif not path.exists() or path.read_text("utf-8") != text:
        findings.append(Finding(INDEX, 0, "is not up to date: run tools/spec_index.py"))
    return conclude("index of the specification", findings)


if __name__ == "__main__":
    raise SystemExit(main())

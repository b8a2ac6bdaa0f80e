"""Report of a gate on one change, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lance_conformance import __version__
from lance_conformance.gate.findings import Check, Colour, Finding, worst_colour
from lance_conformance.gate.trees import Tree
from lance_conformance.untrusted_text import markdown_code, markdown_prose, printable_json

COLOUR_LABELS = {Colour.GREEN: "🟢 green", Colour.YELLOW: "🟡 yellow", Colour.RED: "🔴 red"}

MAX_LISTED = 20
"""Maximum number of findings listed for each check; the JSON has all."""


def markdown(base: Tree, head: Tree, checks: Sequence[Check]) -> str:
    """Return the comment."""
    return "\n".join(_lines(base, head, checks)) + "\n"


def to_json(base: Tree, head: Tree, checks: Sequence[Check]) -> str:
    """Return every finding of every check."""
    document = {
        "gate": __version__,
        "base": base.name,
        "head": head.name,
        "colour": worst_colour(checks).label,
        "checks": [
            {
                "name": check.name,
                "colour": "" if check.skipped else check.colour.label,
                "skipped": check.skipped,
                "findings": [_entry(finding) for finding in check.findings],
            }
            for check in checks
        ],
    }
    return json.dumps(printable_json(document), indent=2, ensure_ascii=False) + "\n"


def _entry(finding: Finding) -> dict[str, str]:
    return {
        "colour": finding.colour.label,
        "place": finding.place,
        "text": finding.text,
        "clause": finding.clause,
    }


def _lines(base: Tree, head: Tree, checks: Sequence[Check]) -> Iterator[str]:
    yield f"## {COLOUR_LABELS[worst_colour(checks)]}: what this change does to the Lance format"
    yield from ("", f"{markdown_code(base.name)} → {markdown_code(head.name)}", "")
    yield from ("| check | verdict | red | yellow |", "|---|---|---|---|")
    for check in checks:
        yield _row(check)
    for check in checks:
        if check.findings:
            yield from ("", f"### {check.name}", "")
            listed = sorted(check.findings, key=lambda finding: -finding.colour)
            yield from (_item(finding) for finding in listed[:MAX_LISTED])
            if len(listed) > MAX_LISTED:
                yield f"* … and {len(listed) - MAX_LISTED} more, in the JSON"


def _row(check: Check) -> str:
    if check.skipped:
        return f"| {check.name} | not judged: {markdown_prose(check.skipped)} | | |"
    counts = [sum(f.colour == colour for f in check.findings) for colour in reversed(Colour)]
    return f"| {check.name} | {COLOUR_LABELS[check.colour]} | {counts[0]} | {counts[1]} |"


def _item(finding: Finding) -> str:
    mark = COLOUR_LABELS[finding.colour].split()[0]
    text = f": {markdown_prose(finding.text)}"
    if finding.clause and finding.clause != finding.place:
        text += f" ({markdown_prose(finding.clause)})"
    return f"* {mark} {markdown_code(finding.place)}{text}"

"""Chapters of the site: the pages of `spec/`, each clause with what shows and judges it.

The label line and the paragraph of a clause become a block of their own, whose edge says whether a
case keeps it and one breaks it; below stand links to those cases and what implementations make of
them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lance_conformance.matrix.report_data import ReportData
from lance_conformance.outcomes import Outcome
from lance_conformance.specification.register import Clause
from lance_conformance.suite.cases import Case

_OUTSIDE = re.compile(r"\[([^]]*)\]\(\.\./[^)]*\)")
"""A link to a file of the repository that is no page of the site."""

MAX_LINKS = 6
"""Cases linked below a clause; the pages of cases have all."""


@dataclass(slots=True)
class Shown:
    """Cases of one clause, and the worst outcome of each implementation in them."""

    keeping: list[str] = field(default_factory=list)
    breaking: list[str] = field(default_factory=list)
    wrong: dict[str, int] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)


def shown(cases: Iterable[Case], judged: Sequence[ReportData]) -> dict[str, Shown]:
    """Return what shows each clause that a case names."""
    found: dict[str, Shown] = {}
    for case in cases:
        for named in case.manifest["clauses"]:
            if named["role"] == "context" or not case.is_active:
                continue
            one = found.setdefault(named["id"], Shown())
            (one.keeping if named["role"] == "positive" else one.breaking).append(case.id)
            for implementation in judged:
                outcome = implementation.outcomes.get(case.id)
                if outcome == Outcome.PASS:
                    one.right.add(implementation.label)
                elif outcome is not None and outcome != Outcome.UNSUPPORTED:
                    one.wrong[implementation.label] = one.wrong.get(implementation.label, 0) + 1
    return found


def staged(text: str, clauses: Mapping[str, Clause], by_clause: Mapping[str, Shown]) -> str:
    """Return a chapter with its clauses as blocks."""
    return "\n".join(_lines(text.splitlines(), clauses, by_clause)) + "\n"


def case_link(case_id: str) -> str:
    """Return the address of a case, relative to a page in a sibling folder."""
    topic, _, slug = case_id.rpartition("/")
    return f"../cases/{page_name(topic)}.html#{slug_anchor(slug)}"


def page_name(topic: str) -> str:
    """Return the name of the page of a topic: `file/2.1/miniblock` is `file-2.1-miniblock`."""
    return topic.replace("/", "-")


def slug_anchor(slug: str) -> str:
    """Return the anchor of a case on its page."""
    return f"case-{slug.replace('.', '-')}"


def _lines(
    lines: Sequence[str], clauses: Mapping[str, Clause], by_clause: Mapping[str, Shown]
) -> Iterator[str]:
    fenced, clause = False, None
    for line in [*lines, ""]:
        fenced ^= line.startswith("```")
        if clause is not None and not line.strip():
            yield from ("", *_status(clause, by_clause.get(clause.id, Shown())), "", "</div>", "")
            clause = None
        elif not fenced and line.startswith("[L."):
            label, _, attributes = line.partition("]")
            clause = clauses[label[1:]]
            colour = _colour(clause, by_clause.get(clause.id, Shown()))
            yield f'<div class="clause {colour}" id="{clause.id}">'
            yield from ("", f"`{clause.id}`{attributes}", "")
        else:
            yield "```" if line.startswith("```hex ") else _OUTSIDE.sub(r"\1", line)


def _colour(clause: Clause, found: Shown) -> str:
    if not clause.is_must or clause.untestable:
        return ""
    return "shown" if found.keeping and found.breaking else "lacking"


def _status(clause: Clause, found: Shown) -> Iterator[str]:
    if clause.untestable:
        yield f'<p class="status">not testable: {html.escape(clause.untestable)}</p>'
    for word, ids in (("kept by", found.keeping), ("broken by", found.breaking)):
        if ids:
            yield f'<p class="status">{word} {_links(ids)}</p>'
    if clause.is_must and not clause.untestable and not found.breaking:
        yield '<p class="status">no case breaks it</p>'
    chips = [
        f'<span class="chip bad">{implementation}: {n} wrong</span>'
        for implementation, n in found.wrong.items()
    ]
    chips += [
        f'<span class="chip good">{implementation}</span>'
        for implementation in sorted(found.right - found.wrong.keys())
    ]
    if chips:
        yield f'<p class="status">{" ".join(chips)}</p>'


def _links(ids: Sequence[str]) -> str:
    links = [f'<a href="{case_link(one)}">{one}</a>' for one in ids[:MAX_LINKS]]
    more = f" and {len(ids) - MAX_LINKS} more" if len(ids) > MAX_LINKS else ""
    return ", ".join(links) + more

"""Cases of the site: a page for each topic, with the annotated bytes of every case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import jinja2
from docs_chapters import page_name, slug_anchor
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.reports import hexdump
from lance_conformance.specification.register import Clause
from lance_conformance.suite.cases import Case

THEME = Path(__file__).with_name("docs_theme")


def pages(
    cases: Sequence[Case], clauses: Mapping[str, Clause], judged: Sequence[ReportData]
) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page, the list of all topics first."""
    topics: dict[str, list[Case]] = {}
    for case in cases:
        topics.setdefault(case.id.rpartition("/")[0], []).append(case)
    yield "index", _index(topics)
    render = _renderer(clauses, judged)
    for topic, its in topics.items():
        yield page_name(topic), "\n".join(_page(topic, its, render))


def _index(topics: Mapping[str, Sequence[Case]]) -> str:
    lines = ["# Cases", "", f"{sum(map(len, topics.values()))} cases in {len(topics)} topics.", ""]
    lines += ["| topic | cases | to be refused or reported |", "|---|---|---|"]
    for topic, its in sorted(topics.items()):
        broken = sum(case.is_negative or case.kind == "lint" for case in its)
        lines.append(f"| [{topic}]({page_name(topic)}.md) | {len(its)} | {broken} |")
    names = [page_name(topic) for topic in sorted(topics)]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *names, "```", ""])


def _page(topic: str, its: Sequence[Case], render: Callable[[Case], str]) -> Iterator[str]:
    yield from (f"# {topic}", "", f"{len(its)} cases.", "")
    for case in its:
        slug = case.id.rpartition("/")[2]
        yield from (f'<span id="{slug_anchor(slug)}"></span>', "", f"## {slug}", "")
        yield from (render(case), "")


def _renderer(clauses: Mapping[str, Clause], judged: Sequence[ReportData]) -> Callable[[Case], str]:
    loader = jinja2.FileSystemLoader(THEME)
    environment = jinja2.Environment(loader=loader, autoescape=True)
    template = environment.get_template("case.html")

    def link(clause_id: str) -> str:
        chapter = clauses[clause_id].chapter if clause_id in clauses else "README"
        return f"../spec/{chapter}.html#{clause_id}"

    def render(case: Case) -> str:
        verdicts = [(one.label, one.outcomes.get(case.id, "not run")) for one in judged]
        text = template.render(
            case=case, view=hexdump.hex_view(case), verdicts=verdicts, clause_link=link
        )
        return text.replace("\n\n", "\n")

    return render

"""Scoreboard of the site: the three numbers of each implementation, and where its failures are.

The home has a row for each implementation and a heat map of areas by version; each leads to a page
with the failures of one implementation, and this to the bytes of a case.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from docs_chapters import page_name, slug_anchor
from lance_conformance.judging.runner import CaseResult
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.outcomes import DEATHS, GOOD, Outcome
from lance_conformance.reports import score
from lance_conformance.reports.score import Ratio, percent
from lance_conformance.suite.cases import Case

FOLDER = "failing"
"""Folder of the pages, one for each implementation."""


def scoreboard(cases: Sequence[Case], judged: Sequence[ReportData]) -> str:
    """Return the table of implementations: three numbers, and how many cases were claimed."""
    names = (score.VALID, score.REFUSED, score.SURVIVED)
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = []
    for one in judged:
        results = _results(cases, one)
        numbers = score.numbers(results)
        claimed = sum(result.outcome != Outcome.UNSUPPORTED for result in results)
        cells = "".join(_number(numbers.get(name, Ratio(0, 0))) for name in names)
        rows.append(f"<tr><th>{_link(one)}</th>{cells}<td>{claimed}</td></tr>")
    begin = f'<table class="areas"><tr><th>implementation</th>{head}<th>claimed</th></tr>'
    return "\n".join([begin, *rows, "</table>"])


def heat_map(cases: Sequence[Case], judged: Sequence[ReportData]) -> str:
    """Return the table of implementations and parts of the format, as `file 2.1`."""
    parts = sorted({_part(case) for case in cases})
    head = "".join(f"<th>{part.replace('/any', '').replace('/', ' ')}</th>" for part in parts)
    rows = []
    for one in judged:
        found = _by(_results(cases, one), parts)
        cells = "".join(_cell(found[part], f"{_page(one)}#{_anchor(part)}") for part in parts)
        rows.append(f"<tr><th>{_link(one)}</th>{cells}</tr>")
    begin = f'<table class="areas heat"><tr><th>implementation</th>{head}</tr>'
    return "\n".join([begin, *rows, "</table>"])


def pages(cases: Sequence[Case], judged: Sequence[ReportData]) -> Iterator[tuple[str, str]]:
    """Yield name and text of the page of each implementation."""
    for one in judged:
        yield _page(one).removesuffix(".html"), "\n".join(_failures(cases, one))


def _failures(cases: Sequence[Case], one: ReportData) -> Iterator[str]:
    results = _results(cases, one)
    wrong = [result for result in results if result.outcome not in GOOD]
    yield from (f"# {one.label}", "")
    for name, number in score.numbers(results).items():
        yield f"* {name}: {percent(number.share)}, {number.good} of {number.cases} claimed cases"
    yield from ("", f"{len(wrong)} claimed cases failed. A case leads to its bytes.", "")
    parts = sorted({_part(case) for case in cases})
    for part, its in _by(wrong, parts).items():
        yield from (f'<span id="{_anchor(part)}"></span>', "", f"## {part}", "")
        yield from ([_line(result) for result in its] or ["No case failed."])
        yield ""


def _line(result: CaseResult) -> str:
    topic, _, slug = result.case.id.rpartition("/")
    address = f"../cases/{page_name(topic)}.html#{slug_anchor(slug)}"
    family = "dead" if result.outcome in DEATHS | {Outcome.PANIC} else "bad"
    chip = f'<span class="chip {family}">{result.outcome}</span>'
    title = html.escape(result.case.title)
    return f'<p class="failed">{chip} <a href="{address}">{result.case.id}</a> {title}</p>'


def _results(cases: Sequence[Case], one: ReportData) -> list[CaseResult]:
    """Return the result of each active case that was run on an implementation."""
    outcomes = one.outcomes
    run_cases = (case for case in cases if case.is_active and case.id in outcomes)
    return [CaseResult(case, Outcome(outcomes[case.id])) for case in run_cases]


def _by(results: Sequence[CaseResult], parts: Sequence[str]) -> Mapping[str, list[CaseResult]]:
    found: dict[str, list[CaseResult]] = {part: [] for part in parts}
    for result in results:
        found[_part(result.case)].append(result)
    return found


def _part(case: Case) -> str:
    """Return area and version of a case."""
    return "/".join(case.id.split("/")[:2])


def _number(part: Ratio) -> str:
    if not part.cases:
        return '<td class="none">–</td>'
    share = f"<b>{percent(part.share)}</b> <small>{part.good} of {part.cases}</small>"
    return f'<td style="--share: {part.share:.3f}">{share}</td>'


def _cell(results: Sequence[CaseResult], address: str) -> str:
    claimed = [result for result in results if result.outcome != Outcome.UNSUPPORTED]
    if not claimed:
        return '<td class="none">–</td>'
    passed = sum(result.outcome == Outcome.PASS for result in claimed)
    title = f"{passed} of {len(claimed)} claimed cases pass"
    share = passed / len(claimed)
    link = f'<a href="{address}" title="{title}">{percent(share)}</a>'
    return f'<td style="--share: {share:.3f}">{link}</td>'


def _link(one: ReportData) -> str:
    return f'<a href="{_page(one)}">{html.escape(one.label)}</a>'


def _page(one: ReportData) -> str:
    return f"{FOLDER}/{one.name}-{one.version}.html".replace(" ", "-")


def _anchor(part: str) -> str:
    return f"in-{part.replace('/', '-').replace('.', '-')}"

"""Tables of the site: implementations by area, and results of releases of the oracle."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lance_conformance.matrix.floors import NOT_RUN
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.outcomes import Outcome
from lance_conformance.suite.cases import Case

WIDTH, HEIGHT = 720, 260
"""Size of the drawing."""

_LEFT, _BOTTOM, _TOP = 40, 40, 20


def areas(cases: Sequence[Case], judged: Sequence[ReportData]) -> str:
    """Return the table of implementations and areas: cases passed of those claimed."""
    by_area: dict[str, list[str]] = {}
    for case in cases:
        by_area.setdefault("/".join(case.id.split("/")[:2]), []).append(case.id)
    head = "".join(f"<th>{html.escape(one.label)}</th>" for one in judged)
    rows = (
        f"<tr><th>{area}</th><td>{len(ids)}</td>{''.join(_cell(one, ids) for one in judged)}</tr>"
        for area, ids in sorted(by_area.items())
    )
    begin = f'<table class="areas"><tr><th>area</th><th>cases</th>{head}</tr>'
    return "\n".join([begin, *rows, "</table>"])


def _cell(one: ReportData, ids: Sequence[str]) -> str:
    outcomes = [one.outcomes.get(name, Outcome.UNSUPPORTED) for name in ids]
    claimed = sum(outcome != Outcome.UNSUPPORTED for outcome in outcomes)
    passed = outcomes.count(Outcome.PASS)
    if not claimed:
        return '<td class="none">–</td>'
    return f'<td class="{"good" if passed == claimed else "bad"}">{passed} of {claimed}</td>'


def trend(matrix: Mapping[str, Any]) -> str:
    """Return a chart of the share of cases that each release passes, oldest first."""
    shares = [(name, _share(matrix, name)) for name in matrix["releases"]]
    step = (WIDTH - _LEFT - 20) / max(1, len(shares) - 1)
    points = [(_LEFT + number * step, _y(share)) for number, (_, share) in enumerate(shares)]
    return "".join(
        [
            f'<svg class="trend" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'aria-label="share of cases passed by release">',
            *_grid(),
            f'<polyline fill="none" stroke="currentColor" stroke-width="2" points="'
            f'{" ".join(f"{x:.0f},{y:.0f}" for x, y in points)}"/>',
            *_labels(shares, points),
            "</svg>",
        ]
    )


def _share(matrix: Mapping[str, Any], release: str) -> float:
    outcomes = [row["releases"].get(release, NOT_RUN) for row in matrix["read"]]
    return outcomes.count("pass") / max(1, len(outcomes) - outcomes.count(NOT_RUN))


def _y(share: float) -> float:
    return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)


def _grid() -> Iterator[str]:
    for percent in (0, 25, 50, 75, 100):
        y = _y(percent / 100)
        ends = f'x1="{_LEFT}" x2="{WIDTH}" y1="{y:.0f}" y2="{y:.0f}"'
        yield f'<line {ends} stroke="currentColor" opacity=".2"/>'
        yield f'<text x="0" y="{y + 4:.0f}" font-size="12" fill="currentColor">{percent} %</text>'


def _labels(
    shares: Sequence[tuple[str, float]], points: Sequence[tuple[float, float]]
) -> Iterator[str]:
    for (name, share), (x, y) in zip(shares, points, strict=True):
        yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="currentColor"/>'
        text = 'font-size="12" text-anchor="middle" fill="currentColor"'
        yield f'<text x="{x:.0f}" y="{y - 10:.0f}" {text}>{100 * share:.0f}</text>'
        yield f'<text x="{x:.0f}" y="{HEIGHT - 14}" {text}>{html.escape(name)}</text>'

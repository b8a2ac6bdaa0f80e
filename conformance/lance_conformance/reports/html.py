"""HTML view: one static page without external resources, light or dark by system setting."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from lance_conformance import __version__
from lance_conformance.comparison import table_diff
from lance_conformance.judging.checks import VALIDATE
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import DEATHS, MEANINGS, Outcome, worst
from lance_conformance.reports import hexdump, rerun, score
from lance_conformance.reports.jsonl import Run, expectation, result_status
from lance_conformance.reports.score import by_clause, percent
from lance_conformance.suite.levels import LADDER
from lance_conformance.untrusted_text import printable

_COLOUR_CLASSES = {
    Outcome.PASS: "good",
    Outcome.UNSUPPORTED: "open",
    **dict.fromkeys((*DEATHS, Outcome.PANIC, Outcome.FLAKY_CRASH, Outcome.INFRA), "dead"),
}
"""Colour class by outcome; all others are `wrong`."""

MAX_QUERY = 600
"""Maximum number of characters of a query."""

MAX_ROWS = 5
"""Maximum number of expected rows."""

MAX_VALUE = 120
"""Maximum number of characters of a value in an expected row."""


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """One line of the clause table."""

    id: str
    level: str
    text: str
    positive: Sequence[CaseResult]
    negative: Sequence[CaseResult]
    outcome: Outcome


@dataclass(slots=True)
class Cell:
    """The numbers of claimed and passing cases of one area in one version."""

    passed: int = 0
    claimed: int = 0

    @property
    def share(self) -> float:
        """Share of the claimed cases that pass."""
        return self.passed / self.claimed


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the bar of outcomes."""

    outcome: Outcome
    count: int
    percent: float


def colour_class(outcome: Outcome) -> str:
    """Return the colour class of an outcome: good, open, wrong or dead."""
    return _COLOUR_CLASSES.get(outcome, "wrong")


def render(run: Run) -> str:
    """Return the page."""
    return (
        _environment()
        .get_template("report.html")
        .render(
            run=run,
            shown_scores={n: s for n, s in run.scores.items() if n == run.profile} or run.scores,
            who=run.claims.implementation,
            shares=list(_outcome_shares(run.results)),
            clauses=list(_clauses(run)),
            areas=(areas := _areas(run.results)),
            versions=sorted({version for cells in areas.values() for version in cells}),
            packed=_compressed_cases(run),
            num_checks=sum(len(result.checks) for result in run.results),
            standing=lambda result: result_status(run, result),
            number_of=_row_markers,
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("lance_conformance", "reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters["with_code"] = _with_code
    environment.globals.update(
        passing=_passed_text,
        link=_safe_link,
        percent=percent,
        family=colour_class,
        meanings=MEANINGS,
        expectation=expectation,
        wrong_of={
            score.VALID: "wrong-valid",
            score.REFUSED: "wrong-damage",
            score.SURVIVED: "accident",
            score.REPORTED: "wrong-validate",
        },
        ladder=LADDER,
        version=__version__,
    )
    return environment


def _with_code(text: str) -> Markup:
    """Return a text with the parts between backticks marked as code."""
    parts = printable(text).split("`")
    marked = (Markup("<code>{}</code>") if at % 2 else Markup("{}") for at in range(len(parts)))
    return Markup("").join(mark.format(part) for mark, part in zip(marked, parts, strict=True))


def _printable(value: object) -> object:
    """Return a value for the page: texts printable, markup unchanged."""
    return printable(value) if type(value) is str else value


def _safe_link(address: str) -> str:
    """Return a web address; empty for one that could run a script."""
    return address if address.startswith(("https://", "http://")) else ""


def _areas(results: Sequence[CaseResult]) -> dict[str, dict[str, Cell]]:
    """Return the cells of the heat map by area (`file/bitpack`) and version (`2.1` or `any`)."""
    areas: dict[str, dict[str, Cell]] = {}
    for result in results:  # an id has three parts or more
        if result.outcome != Outcome.UNSUPPORTED:
            family_name, version, topic = result.case.id.split("/")[:3]
            cell = areas.setdefault(f"{family_name}/{topic}", {}).setdefault(version, Cell())
            cell.claimed += 1
            cell.passed += result.outcome == Outcome.PASS
    return dict(sorted(areas.items()))


def _compressed_cases(run: Run) -> str:
    """Return body and bytes of all cases by id, as deflated JSON in base64.

    The page decompresses it when a case is opened. Bytes are included for cases that do not pass.
    """
    body = _environment().get_template("case.html")
    cases = {}
    for result in run.results:
        status = result_status(run, result)
        view = hexdump.hex_view(result.case) if status != "good" else None
        text = body.render(
            run=run,
            result=result,
            case=result.case,
            stands=status,
            query=_query(result),
            rows=_first_rows(result) if _shows_rows(result) else [],
            differing=table_diff.parse_rows(result.detail),
            commands=rerun.commands(run, result.case),
        )
        cases[printable(result.case.id)] = [text, _hex_runs(view) if view is not None else None]
    text = json.dumps(cases, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def _query(result: CaseResult) -> str:
    """Return the arguments of the request of a case, as one line of JSON."""
    args = result.case.manifest["input"].get("args", {})
    return json.dumps(args, ensure_ascii=False)[:MAX_QUERY] if args else ""


def _shows_rows(result: CaseResult) -> bool:
    """Whether the page shows the expected rows: for a search, or valid data not read."""
    return result.case.kind == "index-search" or result.outcome == Outcome.REJECTS_VALID


def _first_rows(result: CaseResult) -> list[list[str]]:
    """Return the names of the expected columns, and the first expected rows as short texts."""
    named = [one["table"]["path"] for one in result.case.manifest["expect"] if "table" in one]
    path = result.case.folder / named[0] if named else None
    if path is None or not path.is_file():
        return []
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    first = range(min(MAX_ROWS, table.num_rows))
    rows = [
        [table_diff.format_value(column[row], MAX_VALUE) for column in table.columns]
        for row in first
    ]
    return [table.column_names, *rows]


def _row_markers(result: CaseResult) -> str:
    """Return the markers by which the page selects the cases of one of the numbers."""
    if result.outcome == Outcome.UNSUPPORTED:
        return ""
    validate_outcomes = {one.outcome for one in result.checks if one.name == VALIDATE}
    words = ["damage" if result.case.is_negative else "valid"]
    words = words if result.read_outcome != Outcome.UNSUPPORTED else []
    words += [f"wrong-{one}" for one in words if result.read_outcome != Outcome.PASS]
    words += ["wrong-validate"] if validate_outcomes - {Outcome.PASS} else []
    return " ".join([*words, *(["accident"] if result.outcome in score.UNSAFE_OUTCOMES else [])])


def _hex_runs(view: hexdump.HexView) -> list[object]:
    """Return the title of a view, its first offset, and its runs (hex, owner, shade, patched)."""
    runs: list[list[object]] = []
    for segment in (segment for line in view.lines for segment in line.segments):
        run = [segment.title, segment.shade, segment.patched]
        packed = segment.hex.replace(" ", "")
        if runs and runs[-1][1:] == run:
            runs[-1][0] = f"{runs[-1][0]}{packed}"
        else:
            runs.append([packed, *run])
    title = f"{view.name}, bytes {view.start} to {view.end} of {view.size}"
    return [printable(title), view.start, runs]


def _outcome_shares(results: Sequence[CaseResult]) -> Iterator[Share]:
    counts = Counter(result.outcome for result in results)
    for outcome in Outcome:
        if counts[outcome]:
            yield Share(outcome, counts[outcome], 100 * counts[outcome] / len(results))


def _clauses(run: Run) -> Iterator[ClauseRow]:
    for clause_id, results in by_clause(run.results).items():
        clause = run.register.get(clause_id)
        negative = [result for result in results if _is_negative(result, clause_id)]
        claimed = [r.outcome for r in results if r.outcome != Outcome.UNSUPPORTED]
        yield ClauseRow(
            clause_id,
            clause.level if clause else "",
            clause.text if clause else "",
            [result for result in results if result not in negative],
            negative,
            worst(claimed) if claimed else Outcome.UNSUPPORTED,
        )


def _passed_text(results: Sequence[CaseResult]) -> str:
    """Return the number of claimed cases that pass, as text."""
    if not results:
        return "–"
    claimed = [result for result in results if result.outcome != Outcome.UNSUPPORTED]
    if not claimed:
        return "not claimed"
    return f"{sum(result.outcome == Outcome.PASS for result in claimed)} of {len(claimed)}"


def _is_negative(result: CaseResult, clause_id: str) -> bool:
    roles = {c["id"]: c["role"] for c in result.case.manifest["clauses"]}
    return bool(roles[clause_id] == "negative")

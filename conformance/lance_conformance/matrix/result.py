"""Result: the page of one implementation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lance_conformance import __version__
from lance_conformance.judging.known_failures_edit import ABSOLUTE_FOLDERS
from lance_conformance.matrix.floors import NOT_RUN, feature
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.outcomes import GOOD, MEANINGS, Outcome
from lance_conformance.suite.cases import Case

MAX_LISTED = 12
"""Most listed cases of each outcome; the list of known failures has all."""

MAX_DETAIL = 140
"""Most characters of a detail."""


def render(one: ReportData, cases: Sequence[Case]) -> str:
    """Return the page of one implementation."""
    return "\n".join(_lines(one, cases)) + "\n"


def _lines(one: ReportData, cases: Sequence[Case]) -> Iterator[str]:
    yield f"# {one.label} on suite {__version__}"
    yield from ("", f"Claims: {', '.join(f'`{name}`' for name in sorted(one.capabilities))}.")
    if numbers := one.totals.get("numbers"):
        yield from ("", "| | share | cases |", "|---|---|---|")
        for name, part in numbers.items():
            yield f"| **{name}** | {part['share']} | {part['good']} of {part['cases']} |"
    yield from ("", "| profile | correct | breadth | cases claimed |", "|---|---|---|---|")
    for name, score in one.totals["scores"].items():
        cells = f"{score['correctness']} | {score['breadth']} | {score['cases_claimed']}"
        yield f"| {name} | {cells} of {score['cases']} |"
    counts = Counter(one.outcomes.values())
    yield from ("", "| outcome | cases | meaning |", "|---|---|---|")
    for outcome in Outcome:
        if counts[outcome]:
            yield f"| {outcome} | {counts[outcome]} | {MEANINGS[outcome]} |"
    yield from _by_feature(one, cases)
    for outcome in Outcome:
        ids = [name for name, result in one.outcomes.items() if result == outcome]
        if ids and outcome not in GOOD:
            yield from _listed(one, outcome, ids)


def _by_feature(one: ReportData, cases: Sequence[Case]) -> Iterator[str]:
    yield from ("", "| feature | pass | wrong | unclaimed |", "|---|---|---|---|")
    counts: dict[str, Counter[str]] = {}
    for case in cases:
        outcome = one.outcomes.get(case.id, NOT_RUN)
        counts.setdefault(feature(case.id), Counter())[outcome] += 1
    for name in sorted(counts):
        sums = counts[name]
        unclaimed = sums[Outcome.UNSUPPORTED] + sums[NOT_RUN]
        passed = sums[Outcome.PASS]
        if unclaimed < sums.total():
            wrong = sums.total() - passed - unclaimed
            yield f"| `{name}` | {passed} | {wrong} | {unclaimed} |"


def _listed(one: ReportData, outcome: Outcome, ids: Sequence[str]) -> Iterator[str]:
    yield from ("", f"## {outcome} ({len(ids)})", "")
    for case_id in ids[:MAX_LISTED]:
        detail = (one.details[case_id].splitlines() or [""])[0].replace("`", "'")
        yield f"* `{case_id}`: {ABSOLUTE_FOLDERS.sub('…/', detail)[:MAX_DETAIL]}"
    if len(ids) > MAX_LISTED:
        yield f"* … and {len(ids) - MAX_LISTED} more"

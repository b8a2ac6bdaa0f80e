"""Rules: what the reference must keep on every damaged file, and where it did not.

R1 no exception but a `LanceError`, no abort, no hang, no lack of memory; R2 a refusal names file,
offset, clause, found and wanted; R3 memory within 64 MiB and 16 times the file; R4 two seconds; R5
a flip in padding changes nothing; R6 a wrong number of rows or another schema, and R7 wrong values,
only where the format keeps the bytes without any means to see a change, where `validate` reports it
or the list of known divergences has it, and all together not more often of any target than with the
oracle; R8 a file without bytes, one of another format and one of another version are refused by
clauses of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from lance_conformance.campaigns.child import SECONDS, is_too_much
from lance_conformance.campaigns.damage.anatomy import PADDING
from lance_conformance.campaigns.damage.outcomes import Reading
from lance_conformance.campaigns.damage.readers import FATAL
from lance_conformance.campaigns.runner import Outcome

SHAPE_SHARE = 4
"""The oracle may return this many times our wrong shapes from damage a reader can see."""

SUM_CASES = 5000
"""Cases from which on the sums of both sides are compared: those of fewer differ by chance."""

OUR_SHAPE, THEIR_SHAPE = "wrong shapes to see, reference", "wrong shapes to see, oracle"
OUR_VALUES, THEIR_VALUES = "reference: silent", "oracle: silent"
"""Counts of a case that the sums are made of."""

UNKNOWN_VERSIONS = ("1.0", "2.4", "3.0", "65535.65535")
"""Version words of no format, whatever the file."""


def broken_rules(reading: Reading) -> list[str]:
    """Return the rules R1 to R7 that the reference breaks in one case."""
    judged, broken = reading.judged, []
    if judged.kind in (*FATAL, "err-panic"):
        broken.append("R1")
    if judged.kind == "err" and judged.missing:
        broken.append("R2")
    if is_too_much(judged.peak_bytes, reading.size):
        broken.append("R3")
    if judged.seconds > SECONDS:
        broken.append("R4")
    if reading.region == PADDING and reading.damage == "byte flip" and judged.kind != "ok":
        broken.append("R5")
    if not (reading.undetectable or judged.clause or reading.explanation):
        broken += {"silent-shape": ["R6"], "silent": ["R7"]}.get(judged.kind, [])
    return broken


def foreign_kind(case: str) -> str:
    """Return which kind of foreign file a case makes: empty, wrong magic or version; or nothing."""
    name, _, detail = case.partition(":")[2].partition("@")
    if name == "truncation" and int(detail) == 0:
        return "empty"
    if name == "wrong magic":
        return name
    return name if name == "wrong version" and detail in UNKNOWN_VERSIONS else ""


def broken_in_sum(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the rules that all cases together break: R6 and R7 beside the oracle, and R8.

    From `SUM_CASES` cases on the sums are compared with those of the oracle.
    """
    both = [one.counts for one in outcomes.values() if "read by the oracle" in one.counts]
    if len(both) >= SUM_CASES:
        found = sum(one.get(OUR_SHAPE, 0) for one in both)
        allowed = sum(one.get(THEIR_SHAPE, 0) for one in both) / SHAPE_SHARE
        if found > allowed:
            yield f"  R6 {found:g} wrong shapes, allowed {allowed:g}"
        yield from _more_wrong_values(outcomes)
    yield from _shared_clauses(outcomes)


def _more_wrong_values(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the targets of which the reference returns more wrong values than the oracle."""
    ours, theirs = Counter[str](), Counter[str]()
    for case, one in outcomes.items():
        ours[case.partition(":")[0]] += bool(one.counts.get(OUR_VALUES))
        theirs[case.partition(":")[0]] += bool(one.counts.get(THEIR_VALUES))
    for target, count in ours.items():
        if count > theirs[target]:
            yield f"  R7 {target}: {count} wrong values, the oracle's {theirs[target]}"


def _shared_clauses(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the clauses that refuse two kinds of foreign file, group by group (R8)."""
    named: dict[str, dict[str, str]] = {}
    for case, one in outcomes.items():
        kind = foreign_kind(case)
        if kind and one.details:
            named.setdefault(one.details[-1], {})[kind] = case
    for clause, kinds in named.items():
        if len(kinds) > 1:
            yield f"  R8 {clause} for {', '.join(sorted(kinds.values()))}"


def line(reading: Reading) -> str:
    """Return what one side made of a case, as one line."""
    judged = reading.judged
    cost = f"{judged.seconds:g} s, {judged.peak_bytes // 2**20} MiB"
    facts = (judged.kind, reading.region, judged.missing, judged.detail, cost)
    return "; ".join(" ".join(fact.split()) for fact in facts if fact)

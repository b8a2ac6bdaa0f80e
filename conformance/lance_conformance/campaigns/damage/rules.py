"""Rules: what the reference must keep on every damaged file, and where it did not.

R1 no exception but a `LanceError`, no abort, no hang, no lack of memory; R2 a refusal names file,
offset, clause, found and wanted; R3 memory within 64 MiB and 16 times the file; R4 two seconds; R5
a flip in padding changes nothing; R6 a wrong number of rows or another schema, and R7 wrong values,
only where the format keeps the bytes without any means to see a change, where `validate` reports it
or the list of `explained` has it, and all together not more often of any target than with the
oracle; R8 a file without bytes, one of another format and one of another version are refused by
clauses of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lance_conformance.campaigns.child import SECONDS, is_too_much
from lance_conformance.campaigns.damage.anatomy import PADDING
from lance_conformance.campaigns.damage.outcomes import Outcome
from lance_conformance.campaigns.damage.readers import FATAL, ORACLE, REFERENCE

SHAPE_SHARE = 4
"""The oracle may return this many times our wrong shapes from damage a reader can see."""

SUM_CASES = 5000
"""Cases from which on the sums of both sides are compared: those of fewer differ by chance."""

UNKNOWN_VERSIONS = ("1.0", "2.4", "3.0", "65535.65535")
"""Version words of no format, whatever the file."""

Broken = tuple[str, str]
"""The rule, and the case or the sum that breaks it."""


def broken_rules(outcomes: Sequence[Outcome], sum_cases: int = SUM_CASES) -> list[Broken]:
    """Return every breach of a rule by the reference.

    From `sum_cases` cases on the sums are compared with those of the oracle.
    """
    ours = [outcome for outcome in outcomes if outcome.side == REFERENCE.name]
    theirs = [outcome for outcome in outcomes if outcome.side == ORACLE.name]
    broken = [(rule, _line(outcome)) for outcome in ours for rule in _of_case(outcome)]
    if len(theirs) >= max(1, sum_cases):
        broken += _of_shapes(ours, theirs)
        broken += _of_values(ours, theirs)
    return broken + list(_of_kinds(ours))


def structural_shapes(outcomes: Iterable[Outcome]) -> int:
    """Count the wrong shapes from damage that a reader can see."""
    return sum(o.judged.kind == "silent-shape" and not o.undetectable for o in outcomes)


def _of_case(outcome: Outcome) -> Iterator[str]:
    judged = outcome.judged
    if judged.kind in (*FATAL, "err-panic"):
        yield "R1"
    if judged.kind == "err" and judged.missing:
        yield "R2"
    if is_too_much(judged.peak_bytes, outcome.size):
        yield "R3"
    if judged.seconds > SECONDS:
        yield "R4"
    if outcome.region == PADDING and outcome.damage == "byte flip" and judged.kind != "ok":
        yield "R5"
    if not (outcome.undetectable or judged.clause or outcome.explanation):
        yield from {"silent-shape": ["R6"], "silent": ["R7"]}.get(judged.kind, [])


def _of_shapes(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> list[Broken]:
    found, allowed = structural_shapes(ours), structural_shapes(theirs) / SHAPE_SHARE
    return [("R6", f"{found} wrong shapes, allowed {allowed:g}")] if found > allowed else []


def _of_values(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Iterator[Broken]:
    found, allowed = _silent_by_target(ours), _silent_by_target(theirs)
    for target, count in found.items():
        if count > allowed[target]:
            yield "R7", f"{target}: {count} wrong values, the oracle's {allowed[target]}"


def _silent_by_target(outcomes: Iterable[Outcome]) -> Counter[str]:
    return Counter(outcome.target for outcome in outcomes if outcome.judged.kind == "silent")


def _of_kinds(ours: Iterable[Outcome]) -> Iterator[Broken]:
    """Yield the clauses that two kinds of foreign file share, group by group."""
    named: dict[tuple[str, str], dict[str, str]] = {}
    for outcome in ours:
        kind = _foreign(outcome)
        if kind and outcome.judged.kind == "err":
            clauses = named.setdefault((outcome.group, outcome.judged.clause), {})
            clauses[kind] = outcome.case
    for (group, clause), kinds in named.items():
        if len(kinds) > 1:
            yield "R8", f"{group}: {clause} for {', '.join(sorted(kinds.values()))}"


def _foreign(outcome: Outcome) -> str:
    name, _, detail = outcome.case.partition(":")[2].partition("@")
    if name == "truncation" and int(detail) == 0:
        return "empty"
    if name == "wrong magic":
        return name
    return name if name == "wrong version" and detail in UNKNOWN_VERSIONS else ""


def _line(outcome: Outcome) -> str:
    judged = outcome.judged
    cost = f"{judged.seconds:g} s, {judged.peak_bytes // 2**20} MiB"
    facts = (judged.kind, outcome.region, judged.missing, judged.detail, cost)
    told = "; ".join(" ".join(fact.split()) for fact in facts if fact)
    return f"{outcome.case}: {told}"

"""Report of whole tables: a line for each kind of attack, and every case that breaks a rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console

from lance_conformance.campaigns.damage.whole.cases import Outcome
from lance_conformance.campaigns.damage.whole.trial import Step

ESCAPES = ("escape", "abort", "out")
"""Classes that no operation may have, beside a hang."""

COLUMNS = (*("cases", "right", "wrong", "errors", "escapes", "hangs", "slow", "memory"),)
"""What is counted of each kind: cases."""

MOST_LINES = 80
"""Faults that are printed one by one: one case each, however many have it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One operation of one case that breaks a rule."""

    outcome: Outcome
    step: Step
    rule: str

    @property
    def what(self) -> str:
        """What is the same in every case of the same fault."""
        if self.rule in ("slow", "memory"):
            return f"{self.rule} {self.outcome.kind} {self.step.operation}"
        return f"{self.rule} {self.step.detail.partition(' at ')[2] or self.step.detail[:40]}"


def faults(outcomes: Sequence[Outcome]) -> list[Fault]:
    """Return every breach of a rule."""
    return [Fault(one, step, rule) for one in outcomes for step, rule in _broken(one)]


def _broken(outcome: Outcome) -> Iterator[tuple[Step, str]]:
    for step in outcome.steps:
        if step.kind in (*ESCAPES, "hang"):
            yield step, step.kind
            continue
        if step.is_slow:
            yield step, "slow"
        if step.is_fat:
            yield step, "memory"


def report(outcomes: Sequence[Outcome], seed: int, out: Console) -> int:
    """Print what became of the cases, if there are any; return the exit code."""
    if not outcomes:
        return 0
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_kind[one.kind].append(one)
    heads = "".join(f"{name:>9}" for name in COLUMNS)
    out.print(f"{'whole tables':<20}{heads}{'worst MB':>10}{'allowed':>9}{'worst s':>9}")
    for kind, some in (*by_kind.items(), ("all", list(outcomes))):
        out.print(_line(kind, some), markup=False)
    found = [fault for fault in faults(outcomes) if fault.rule != "slow"]
    grouped: dict[str, list[Fault]] = defaultdict(list)
    for fault in found:
        grouped[fault.what].append(fault)
    for some_faults in sorted(grouped.values(), key=len, reverse=True)[:MOST_LINES]:
        _print_fault(some_faults, seed, out)
    slow = {fault.outcome.case for fault in faults(outcomes)} - {one.outcome.case for one in found}
    if slow:
        out.print(f"slow, which no rule forbids: {len(slow)} cases", markup=False)
    sums = Counter(fault.rule for fault in found)
    told = ", ".join(f"{rule} {count}" for rule, count in sums.items())
    out.print(f"whole tables: {len(outcomes)} cases, {told or 'every rule kept'}", markup=False)
    return 1 if found else 0


def _line(kind: str, some: Sequence[Outcome]) -> str:
    classes = Counter(name for one in some for name in _classes(one))
    cells = "".join(f"{classes[name]:>9}" for name in COLUMNS)
    steps = [step for one in some for step in one.steps]
    worst = max(steps, key=lambda step: step.peak_bytes / step.allowed_bytes)
    slowest = max(step.seconds for step in steps)
    sizes = f"{worst.peak_bytes / 10**6:>10.0f}{worst.allowed_bytes / 10**6:>9.0f}"
    return f"{kind:<20}{cells}{sizes}{slowest:>9.1f}"


def _classes(outcome: Outcome) -> set[str]:
    """Return what a case is counted as: one answer, and each rule that it breaks."""
    rules = {rule for _, rule in _broken(outcome)}
    kinds = {step.kind for step in outcome.steps}
    answer = "wrong" if "wrong" in kinds else "errors" if "err" in kinds else "right"
    found = {"cases"} | (rules & {"slow", "memory"})
    found |= {"escapes"} if rules & set(ESCAPES) else set()
    found |= {"hangs"} if "hang" in rules else set()
    return found if found & {"escapes", "hangs"} else found | {answer}


def _print_fault(some: Sequence[Fault], seed: int, out: Console) -> None:
    first, cases = some[0], len({fault.outcome.case for fault in some})
    step = first.step
    cost = (
        f"{step.seconds:g} s, {step.peak_bytes / 10**6:.0f} of {step.allowed_bytes / 10**6:.0f} MB"
    )
    facts = f"{step.operation}: {step.detail} ({cost}; {first.outcome.told})"
    out.print(f"{cases:>5} cases {first.rule} {' '.join(facts.split())}", markup=False)
    command = "python -m lance_conformance.campaigns.damage --family whole-tables"
    out.print(f"      {command} --seed {seed} --only '{first.outcome.case}'", markup=False)

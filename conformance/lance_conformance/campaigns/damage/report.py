"""Report: the classes side by side, refusals of what the oracle reads right, broken rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from rich.console import Console

from lance_conformance import register
from lance_conformance.campaigns.damage.outcomes import Outcome
from lance_conformance.campaigns.damage.readers import CLASSES, ORACLE, REFERENCE
from lance_conformance.campaigns.damage.rules import broken_rules, structural_shapes

MOST_LINES = 60
"""Broken rules that are printed one by one."""

GROUPINGS: dict[str, Callable[[Outcome], str]] = {
    "target": lambda outcome: outcome.group,
    "damage": lambda outcome: outcome.damage,
    "region": lambda outcome: outcome.region,
    "all": lambda _: "all",
}
"""What the class tables have a line for."""


def report(outcomes: Sequence[Outcome], seed: int, out: Console) -> int:
    """Print what became of the cases; return the exit code."""
    for title, key in GROUPINGS.items():
        _print_classes(outcomes, title, key, out)
    ours = [outcome for outcome in outcomes if outcome.side == REFERENCE.name]
    _print_silent(ours, out)
    unknown = _print_refusals(outcomes, out)
    broken = broken_rules(outcomes)
    for rule, text in broken[:MOST_LINES]:
        out.print(f"{rule} {text}", markup=False)
        if ":" in text:
            command = "python -m lance_conformance.campaigns.damage"
            case = text.partition(": ")[0]
            out.print(f"   {command} --seed {seed} --only '{case}'", markup=False)
    by_rule = Counter(rule for rule, _ in broken)
    kept = [
        f"R{n} {'broken ' + str(by_rule[f'R{n}']) if by_rule[f'R{n}'] else 'kept'}"
        for n in range(1, 9)
    ]
    slowest = max((outcome.judged.seconds for outcome in ours), default=0)
    peak = max((outcome.judged.peak_bytes for outcome in ours), default=0)
    out.print(f"reference: slowest {slowest:g} s, most memory {peak / 2**20:.1f} MiB")
    out.print(f"rules: {', '.join(kept)}")
    return 1 if broken or unknown else 0


def _print_classes(
    outcomes: Sequence[Outcome], title: str, key: Callable[[Outcome], str], out: Console
) -> None:
    counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        counted[key(outcome), outcome.side][outcome.judged.kind] += 1
    heads = "".join(f"{kind:>13}" for kind in CLASSES)
    out.print(f"{title:<24}{'reader':<10}{'n':>7}{heads}", markup=False)
    for (name, side), kinds in sorted(counted.items(), key=lambda item: _order(*item[0])):
        cells = "".join(f"{kinds[kind]:>13}" for kind in CLASSES)
        out.print(f"{name:<24}{side:<10}{kinds.total():>7}{cells}", markup=False)
    out.print()


def _order(name: str, side: str) -> tuple[bool, str, bool]:
    """Sort by name, the sum last, and the oracle below the reference."""
    return name == "all", name, side == ORACLE.name


def _print_silent(ours: Sequence[Outcome], out: Console) -> None:
    """Say which wrong answers nobody could have noticed, and which `validate` reports."""
    wrong = [outcome for outcome in ours if outcome.judged.kind.startswith("silent")]
    hidden = sum(outcome.undetectable for outcome in wrong)
    reported = [outcome for outcome in wrong if outcome.judged.clause]
    out.print(
        f"wrong answers: {len(wrong)}; not detectable, no checksum: {hidden};"
        f" reported by validate: {len(reported)};"
        f" wrong shapes that a reader could see: {structural_shapes(ours)}"
    )
    for clause, count in Counter(outcome.judged.clause for outcome in reported).most_common():
        out.print(f"  {count:>6} {clause}", markup=False)
    told = [o for o in wrong if not o.undetectable and not o.judged.clause]
    for reason, count in Counter(o.explanation for o in told if o.explanation).most_common():
        out.print(f"  {count:>6} {reason}", markup=False)


def _print_refusals(outcomes: Sequence[Outcome], out: Console) -> int:
    """Print the clauses by which we refuse what the oracle reads right; count unknown ones."""
    right = {o.case for o in outcomes if o.side == ORACLE.name and o.judged.kind == "ok"}
    refused = Counter(
        o.judged.clause
        for o in outcomes
        if o.side == REFERENCE.name and o.judged.kind == "err" and o.case in right
    )
    known = register.load()
    out.print(f"refused, though the oracle reads it right: {refused.total()} of {len(right)}")
    for clause, count in refused.most_common():
        note = "" if clause in known else "  NOT IN THE REGISTER"
        out.print(f"  {count:>6} {clause}{note}", markup=False)
    return sum(clause not in known for clause in refused)

"""Damaged files: mutations of every kind of file, read by the reference and by the oracle."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from lance_conformance import register
from lance_conformance.campaigns.child import ask
from lance_conformance.campaigns.damage.outcomes import Bench, Case, Reading, cases_of
from lance_conformance.campaigns.damage.readers import ORACLE, REFERENCE, Side
from lance_conformance.campaigns.damage.rules import (
    OUR_SHAPE,
    THEIR_SHAPE,
    broken_rules,
    foreign_kind,
    line,
)
from lance_conformance.campaigns.damage.targets import find_targets, make_targets
from lance_conformance.campaigns.runner import Outcome, Plan, Session, Verdict
from lance_conformance.oracle import is_installed, lance


@contextmanager
def files(plan: Plan) -> Iterator[Session]:
    """Open the part: an equal share of the mutations of every target, drawn by the seed."""
    folder, sides = plan.folder / "targets", [REFERENCE, *([ORACLE] if is_installed() else [])]
    if not folder.exists():
        _make(folder, plan.seed)
    pa.array([0])  # pyarrow imports pandas here, where it is installed: no child has to
    if ORACLE in sides:
        lance()  # so that no child has to import it
    targets = find_targets(folder)
    share = -(-plan.count // len(targets))
    cases = {one.name: one for target in targets for one in cases_of(target, plan.seed, share)}
    with tempfile.TemporaryDirectory() as scratch:
        benches = Benches(sides, Path(scratch))
        yield Session(cases, lambda name: benches.run(cases[name]))


def _make(folder: Path, seed: int) -> None:
    def question() -> list[str]:
        make_targets(folder, seed, by_oracle=is_installed())
        return ["made"]

    made = ask(question)
    if made.answer is None:
        raise RuntimeError(f"the targets could not be written: {made.told}")


class Benches:
    """The sides, each with an undamaged copy of the target whose mutations are read."""

    def __init__(self, sides: list[Side], scratch: Path) -> None:
        self._sides, self._scratch = sides, scratch
        self._target, self._benches = "", dict[str, Bench]()

    def run(self, case: Case) -> Outcome:
        """Let every side read a case, and judge the reference by the rules."""
        if case.target.id != self._target:
            gc.freeze()  # children copy less
            self._target = case.target.id
            self._benches = {
                side.name: Bench(case.target, side, self._scratch) for side in self._sides
            }
        return judged_case({name: bench.ask(case) for name, bench in self._benches.items()})


def judged_case(readings: dict[str, Reading]) -> Outcome:
    """Return the outcome of a case from what each side made of it.

    The last detail names group and clause of a refusal of a foreign file, for rule R8.
    """
    ours, theirs = readings[REFERENCE.name], readings.get(ORACLE.name)
    counts = {f"{name}: {one.judged.kind}": 1 for name, one in readings.items()}
    counts |= {f"damage: {ours.damage}": 1, f"region: {ours.region}": 1}
    counts |= {OUR_SHAPE: 1} if _is_seen_shape(ours) else {}
    details = [f"{rule} {line(ours)}" for rule in broken_rules(ours)]
    if theirs is not None:
        counts["read by the oracle"] = 1
        counts |= {THEIR_SHAPE: 1} if _is_seen_shape(theirs) else {}
        if theirs.judged.kind == "ok" and ours.judged.kind == "err":
            counts["refused, though the oracle reads it right"] = 1
            if ours.judged.clause not in register.load():
                details.append(f"refused by no clause of the register: {line(ours)}")
    verdict: Verdict = "differed" if details else "agreed"
    if not details and ours.judged.kind.startswith("silent") and ours.explanation:
        return Outcome("known", (ours.explanation,), counts)
    if ours.judged.kind == "err" and foreign_kind(ours.case):
        details.append(f"{ours.group}: {ours.judged.clause}")
    return Outcome(verdict, details, counts)


def _is_seen_shape(reading: Reading) -> bool:
    """Whether rows of a wrong number or schema came from damage that a reader can see."""
    return reading.judged.kind == "silent-shape" and not reading.undetectable

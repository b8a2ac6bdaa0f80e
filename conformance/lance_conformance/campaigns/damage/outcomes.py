"""Outcomes: what each reader made of each case, kept in a file that a campaign resumes from."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import pyarrow as pa

from lance_conformance.campaigns.damage.anatomy import Anatomy
from lance_conformance.campaigns.damage.explained import explanation
from lance_conformance.campaigns.damage.mutations import Mutation, mutations
from lance_conformance.campaigns.damage.readers import (
    Judged,
    Side,
    judge,
    load_expected,
    save_expected,
)
from lance_conformance.campaigns.damage.targets import Damage, Target, damaged_copy


@dataclass(frozen=True, slots=True)
class Case:
    """One mutation of one target."""

    target: Target
    anatomy: Anatomy
    mutation: Mutation

    @property
    def name(self) -> str:
        """Names the case; with the seed it reproduces it."""
        return f"{self.target.id}:{self.mutation.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one side made of one case; `group`, `damage` and `region` sort it into the tables.

    `leaf` names what was damaged, when it is one thing.
    """

    case: str
    side: str
    group: str
    damage: str
    region: str
    leaf: str
    undetectable: bool
    size: int
    judged: Judged

    @property
    def target(self) -> str:
        """Id of the damaged target."""
        return self.case.partition(":")[0]

    @property
    def explanation(self) -> str:
        """Why a wrong answer to the case is allowed, where it is not `undetectable`."""
        return explanation(self.group, self.leaf)


def cases_of(target: Target, seed: int, share: int | None) -> list[Case]:
    """Return the cases of a target; `share` of them, chosen by the seed, unless it is None."""
    anatomy = Anatomy(target.victim.name, target.victim.read_bytes())
    rng = Random(f"{seed} {target.id}")
    cases = [Case(target, anatomy, mutation) for mutation in mutations(anatomy, rng)]
    if share is None or share >= len(cases):
        return cases
    return [cases[number] for number in sorted(rng.sample(range(len(cases)), share))]


class Log:
    """Outcomes in a file of JSON lines; those that are there are not asked for again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[tuple[str, str], Outcome] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                fields = json.loads(line)
                outcome = Outcome(**{**fields, "judged": Judged(**fields["judged"])})
                self._kept[outcome.case, outcome.side] = outcome

    def get(self, case: Case, side: Side) -> Outcome | None:
        """Return what is known of a case."""
        return self._kept.get((case.name, side.name))

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome."""
        self._kept[outcome.case, outcome.side] = outcome
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


class Bench:
    """One target before one side: a copy to damage, and what the undamaged one reads as."""

    def __init__(self, target: Target, side: Side, scratch: Path) -> None:
        folder = scratch / side.name / target.id
        folder.mkdir(parents=True)
        save_expected(side, target, folder / "expected.arrow")
        if side.strict:
            side.read(target)  # imports what it needs here: a child would do it in every case
        self._side = side
        self._damage: Damage = damaged_copy(target, folder)
        self._expected: pa.Table = load_expected(folder / "expected.arrow")

    def ask(self, case: Case) -> Outcome:
        """Damage the copy and let the side read it."""
        anatomy, mutation = case.anatomy, case.mutation
        data, changed = mutation.apply(anatomy.data), mutation.changed(anatomy.data)
        undetectable = anatomy.undetectable(changed)
        judged = judge(self._side, self._damage(data), self._expected, explained=undetectable)
        return Outcome(
            case=case.name,
            side=self._side.name,
            group=case.target.group,
            damage=mutation.kind,
            region=anatomy.region_of(changed),
            leaf=anatomy.leaf_of(changed),
            undetectable=undetectable,
            size=len(data),
            judged=judged,
        )


def ask_all(
    cases: Sequence[Case], sides: Sequence[Side], log: Log, scratch: Path
) -> Iterator[Outcome]:
    """Yield the outcomes of the cases of one target, asking for those the log does not have."""
    gc.freeze()  # children copy less
    for side in sides:
        bench = None
        for case in cases:
            outcome = log.get(case, side)
            if outcome is None:
                bench = bench or Bench(case.target, side, scratch)
                outcome = bench.ask(case)
                log.add(outcome)
            yield outcome

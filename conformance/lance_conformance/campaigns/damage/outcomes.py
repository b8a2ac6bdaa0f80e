"""Outcomes: what each reader made of each mutation of each target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa

from lance_conformance.campaigns.damage.anatomy import Anatomy
from lance_conformance.campaigns.damage.mutations import Mutation, mutations
from lance_conformance.campaigns.damage.readers import (
    Judged,
    Side,
    judge,
    load_expected,
    save_expected,
)
from lance_conformance.campaigns.damage.targets import Damage, Target, damaged_copy
from lance_conformance.known_divergences import find


def explanation(group: str, leaf: str) -> str:
    """Return why a wrong answer is allowed, or nothing.

    Beside the bytes of `undetectable`, whose every change is legal, a few bytes make another legal
    file when they change in the right way. The list of known divergences names each by the group of
    its target and the leaf that owns it.
    """
    known = find("damage/files", group=group, leaf=leaf)
    return "" if known is None else known.reason


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
class Reading:
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

    def ask(self, case: Case) -> Reading:
        """Damage the copy and let the side read it."""
        anatomy, mutation = case.anatomy, case.mutation
        data, changed = mutation.apply(anatomy.data), mutation.changed(anatomy.data)
        undetectable = anatomy.undetectable(changed)
        judged = judge(self._side, self._damage(data), self._expected, explained=undetectable)
        return Reading(
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

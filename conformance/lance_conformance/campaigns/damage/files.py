"""Damaged files: mutations of every kind of file, read by the reference and by the oracle.

The part `flips` flips every byte of small files with three masks, which the reference alone reads;
every n-th case is also validated and explained, and rows of another number must be reported by
`validate`, wherever the byte lies.

What the reference must keep on every damaged file: R1 no exception but a `LanceError`, no abort, no
hang, no lack of memory; R2 a refusal names file, offset, clause, found and wanted; R3 memory within
64 MiB and 16 times the file; R4 two seconds; R5 a flip in padding changes nothing; R6 a wrong
number of rows or another schema, and R7 wrong values, only where the format keeps the bytes without
any means to see a change, where `validate` reports it or the list of known divergences has it, and
all together not more often than with the oracle, and of no topic of cases more than a little; R8 a
file without bytes, one of another format and one of another version are refused by clauses of their
own.
"""

from __future__ import annotations

import gc
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random

import pyarrow as pa
from lanceref_testing.anatomy import PADDING, Anatomy
from lanceref_testing.mutations import FLIP, MASKS, TRUNCATION, Mutation, flip, mutations

from lance_conformance import register, resources
from lance_conformance.campaigns.child import SECONDS, allowed_bytes
from lance_conformance.campaigns.damage.readers import (
    FATAL,
    ORACLE,
    REFERENCE,
    Judged,
    Side,
    judge,
    judge_inspectors,
    load_expected,
    save_expected,
)
from lance_conformance.campaigns.damage.targets import Target, drawn, targets_of
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged
from lance_conformance.cases import load_case
from lance_conformance.known_divergences import find
from lance_conformance.oracle import is_installed, lance

SHAPE_SHARE = 4
"""The oracle may return this many times our wrong shapes from damage a reader can see."""

SUM_CASES = 5000
"""Cases from which on the sums of both sides are compared: those of fewer differ by chance."""

OUR_SHAPE, THEIR_SHAPE = "wrong shapes to see, reference", "wrong shapes to see, oracle"
OUR_VALUES, THEIR_VALUES = "reference: silent", "oracle: silent"
READ_BY_BOTH = "read by the oracle"
"""Counts of a case that the sums are made of."""

SILENT_BY_CHANCE = 2
"""In so many cases of a topic, or one of a hundred, the oracle stumbles where nobody can see."""

UNKNOWN_VERSIONS = ("1.0", "2.4", "3.0", "65535.65535")
"""Version words of no format, whatever the file."""


@dataclass(frozen=True)
class Case:
    """One mutation of one target."""

    target: Target
    anatomy: Anatomy
    mutation: Mutation

    @property
    def name(self) -> str:
        """Names the case; with the seed it reproduces it."""
        return f"{self.target.id}:{self.mutation.name}"

    @cached_property
    def changed(self) -> Sequence[int]:
        """The bytes that are damaged."""
        return self.mutation.changed(self.anatomy.data)

    @property
    def region(self) -> str:
        """Region of what is damaged."""
        return self.anatomy.region_of(self.changed)

    @property
    def undetectable(self) -> bool:
        """Whether nobody can notice a change of what is damaged."""
        return self.anatomy.undetectable(self.changed)

    @property
    def explanation(self) -> str:
        """Why a wrong answer to the case is allowed, where it is not `undetectable`; or nothing.

        A few bytes make another legal file when they change in the right way. The list of known
        divergences names each by the group of its target and the leaf that owns it.
        """
        known = find(
            "damage/files", group=self.target.group, leaf=self.anatomy.leaf_of(self.changed)
        )
        return "" if known is None else known.reason


def cases_of(target: Target, seed: int, share: int) -> list[Case]:
    """Return the cases of a target; no more than `share` of them, chosen by the seed."""
    anatomy = Anatomy(target.victim.name, target.victim.read_bytes())
    rng = Random(f"{seed} {target.id}")
    cases = [Case(target, anatomy, mutation) for mutation in mutations(anatomy, rng)]
    if share >= len(cases):
        return cases
    return [cases[number] for number in sorted(rng.sample(range(len(cases)), share))]


def broken_rules(case: Case, judged: Judged) -> list[str]:
    """Return the rules R1 to R7 that the reference breaks in one case."""
    broken = []
    if judged.kind in (*FATAL, "err-panic"):
        broken.append("R1")
    if judged.kind == "err" and judged.missing:
        broken.append("R2")
    if judged.peak_bytes > allowed_bytes(len(case.mutation.apply(case.anatomy.data))):
        broken.append("R3")
    if judged.seconds > SECONDS:
        broken.append("R4")
    if case.region == PADDING and case.mutation.kind == FLIP and judged.kind != "ok":
        broken.append("R5")
    if not (case.undetectable or judged.clause or case.explanation):
        broken += {"silent-shape": ["R6"], "silent": ["R7"]}.get(judged.kind, [])
    return broken


def foreign_kind(case: str) -> str:
    """Return which kind of foreign file a case makes: empty, wrong magic or version; or nothing."""
    name, _, detail = case.partition(":")[2].partition("@")
    if name == TRUNCATION and int(detail) == 0:
        return "empty"
    if name == "wrong magic":
        return name
    return name if name == "wrong version" and detail in UNKNOWN_VERSIONS else ""


def broken_in_sum(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the rules that all cases together break: R6 and R7 beside the oracle, and R8.

    From `SUM_CASES` cases on the sums are compared with those of the oracle.
    """
    both = [one.counts for one in outcomes.values() if READ_BY_BOTH in one.counts]
    if len(both) >= SUM_CASES:
        found = sum(one.get(OUR_SHAPE, 0) for one in both)
        allowed = sum(one.get(THEIR_SHAPE, 0) for one in both) / SHAPE_SHARE
        if found > allowed:
            yield f"  R6 {found:g} wrong shapes, allowed {allowed:g}"
        yield from _more_wrong_values(outcomes)
    yield from _shared_clauses(outcomes)


def _more_wrong_values(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the topics of which the reference returns more wrong values than the oracle."""
    topics, every = dict[str, Counter[str]](), Counter[str]()
    for case, one in outcomes.items():
        if READ_BY_BOTH in one.counts:
            topics.setdefault("/".join(case.split("/")[1:4]), Counter()).update(one.counts)
            every.update(one.counts)
    for topic, sums in (*topics.items(), ("all topics", every)):
        ours, theirs, cases = sums[OUR_VALUES], sums[THEIR_VALUES], sums[READ_BY_BOTH]
        by_chance = 0 if sums is every else max(SILENT_BY_CHANCE, cases / 100)
        allowed = theirs + by_chance
        if ours > allowed:
            yield f"  R7 {topic}: {ours} wrong values in {cases} cases, the oracle's {theirs}"


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


def line(case: Case, judged: Judged) -> str:
    """Return what one side made of a case, as one line."""
    cost = f"{judged.seconds:g} s, {judged.peak_bytes // 2**20} MiB"
    facts = (judged.kind, case.region, judged.missing, judged.detail, cost)
    return "; ".join(" ".join(fact.split()) for fact in facts if fact)


SHARE = 40
"""Mutations of each target, of some three hundred."""


def files(plan: Plan) -> Iterator[Session]:
    """Open the part: mutations of as many targets as that takes, all drawn by the seed."""
    sides, cases = [REFERENCE, *([ORACLE] if is_installed() else [])], dict[str, Case]()
    if ORACLE in sides:
        lance()  # so that no child has to import it

    def names() -> Iterator[str]:
        for target in islice(drawn(plan.seed), -(-plan.count // SHARE)):
            own = {one.name: one for one in cases_of(target, plan.seed, min(SHARE, plan.count))}
            cases.update(own)
            yield from own

    with tempfile.TemporaryDirectory() as scratch:
        benches = Benches(sides, Path(scratch))
        yield Session(names(), lambda name: judged_case(cases[name], benches.ask(cases[name])))


class Benches:
    """The sides, each with a copy of a target to damage, and what the undamaged one reads as."""

    def __init__(self, sides: Sequence[Side], scratch: Path) -> None:
        pa.array([0])  # pyarrow imports pandas here, where it is installed: no child has to
        self._sides, self._scratch, self._target = sides, scratch, ""
        self._benches: list[tuple[Side, Target, pa.Table]] = []

    def ask(self, case: Case, *, inspect: bool = False) -> dict[str, Judged]:
        """Let every side read a case, or inspect it; return by its name what it made of it."""
        if case.target.id != self._target:
            gc.freeze()  # children copy less
            self._target = case.target.id
            self._benches = list(self._opened(case.target))
        found = {}
        for side, copy, expected in self._benches:
            copy.victim.write_bytes(case.mutation.apply(case.anatomy.data))
            found[side.name] = (
                judge_inspectors(copy)
                if inspect
                else judge(side, copy, expected, explained=case.undetectable)
            )
        return found

    def _opened(self, target: Target) -> Iterator[tuple[Side, Target, pa.Table]]:
        """Yield the sides that can read a target, with a copy of it."""
        for side in self._sides:
            folder = self._scratch / side.name / target.id
            folder.mkdir(parents=True)
            if not save_expected(side, target, folder / "expected.arrow"):
                continue
            if side.strict:
                side.read(target)  # imports what it needs here: a child would do it in every case
            yield side, target.copied(folder), load_expected(folder / "expected.arrow")


def judged_case(case: Case, found: Mapping[str, Judged]) -> Outcome:
    """Return the outcome of a case from what each side made of it.

    The last detail names group and clause of a refusal of a foreign file, for rule R8.
    """
    ours, theirs = found[REFERENCE.name], found.get(ORACLE.name)
    counts = {f"{name}: {one.kind}": 1 for name, one in found.items()}
    counts |= {f"damage: {case.mutation.kind}": 1, f"region: {case.region}": 1}
    shapes = [name for name, one in found.items() if one.kind == "silent-shape"]
    counts |= {f"wrong shapes to see, {name}": 1 for name in shapes if not case.undetectable}
    details = [f"{rule} {line(case, ours)}" for rule in broken_rules(case, ours)]
    if theirs is not None:
        counts[READ_BY_BOTH] = 1
        if theirs.kind == "ok" and ours.kind == "err":
            counts["refused, though the oracle reads it right"] = 1
            if ours.clause not in register.load():
                details.append(f"refused by no clause of the register: {line(case, ours)}")
    if not details and ours.kind.startswith("silent") and case.explanation:
        return Outcome("known", (case.explanation,), counts)
    is_foreign = ours.kind == "err" and foreign_kind(case.name)
    more = [f"{case.target.group}: {ours.clause}"] if is_foreign else []
    return Outcome("differed" if details else "agreed", [*details, *more], counts)


FLIPPED = {
    "file": (
        *("file/2.0/binary/string", "file/2.0/dictionary/automatic", "file/2.0/flat/int32"),
        *("file/2.0/list/int32", "file/2.1/fullzip/nullable", "file/2.1/levels/list"),
        *("file/2.1/miniblock/int32", "file/2.1/variable/string", "file/2.2/bitpack/32"),
        "file/2.2/dictionary/string",
    ),
    "data file": (
        *("file/0.1/container/batches", "file/0.1/dictionary/strings", "file/0.1/list/of-structs"),
        *("file/0.1/plain/vectors-of-bools", "file/0.1/statistics/strings"),
    ),
    "manifest": ("table/any/manifest/plain",),
    "deletion file": ("table/any/deletions/arrow", "table/any/deletions/bitmap"),
}
"""Cases whose bytes are flipped, by the group of the target."""

INSPECT_EVERY = 20
"""Every so many flips the file is also validated and explained."""


def _all_flips() -> Iterator[Case]:
    root = resources.fixtures()
    for group, ids in FLIPPED.items():
        for case_id in ids:
            found = targets_of(load_case(root / case_id / "case.json", root))
            target = next(one for one in found if one.group.startswith(group))
            anatomy = Anatomy(target.victim.name, target.victim.read_bytes())
            for at in range(len(anatomy.data)):
                for mask in MASKS:
                    yield Case(target, anatomy, flip(anatomy.data, at, mask))


def flips(plan: Plan) -> Iterator[Session]:
    """Open the part: as many flips as are planned, evenly spread over the files."""
    every, chosen = max(1, sum(1 for _ in _all_flips()) // plan.count), dict[str, Case]()
    for number, case in enumerate(islice(_all_flips(), 0, None, every)):
        chosen[f"{case.name}:read"] = case
        if number % INSPECT_EVERY == 0:
            chosen[f"{case.name}:inspect"] = case
    with tempfile.TemporaryDirectory() as folder:
        benches = Benches([REFERENCE], Path(folder))

        def run(name: str) -> Outcome:
            case, question = chosen[name], name.rpartition(":")[2]
            (found,) = benches.ask(case, inspect=question == "inspect").values()
            broken = [f"{rule} {line(case, found)}" for rule in broken_rules(case, found)]
            if found.kind == "silent-shape" and "rows" in found.detail and not found.clause:
                broken.append(f"R6 {line(case, found)}")
            return judged(broken, counts={f"{question}: {found.kind}": 1})

        yield Session(chosen, run)


PARTS = (Part("files", 20_000, files, conclude=broken_in_sum), Part("flips", 60_000, flips))

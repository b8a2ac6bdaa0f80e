"""Damaged files: mutations of every kind of file, read by the reference and by the oracle.

The part `flips` flips every byte of small files with three masks, for the reference alone; every
n-th case is also validated and explained, and `validate` must report a wrong number of rows,
whichever byte was flipped.

Rules for the reference on every damaged file: R1 no exception but a `LanceError`, no abort, no
hang, no lack of memory; R2 a refusal names file, offset, clause, found and wanted; R3 memory within
64 MiB and 16 times the file; R4 two seconds; R5 a flip in padding changes nothing; R6 a wrong
number of rows or another schema, and R7 wrong values, only where the format cannot detect the
change, where `validate` reports it, or where it is a known divergence; in total not more often than
the oracle, and for each topic of cases hardly more often; R8 an empty file, one of another format
and one of another version are refused by different clauses.
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

from lance_conformance import resources
from lance_conformance.campaigns.child import SECONDS, allowed_bytes
from lance_conformance.campaigns.damage.readers import (
    FATAL,
    ORACLE,
    REFERENCE,
    Reader,
    Reading,
    inspect_target,
    load_expected,
    read_target,
    save_expected,
)
from lance_conformance.campaigns.damage.targets import Target, draw_targets, targets_of
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, outcome_of
from lance_conformance.oracle import is_installed, lance
from lance_conformance.specification import register
from lance_conformance.specification.known_divergences import find
from lance_conformance.suite.cases import load_case

SHAPE_SHARE = 4
"""The oracle's detectable wrong shapes, divided by this, limit those of the reference."""

SUM_CASES = 5000
"""Number of cases from which the sums of both readers are compared; smaller sums are random."""

OUR_SHAPE, THEIR_SHAPE = "detectable wrong shapes, reference", "detectable wrong shapes, oracle"
OUR_VALUES, THEIR_VALUES = "reference: silent", "oracle: silent"
READ_BY_BOTH = "read by the oracle"
"""Counts of a case that are summed."""

RANDOM_EXCESS = 2
"""Cases of a topic, or one of a hundred, by which the reference may exceed the oracle."""

UNKNOWN_VERSIONS = ("1.0", "2.4", "3.0", "65535.65535")
"""Version words that no version of the format has."""


@dataclass(frozen=True)
class Case:
    """One mutation of one target."""

    target: Target
    anatomy: Anatomy
    mutation: Mutation

    @property
    def name(self) -> str:
        """Name of the case, which reproduces it together with the seed."""
        return f"{self.target.id}:{self.mutation.name}"

    @cached_property
    def changed(self) -> Sequence[int]:
        """Offsets of the damaged bytes."""
        return self.mutation.changed(self.anatomy.data)

    @property
    def region(self) -> str:
        """Region of the damaged bytes."""
        return self.anatomy.region_of(self.changed)

    @property
    def undetectable(self) -> bool:
        """Whether no reader can detect a change of the damaged bytes."""
        return self.anatomy.undetectable(self.changed)

    @property
    def explanation(self) -> str:
        """Why wrong rows are allowed although the change is detectable; empty where they are not.

        Some changes result in another legal file. The known divergences list them by the group of
        the target and the leaf that owns the bytes.
        """
        known = find(
            "damage/files", group=self.target.group, leaf=self.anatomy.leaf_of(self.changed)
        )
        return "" if known is None else known.reason


def cases_of(target: Target, seed: int, share: int) -> list[Case]:
    """Return at most `share` cases of a target, chosen by the seed."""
    anatomy = Anatomy(target.path.name, target.path.read_bytes())
    rng = Random(f"{seed} {target.id}")
    cases = [Case(target, anatomy, mutation) for mutation in mutations(anatomy, rng)]
    if share >= len(cases):
        return cases
    return [cases[number] for number in sorted(rng.sample(range(len(cases)), share))]


def broken_rules(case: Case, reading: Reading) -> list[str]:
    """Return the rules R1 to R7 that the reference breaks in one case."""
    broken = []
    if reading.kind in (*FATAL, "err-panic"):
        broken.append("R1")
    if reading.kind == "err" and reading.missing:
        broken.append("R2")
    if reading.peak_bytes > allowed_bytes(len(case.mutation.apply(case.anatomy.data))):
        broken.append("R3")
    if reading.seconds > SECONDS:
        broken.append("R4")
    if case.region == PADDING and case.mutation.kind == FLIP and reading.kind != "ok":
        broken.append("R5")
    if not (case.undetectable or reading.clause or case.explanation):
        broken += {"silent-shape": ["R6"], "silent": ["R7"]}.get(reading.kind, [])
    return broken


def foreign_kind(case: str) -> str:
    """Return the kind of foreign file of a case: empty, wrong magic, wrong version; or nothing."""
    name, _, detail = case.partition(":")[2].partition("@")
    if name == TRUNCATION and int(detail) == 0:
        return "empty"
    if name == "wrong magic":
        return name
    return name if name == "wrong version" and detail in UNKNOWN_VERSIONS else ""


def broken_in_sum(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the rules that all cases together break: R6 and R7 compared with the oracle, and R8.

    R6 and R7 are checked from `SUM_CASES` cases.
    """
    both = [one.counts for one in outcomes.values() if READ_BY_BOTH in one.counts]
    if len(both) >= SUM_CASES:
        shapes = sum(one.get(OUR_SHAPE, 0) for one in both)
        allowed = sum(one.get(THEIR_SHAPE, 0) for one in both) / SHAPE_SHARE
        if shapes > allowed:
            yield f"  R6 {shapes:g} wrong shapes, allowed {allowed:g}"
        yield from _more_wrong_values(outcomes)
    yield from _shared_clauses(outcomes)


def _more_wrong_values(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the topics in which the reference returns more wrong values than the oracle."""
    topics, every = dict[str, Counter[str]](), Counter[str]()
    for case, one in outcomes.items():
        if READ_BY_BOTH in one.counts:
            topics.setdefault("/".join(case.split("/")[1:4]), Counter()).update(one.counts)
            every.update(one.counts)
    for topic, sums in (*topics.items(), ("all topics", every)):
        ours, theirs, cases = sums[OUR_VALUES], sums[THEIR_VALUES], sums[READ_BY_BOTH]
        excess = 0 if sums is every else max(RANDOM_EXCESS, cases / 100)
        if ours > theirs + excess:
            yield f"  R7 {topic}: {ours} wrong values in {cases} cases, the oracle's {theirs}"


def _shared_clauses(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the clauses that refuse several kinds of foreign file of one group (R8)."""
    cases: dict[str, dict[str, str]] = {}
    for case, one in outcomes.items():
        kind = foreign_kind(case)
        if kind and one.details:
            cases.setdefault(one.details[-1], {})[kind] = case
    for clause, kinds in cases.items():
        if len(kinds) > 1:
            yield f"  R8 {clause} for {', '.join(sorted(kinds.values()))}"


def line(case: Case, reading: Reading) -> str:
    """Return the reading of a case as one line."""
    cost = f"{reading.seconds:g} s, {reading.peak_bytes // 2**20} MiB"
    facts = (reading.kind, case.region, reading.missing, reading.detail, cost)
    return "; ".join(" ".join(fact.split()) for fact in facts if fact)


SHARE = 40
"""Mutations of each target, of about three hundred."""


def files(plan: Plan) -> Iterator[Session]:
    """Open the part: mutations of as many targets as the plan needs, drawn by the seed."""
    readers, cases = [REFERENCE, *([ORACLE] if is_installed() else [])], dict[str, Case]()
    if ORACLE in readers:
        lance()  # so that no child has to import it

    def names() -> Iterator[str]:
        for target in islice(draw_targets(plan.seed), -(-plan.count // SHARE)):
            chosen = cases_of(target, plan.seed, min(SHARE, plan.count))
            cases.update({one.name: one for one in chosen})
            yield from (one.name for one in chosen)

    with tempfile.TemporaryDirectory() as scratch:
        readings = CaseReader(readers, Path(scratch))
        yield Session(names(), lambda name: case_outcome(cases[name], readings.read(cases[name])))


class CaseReader:
    """Reads damaged copies of a target with each reader, and keeps the undamaged rows."""

    def __init__(self, readers: Sequence[Reader], scratch: Path) -> None:
        pa.array([0])  # pyarrow imports pandas here, if installed, so that no child has to
        self._readers, self._scratch, self._target = readers, scratch, ""
        self._copies: list[tuple[Reader, Target, pa.Table]] = []

    def read(self, case: Case, *, inspect: bool = False) -> dict[str, Reading]:
        """Read or inspect a case with every reader; return the readings by reader."""
        if case.target.id != self._target:
            gc.freeze()  # children copy less
            self._target = case.target.id
            self._copies = list(self._copy(case.target))
        readings = {}
        for reader, copy, expected in self._copies:
            copy.path.write_bytes(case.mutation.apply(case.anatomy.data))
            readings[reader.name] = (
                inspect_target(copy)
                if inspect
                else read_target(reader, copy, expected, undetectable=case.undetectable)
            )
        return readings

    def _copy(self, target: Target) -> Iterator[tuple[Reader, Target, pa.Table]]:
        """Yield the readers that can read a target, each with a copy and the expected rows."""
        for reader in self._readers:
            folder = self._scratch / reader.name / target.id
            folder.mkdir(parents=True)
            if not save_expected(reader, target, folder / "expected.arrow"):
                continue
            if reader.strict:
                reader.read(target)  # imports here what each child would import
            yield reader, target.copy_to(folder), load_expected(folder / "expected.arrow")


def case_outcome(case: Case, readings: Mapping[str, Reading]) -> Outcome:
    """Return the outcome of a case from its readings by name of the reader.

    The last detail names group and clause of a refusal of a foreign file, for rule R8.
    """
    ours, theirs = readings[REFERENCE.name], readings.get(ORACLE.name)
    counts = {f"{name}: {one.kind}": 1 for name, one in readings.items()}
    counts |= {f"damage: {case.mutation.kind}": 1, f"region: {case.region}": 1}
    shapes = [name for name, one in readings.items() if one.kind == "silent-shape"]
    counts |= {f"detectable wrong shapes, {name}": 1 for name in shapes if not case.undetectable}
    details = [f"{rule} {line(case, ours)}" for rule in broken_rules(case, ours)]
    if theirs is not None:
        counts[READ_BY_BOTH] = 1
        if theirs.kind == "ok" and ours.kind == "err":
            counts["refused, the oracle reads it correctly"] = 1
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
"""Number of flips of which one is also validated and explained."""


def _all_flips() -> Iterator[Case]:
    root = resources.fixtures()
    for group, ids in FLIPPED.items():
        for case_id in ids:
            targets = targets_of(load_case(root / case_id / "case.json", root))
            target = next(one for one in targets if one.group.startswith(group))
            anatomy = Anatomy(target.path.name, target.path.read_bytes())
            for at in range(len(anatomy.data)):
                for mask in MASKS:
                    yield Case(target, anatomy, flip(anatomy.data, at, mask))


def flips(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of flips, evenly spread over the files."""
    every, chosen = max(1, sum(1 for _ in _all_flips()) // plan.count), dict[str, Case]()
    for number, case in enumerate(islice(_all_flips(), 0, None, every)):
        chosen[f"{case.name}:read"] = case
        if number % INSPECT_EVERY == 0:
            chosen[f"{case.name}:inspect"] = case
    with tempfile.TemporaryDirectory() as folder:
        readings = CaseReader([REFERENCE], Path(folder))

        def run(name: str) -> Outcome:
            case, action = chosen[name], name.rpartition(":")[2]
            (reading,) = readings.read(case, inspect=action == "inspect").values()
            broken = [f"{rule} {line(case, reading)}" for rule in broken_rules(case, reading)]
            if reading.kind == "silent-shape" and "rows" in reading.detail and not reading.clause:
                broken.append(f"R6 {line(case, reading)}")
            return outcome_of(broken, {f"{action}: {reading.kind}": 1})

        yield Session(chosen, run)


PARTS = (Part("files", 20_000, files, conclude=broken_in_sum), Part("flips", 60_000, flips))

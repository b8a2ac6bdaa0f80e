"""Goals: what the figures are held against.

A goal speaks of one or more measures over some tables; it is judged per file version, by the
worst table or by the geometric mean of all. The floor is where a strict run fails; where there is
no other it is the goal.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.tables import TABLES

LATER = ("2.0", "2.1", "2.2", "2.3")
"""Versions whose files both sides open by themselves."""

EVERY = ("0.1", *LATER)

FSST = "strhigh"
"""The table whose strings the oracle stores with FSST."""

RUN_MIB = 4
"""Decoded MiB that a scan of the reference yields at a time."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a measure must reach: at least `goal`, or at most where `at_most`.

    `mean` judges by the geometric mean and not by the worst table; `absolute` judges the
    reference's own figure and not the ratio. Other versions than `versions` are not judged.
    """

    name: str
    title: str
    measures: tuple[str, ...]
    goal: float
    floor: float
    versions: tuple[str, ...] = LATER
    tables: tuple[str, ...] = tuple(TABLES)
    mean: bool = False
    at_most: bool = False
    absolute: bool = False

    def reached(self, value: float, limit: float) -> bool:
        """Whether a value is as good as a limit."""
        return value <= limit if self.at_most else value >= limit


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal judged in one version: the value that counts and the table it comes from."""

    goal: Goal
    version: str
    value: float
    table: str
    mean: float

    @property
    def word(self) -> str:
        """`goal`, `floor` or `below`: how far the value gets."""
        if self.goal.reached(self.value, self.goal.goal):
            return "goal"
        return "floor" if self.goal.reached(self.value, self.goal.floor) else "below"


def _of_kernels(numpy: float, compiled: float) -> float:
    """Return the value that counts here: another one where the compiled kernels are installed."""
    return compiled if find_spec("numba") else numpy


FIXED = ("i32seq", "i32small", "i64rand", "f32")

COPIED = ("i64rand", "f32", "fsl128", "bool", "binlong")
"""Tables whose values are stored as they are in memory."""

COUNTS = ("take requests", "take bytes", "row requests", "row bytes")

SCANNED = ("IVF_PQ", "IVF_RQ", "IVF_SQ")
BUILT = ("IVF_PQ", "IVF_HNSW_SQ")
"""Vector indices whose queries, and whose training, are judged."""

GOALS = (
    Goal(
        "P1",
        "scan, mean of all tables",
        ("scan",),
        _of_kernels(1.3, 1.8),
        _of_kernels(1.0, 1.3),
        ("2.1",),
        mean=True,
    ),
    Goal("P1 default", "scan at the default size", ("default scan",), 2, 2, ("2.1",), mean=True),
    Goal(
        "P2",
        "scan, worst table but FSST",
        ("scan",),
        _of_kernels(0.6, 1.0),
        _of_kernels(0.6, 1.0),
        ("2.0", "2.1", "2.2"),
        tuple(name for name in TABLES if name != FSST),
    ),
    Goal(
        "P3",
        "scan, FSST strings",
        ("scan",),
        _of_kernels(0.35, 1.2),
        _of_kernels(0.2, 0.8),
        LATER[1:],
        (FSST,),
    ),
    Goal("P4", "scan, values stored plainly", ("scan",), 2.5, 1.5, LATER, COPIED, mean=True),
    Goal("P5", "scan of 0.1, fixed width", ("scan",), 10, 3, ("0.1",), FIXED),
    Goal("P6", "1 000 random rows", ("take",), 2, 0.7, EVERY),
    Goal("P7", "requests and bytes of rows", COUNTS, 1, 1, EVERY, at_most=True),
    Goal(
        "P8",
        "MiB that a scan needs",
        ("memory",),
        32 + 2 * RUN_MIB,
        32 + 2 * RUN_MIB,
        at_most=True,
        absolute=True,
    ),
    Goal("P9", "requests and bytes to open", ("open requests", "open bytes"), 1, 1, at_most=True),
    Goal("P10", "write", ("write",), 0.7, 0.3, EVERY),
    Goal(
        "P11", "queries of vector indices", ("query",), _of_kernels(0.5, 1.0), 0.5, ("",), SCANNED
    ),
    Goal(
        "P12", "building a graph", ("build",), _of_kernels(0.5, 1.0), 0.3, ("",), ("IVF_HNSW_SQ",)
    ),
    Goal("P13", "training a product quantizer", ("build",), 3, 1, ("",), ("IVF_PQ",)),
    Goal("P13 recall", "recall of what was built", ("recall",), 0.98, 0.95, ("",), BUILT),
    Goal("P14", "seconds of the import", ("import",), 0.25, 0.25, ("",), ("",), False, True, True),
)
"""The goals that are measured here."""


def judge(goals: Iterable[Goal], figures: list[Figure]) -> Iterator[Verdict]:
    """Yield a verdict for every goal and version that figures are there for."""
    for goal in goals:
        for version in goal.versions:
            values = {
                f"{figure.table} {figure.measure}" if len(goal.measures) > 1 else figure.table: (
                    figure.ours if goal.absolute else figure.ratio
                )
                for figure in figures
                if figure.measure in goal.measures
                and figure.version == version
                and figure.table in goal.tables
            }
            if values:
                yield _judge(goal, version, values)


def _judge(goal: Goal, version: str, values: dict[str, float]) -> Verdict:
    worst = (max if goal.at_most else min)(values, key=lambda name: values[name])
    mean = statistics.geometric_mean([max(value, 1e-9) for value in values.values()])
    return Verdict(goal, version, mean if goal.mean else values[worst], worst, mean)

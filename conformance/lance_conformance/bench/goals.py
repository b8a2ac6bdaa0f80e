"""Goals: required values of figures.

A goal applies to one or more measures of some tables; each file version is judged by the worst
table or by the geometric mean of all. A strict run fails below the floor, which may equal the goal.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.tables import TABLES

LATER = ("2.0", "2.1", "2.2", "2.3")
"""Versions whose files both implementations open without a dataset."""

EVERY = ("0.1", *LATER)

FSST = "strhigh"
"""Table with strings that the oracle compresses by FSST."""

RUN_MIB = 4
"""Decoded MiB of a step of a scan of the reference."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Required value of a measure: at least `goal`, or at most with `at_most`.

    With `mean` the geometric mean is judged, not the worst table; with `absolute` the value of the
    reference, not the ratio. Only `versions` are judged.
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
    """The verdict on a goal in one version: the judged value and the worst table."""

    goal: Goal
    version: str
    value: float
    table: str
    mean: float

    @property
    def word(self) -> str:
        """`goal`, `floor` or `below`: the limit that the value reaches."""
        if self.goal.reached(self.value, self.goal.goal):
            return "goal"
        return "floor" if self.goal.reached(self.value, self.goal.floor) else "below"


def _by_kernels(numpy: float, compiled: float) -> float:
    """Return the value for the installed kernels."""
    return compiled if find_spec("numba") else numpy


FIXED = ("i32seq", "i32small", "i64rand", "f32")

COPIED = ("i64rand", "f32", "fsl128", "bool", "binlong")
"""Tables with values that are stored as in memory."""

COUNTS = ("take requests", "take bytes", "row requests", "row bytes")

QUERY_TYPES = ("IVF_PQ", "IVF_RQ", "IVF_SQ")
BUILD_TYPES = ("IVF_PQ", "IVF_HNSW_SQ")
"""Types of vector indices with goals for queries, and for builds."""

GOALS = (
    Goal(
        "P1",
        "scan, mean of all tables",
        ("scan",),
        _by_kernels(1.3, 1.8),
        _by_kernels(1.0, 1.3),
        ("2.1",),
        mean=True,
    ),
    Goal("P1 default", "scan at the default size", ("default scan",), 2, 2, ("2.1",), mean=True),
    Goal(
        "P2",
        "scan, worst table but FSST",
        ("scan",),
        _by_kernels(0.6, 1.0),
        _by_kernels(0.6, 1.0),
        ("2.0", "2.1", "2.2"),
        tuple(name for name in TABLES if name != FSST),
    ),
    Goal(
        "P3",
        "scan, FSST strings",
        ("scan",),
        _by_kernels(0.35, 1.2),
        _by_kernels(0.2, 0.8),
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
        "P11",
        "queries of vector indices",
        ("query",),
        _by_kernels(0.5, 1.0),
        0.5,
        ("",),
        QUERY_TYPES,
    ),
    Goal(
        "P12", "building a graph", ("build",), _by_kernels(0.5, 1.0), 0.3, ("",), ("IVF_HNSW_SQ",)
    ),
    Goal("P13", "training a product quantizer", ("build",), 3, 1, ("",), ("IVF_PQ",)),
    Goal("P13 recall", "recall of what was built", ("recall",), 0.98, 0.95, ("",), BUILD_TYPES),
    Goal("P14", "seconds of the import", ("import",), 0.25, 0.25, ("",), ("",), False, True, True),
)
"""All goals."""


def judge(goals: Iterable[Goal], figures: list[Figure]) -> Iterator[Verdict]:
    """Yield a verdict for every goal and version with figures."""
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

"""Cases: each type of index with each type of numbers and each metric; tables and questions.

A table with an index over vectors is made by either implementation, and asked for the rows nearest
to vectors. What the oracle is known to answer wrong is not asked: each place names its divergence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from types import ModuleType
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pylanceref.arrow import BFloat16Array

Element = Literal["f16", "f32", "f64", "bf16", "u8"]
Life = Literal["plain", "gaps", "several", "changed"]
Side = Literal["oracle", "reference"]

_CODED = ("FLAT", "PQ", "SQ")

TYPES = ("IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", *(f"IVF_HNSW_{one}" for one in _CODED))

FLOATS: tuple[Element, ...] = ("f16", "f32", "f64", "bf16")

FLOATING = ("l2", "cosine", "dot")
"""Metrics of floats."""

PAIRS: tuple[tuple[str, Element], ...] = (
    *product(FLOATING, FLOATS),
    ("hamming", "u8"),
    ("l2", "u8"),
    ("hamming", "f32"),
)
"""Metrics and numbers; the last two, and those of bf16, are refused."""

VERSIONS = ("2.0", "2.1", "2.2", "2.3")

LIVES: tuple[Life, ...] = ("plain", "gaps", "several", "changed")
"""Rows as they are; with nulls, NaN, infinities and 0; with several vectors each; some deleted and
others added, and the index brought up to date."""

SIDES: tuple[Side, ...] = ("oracle", "reference")
"""Who makes table and index."""


@dataclass(frozen=True, slots=True)
class Case:
    """A table with an index."""

    type: str
    metric: str
    element: Element
    version: str
    life: Life
    side: Side

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return "/".join((self.type, self.metric, self.element, self.version, self.life, self.side))

    @property
    def legal(self) -> bool:
        """Whether there are such indices."""
        fits = (self.metric == "hamming") == (self.element == "u8") and self.element != "bf16"
        fits = fits and (self.life != "several" or self.metric == "cosine")
        return fits and (self.element != "u8" or self.type in ("IVF_FLAT", "IVF_HNSW_FLAT"))

    @property
    def graphs(self) -> bool:
        """Whether partitions have graphs."""
        return "HNSW" in self.type


def cases() -> Iterator[Case]:
    """Yield every case."""
    for type_, pair, version, life, side in product(TYPES, PAIRS, VERSIONS, LIVES, SIDES):
        yield Case(type_, *pair, version, life, side)


DTYPES: dict[Element, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "u8": np.uint8,
}
"""Numbers as NumPy has them."""

PLACES = 6
"""Places around which vectors lie."""

Vectors = NDArray[Any]


class Maker:
    """Makes one table; the vectors of all rows that were ever in it are kept.

    A seed decides what the table is like: its rows and files, how many rows share a vector
    (`repeated`), its `index`, and the `steps`, words of `STEPS`, that are done to it.
    """

    def __init__(self, case: Case, seed: int) -> None:
        rng = Random(f"{case.name} {seed}")
        self.case, self.rng = case, np.random.default_rng(rng.randrange(1 << 32))
        self._rows = rng.choice([rng.randint(2, 40), rng.randint(256, 600), rng.randint(256, 600)])
        if not case.legal:  # of few rows the oracle makes what it cannot update
            self._rows = rng.randint(320, 600)
        widths = [8, 16, 16, 16] if "RQ" in case.type else [16, 16, 16, 16, 1, 3, 8, 8]
        width = rng.choice([*widths, 24, 128])
        self.index = self._drawn_index(rng, width)
        self._repeated, self._file_rows = rng.choice([1, 1, 1, 3]), rng.choice([150, 1000])
        self.stable_ids = rng.random() < 0.3
        changes = ["delete", "insert", *rng.choices([*STEPS], k=rng.randint(1, 3))]
        if self.stable_ids:  # D.index.vector-compacted-ids
            changes = [step for step in changes if step != "compact"]
        self.steps = changes if case.life == "changed" else []
        self._places = self.rng.normal(size=(PLACES, width)) * 2
        self._made = 0
        self.vectors: Vectors = np.empty((0, width), DTYPES[case.element])

    def _drawn_index(self, rng: Random, width: int) -> dict[str, object]:
        """Return the parameters of the index of vectors of a width."""
        rows, type_ = self._rows, self.case.type
        index: dict[str, object] = {"num_partitions": rng.choice([1, 2, 4, 7]) if rows > 40 else 1}
        if "PQ" in type_:
            bits = rng.choice([8, 8, 4]) if rows >= 256 else 4
            even = [parts for parts in (2, 4, 8) if width % parts == 0]
            parts = even if bits == 4 and even else [1, *even]
            index |= {"num_sub_vectors": rng.choice(parts), "num_bits": bits}
        if "RQ" in type_:
            index["num_bits"] = rng.choice([1, 2, 5, 9])
        if self.case.graphs:
            index |= {"m": rng.choice([4, 12, 20]), "ef_construction": rng.choice([20, 60, 150])}
        return index

    @property
    def told(self) -> str:
        """What the table is like."""
        ids = "stable ids" if self.stable_ids else "addresses"
        sizes = f"{self._rows} rows of {self.vectors.shape[1]}, {self._repeated} alike"
        return f"{sizes}, {ids}, {self.index}, {self.steps}"

    def make(self, module: ModuleType, path: str) -> None:
        """Write the table, build its index. Raises what `module` raises."""
        case = self.case
        module.write_dataset(
            self.table(self._rows),
            path,
            data_storage_version=case.version,
            max_rows_per_file=self._file_rows,
            enable_stable_row_ids=self.stable_ids,
        )
        module.dataset(path).create_index("v", case.type, metric=case.metric, **self.index)

    def table(self, rows: int) -> pa.Table:
        """Return so many new rows: their numbers, and vectors."""
        case, rng = self.case, self.rng
        mask = rng.random(rows) < 0.07 if case.life == "gaps" else np.zeros(rows, np.bool_)
        if case.life == "several":
            sizes = rng.integers(0, 5, rows)
            sizes[0] = 3
            ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
            inner = self._vectors(self._drawn_vectors(int(ends[-1])), None)
            column = pa.ListArray.from_arrays(pa.array(ends), inner)
        else:
            column = self._vectors(self._drawn_vectors(rows), mask)
        numbers = np.arange(self._made, self._made + rows)
        self._made += rows
        return pa.table({"i": numbers, "v": column})

    def _drawn_vectors(self, count: int) -> Vectors:
        """Return new vectors [count, width]: some rows share theirs, some have odd numbers."""
        rng, width, case = self.rng, self.vectors.shape[1], self.case
        own = -(-count // self._repeated)
        if case.element == "u8":
            found: Vectors = rng.integers(0, 256, (own, width)).astype(np.uint8)
        else:
            near = self._places[rng.integers(0, PLACES, own)]
            found = (near + rng.normal(size=(own, width)) * 0.4).astype(np.float32)
            if case.life == "gaps":
                odd = rng.choice([np.nan, np.inf, -np.inf, 0.0], own)
                rare = rng.random(own)
                found[rare < 0.03] = odd[rare < 0.03, None]
                found[rare > 0.97, rng.integers(0, width)] = odd[rare > 0.97]
        found = np.tile(found, (self._repeated, 1))[:count].astype(DTYPES[case.element])
        self.vectors = np.concatenate([self.vectors, found])
        return found

    def _vectors(self, values: Vectors, mask: NDArray[np.bool_] | None) -> pa.Array:
        """Return vectors [n, width] as a column."""
        make = BFloat16Array.from_numpy if self.case.element == "bf16" else pa.array
        null = None if mask is None else pa.array(mask)
        width = self.vectors.shape[1]
        return pa.FixedSizeListArray.from_arrays(make(values.ravel()), width, mask=null)


STEPS: dict[str, Callable[[Any, Maker], object]] = {
    "delete": lambda dataset, maker: dataset.delete(f"i % {maker.rng.choice([3, 7])} = 1"),
    "insert": lambda dataset, maker: dataset.insert(maker.table(int(maker.rng.integers(1, 200)))),
    "optimize": lambda dataset, _: dataset.optimize.optimize_indices(),
    "delta": lambda dataset, _: dataset.optimize.optimize_indices(num_indices_to_merge=0),
    "compact": lambda dataset, _: dataset.optimize.compact_files(target_rows_per_fragment=10_000),
}
"""What is done to a table that has an index; new rows are the maker's."""


FILTERS = ("i % 3 = 0", "i % 17 = 0", "i < 40", "i >= 100")

RANGES = ((None, 0.6), (0.2, 0.9), (0.3, None))
"""Ranges of distances, as shares of the distance of a row that is far."""

ALL = 2000
"""More rows than a table has."""

DEFAULT_K = 10

ROOM, STEP = 3e-5, 1 / 255
"""By how much distances may differ, as a share of the largest: by rounding, and where RQ rounds
sums to 255 steps, as it does unless it is asked to be accurate (D.index.vector-rq-place)."""


@dataclass(frozen=True, slots=True)
class Question:
    """Arguments of `nearest`, and further ones of the scan; `room` is that of distances."""

    nearest: dict[str, Any]
    scan: dict[str, Any]
    room: float = ROOM

    @property
    def k(self) -> int:
        """How many rows are asked for."""
        return int(self.nearest.get("k", DEFAULT_K))

    @property
    def ends(self) -> list[float]:
        """The ends of the range of distances."""
        return [one for one in self.nearest.get("distance_range", ()) if one is not None]

    @property
    def late_filter(self) -> str | None:
        """The filter of rows that are found, None where there is none or it comes first."""
        return None if self.scan.get("prefilter", False) else self.scan.get("filter")

    def but(self, *left_out: str, **changed: object) -> Question:
        """Return the question with arguments of `nearest` left out or changed."""
        kept = {name: one for name, one in self.nearest.items() if name not in left_out}
        return replace(self, nearest=kept | changed)

    def scanned(self, **changed: object) -> Question:
        """Return the question with arguments of the scan changed, without those that are None."""
        scan = {name: one for name, one in (self.scan | changed).items() if one is not None}
        return replace(self, scan=scan)

    @property
    def length(self) -> float:
        """The squared length of the longest vector: what distances are sums with, or longer."""
        vectors = np.atleast_2d(self.nearest["q"]).astype(np.float64)
        return float((vectors**2).sum(1).max())

    @property
    def told(self) -> str:
        """What is asked, but for the vector."""
        return str({name: one for name, one in self.nearest.items() if name != "q"} | self.scan)


def question(maker: Maker, rng: Random, far: Callable[[Question], float]) -> Question:
    """Draw a question to the table of a maker.

    `far` tells the distance of a row that is far by a question: ranges are shares of it. Of RQ
    codes of several bits all rows are asked for (D.index.vector-rq-pruned), as they are where a
    row has several vectors: a row that is not found for one is as far as the last one that is. Of
    graphs no fast walk is asked for (D.index.vector-fast-walk).
    """
    case = maker.case
    metric = case.metric if case.element == "u8" or rng.random() >= 0.05 else rng.choice(FLOATING)
    nearest: dict[str, Any] = {"column": "v", "q": _asked(maker, metric, rng)}
    if metric != case.metric:
        nearest["metric"] = metric
    whole = maker.index.get("num_bits", 1) != 1 and ("RQ" in case.type or case.life == "several")
    nearest["k"] = ALL if whole else rng.choice([1, 3, 10, 10, 40])
    scan: dict[str, Any] = {}
    if rng.random() < 0.4:
        scan = {"filter": rng.choice(FILTERS), "prefilter": rng.random() < 0.7}
    if rng.random() < 0.15:
        scan["fast_search"] = True
    searched = rng.random()
    if searched < 0.4:
        nearest["nprobes"] = rng.choice([1, 2, 4])
    elif searched < 0.6:
        nearest |= {"minimum_nprobes": 1, "maximum_nprobes": rng.choice([2, 4])}
    if rng.random() < 0.3:
        nearest["ef"] = rng.choice([40, 100, 250])
    if rng.random() < 0.12:
        nearest["use_index"] = False
    if rng.random() < 0.2:
        nearest["approx_mode"] = "accurate" if case.graphs else rng.choice(["fast", "accurate"])
    rounds = "RQ" in case.type and nearest.get("approx_mode") != "accurate"
    asked = Question(nearest, scan, STEP if rounds else ROOM)
    if rng.random() < 0.3 and "maximum_nprobes" not in nearest:
        return asked.but(refine_factor=rng.choice([1, 2, 5])).scanned(fast_search=True)
    if rng.random() < 0.3:
        most = far(asked)
        ends = tuple(None if one is None else one * most for one in rng.choice(RANGES))
        asked = asked.but(distance_range=ends)
    return asked


def _asked(maker: Maker, metric: str, rng: Random) -> Vectors:
    """Return what rows are to be near to: a vector [width], or several [q, width].

    None without a direction where that counts (D.index.vector-query-no-number).
    """
    one = _near(maker, rng)
    if rng.random() < (0.6 if maker.case.life == "several" else 0.12):
        one = np.stack([one, *(_near(maker, rng) for _ in range(rng.choice([1, 2])))])
    no_direction = ~one.any(axis=-1, keepdims=True) & (metric == "cosine")
    return np.where(no_direction, np.float32(1), one)


def _near(maker: Maker, rng: Random) -> Vectors:
    """Return a vector near to one of the table, the same one, or one that is far from all."""
    numbers, vectors = np.random.default_rng(rng.randrange(1 << 32)), maker.vectors
    width = vectors.shape[1]
    base: Vectors = numbers.normal(size=(width,))
    if len(vectors):
        own = vectors[numbers.integers(0, len(vectors))].astype(np.float64)
        base = own if np.isfinite(own).all() else base
    if maker.case.element == "u8":
        near: Vectors = np.clip(base + numbers.integers(-9, 10, width), 0, 255)
        return np.asarray(near, np.float32)
    scale, spread = rng.choices([(1, 0.2), (1, 0), (0, 0), (50, 0)], [84, 10, 3, 3])[0]
    return np.asarray(base * scale + numbers.normal(size=width) * spread, np.float32)

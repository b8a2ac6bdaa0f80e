"""Cases: each type of index with each type of numbers and each metric; tables and questions.

A table with an index over vectors is made by either implementation, and asked for the rows nearest
to vectors.
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
from lanceref.file.schema import BFLOAT16
from numpy.typing import NDArray

Element = Literal["f16", "f32", "f64", "bf16", "u8"]
Life = Literal["plain", "gaps", "several", "changed"]
Side = Literal["oracle", "reference"]

_CODED = ("FLAT", "PQ", "SQ")

TYPES = ("IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", *(f"IVF_HNSW_{one}" for one in _CODED))

FLOATS: tuple[Element, ...] = ("f16", "f32", "f64", "bf16")

PAIRS: tuple[tuple[str, Element], ...] = (
    *product(("l2", "cosine", "dot"), FLOATS),
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
    for type_, (metric, element) in product(TYPES, PAIRS):
        for version, life, side in product(VERSIONS, LIVES, SIDES):
            yield Case(type_, metric, element, version, life, side)


DTYPES: dict[Element, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "u8": np.uint8,
}
"""Numbers as NumPy has them."""

BFLOAT16_ITEM = pa.field("item", pa.binary(2), metadata={"ARROW:extension:name": BFLOAT16})
"""Items of vectors of bfloat16."""

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
        self._case, self.rng = case, np.random.default_rng(rng.randrange(1 << 32))
        self._rows = rng.choice([rng.randint(2, 40), rng.randint(256, 600), rng.randint(256, 600)])
        if not case.legal:  # of few rows the oracle makes what it cannot update
            self._rows = rng.randint(320, 600)
        widths = [8, 16, 16, 16] if "RQ" in case.type else [16, 16, 16, 16, 1, 3, 8, 8]
        width = rng.choice([*widths, 24, 128])
        self.index = self._drawn_index(rng, width)
        self._repeated, self._file_rows = rng.choice([1, 1, 1, 3]), rng.choice([150, 1000])
        self.stable_ids = rng.random() < 0.3
        changes = ["delete", "insert", *rng.choices([*STEPS], k=rng.randint(1, 3))]
        self.steps = changes if case.life == "changed" else []
        self._places = self.rng.normal(size=(PLACES, width)) * 2
        self._made = 0
        self.vectors: Vectors = np.empty((0, width), DTYPES[case.element])

    def _drawn_index(self, rng: Random, width: int) -> dict[str, object]:
        """Return the parameters of the index of vectors of a width."""
        rows, type_ = self._rows, self._case.type
        index: dict[str, object] = {"num_partitions": rng.choice([1, 2, 4, 7]) if rows > 40 else 1}
        if "PQ" in type_:
            bits = rng.choice([8, 8, 4]) if rows >= 256 else 4
            even = [parts for parts in (2, 4, 8) if width % parts == 0]
            parts = even if bits == 4 and even else [1, *even]
            index |= {"num_sub_vectors": rng.choice(parts), "num_bits": bits}
        if "RQ" in type_:
            index["num_bits"] = rng.choice([1, 2, 5, 9])
        if self._case.graphs:
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
        case = self._case
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
        case, rng = self._case, self.rng
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
        rng, width, case = self.rng, self.vectors.shape[1], self._case
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
        item = None
        if self._case.element == "bf16":
            held = pa.py_buffer(values.tobytes())
            numbers = pa.Array.from_buffers(pa.binary(2), values.size, [None, held])
            item = BFLOAT16_ITEM
        else:
            numbers = pa.array(values.ravel())
        type_ = pa.list_(item or numbers.type, self.vectors.shape[1])
        null = None if mask is None else pa.array(mask)
        return pa.FixedSizeListArray.from_arrays(numbers, type=type_, mask=null)


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

LONGEST = 25.0
"""About the length of the longest vectors of a table."""

DEFAULT_K = 10


@dataclass(frozen=True, slots=True)
class Question:
    """Arguments of `nearest`, and further ones of the scan; `metric` is that of the index."""

    nearest: dict[str, Any]
    scan: dict[str, Any]
    metric: str = "l2"

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
        """What distances are sums with: a squared length, or a product with one of the table."""
        metric = self.nearest.get("metric", self.metric)
        if metric not in ("l2", "dot"):
            return 1.0
        vectors = np.atleast_2d(self.nearest["q"]).astype(np.float64)
        longest = float(np.sqrt((vectors**2).sum(1).max()))
        return longest * (longest if metric == "l2" else min(longest, LONGEST))

    @property
    def told(self) -> str:
        """What is asked, but for the vector."""
        return str({name: one for name, one in self.nearest.items() if name != "q"} | self.scan)


def question(
    case: Case, vectors: Vectors, rng: Random, far: Callable[[Question], float]
) -> Question:
    """Draw a question to a table that has had these vectors [n, width].

    `far` tells the distance of a row that is far by a question: ranges are shares of it.
    """
    nearest: dict[str, Any] = {"column": "v", "q": _asked(case, vectors, rng)}
    nearest["k"] = rng.choice([1, 3, 10, 10, 40])
    searched = rng.random()
    if searched < 0.4:
        nearest["nprobes"] = rng.choice([1, 2, 4])
    elif searched < 0.6:
        nearest |= {"minimum_nprobes": 1, "maximum_nprobes": rng.choice([2, 4])}
    if rng.random() < 0.3:
        nearest["refine_factor"] = rng.choice([1, 2, 5])
    if rng.random() < 0.3:
        nearest["ef"] = rng.choice([40, 100, 250])
    if rng.random() < 0.12:
        nearest["use_index"] = False
    if rng.random() < 0.2:
        nearest["approx_mode"] = rng.choice(["fast", "accurate"])
    if case.element != "u8" and rng.random() < 0.05:
        nearest["metric"] = rng.choice(["l2", "cosine", "dot"])
    scan: dict[str, Any] = {}
    if rng.random() < 0.4:
        scan = {"filter": rng.choice(FILTERS), "prefilter": rng.random() < 0.7}
    if rng.random() < 0.15:
        scan["fast_search"] = True
    asked = Question(nearest, scan, case.metric)
    if rng.random() < 0.3:
        most = far(asked)
        ends = tuple(None if one is None else one * most for one in rng.choice(RANGES))
        asked = asked.but(distance_range=ends)
    return asked


def _asked(case: Case, vectors: Vectors, rng: Random) -> Vectors:
    """Return what rows are to be near to: a vector [width], or several [q, width]."""
    one = _near(case, vectors, rng)
    if rng.random() < (0.6 if case.life == "several" else 0.12):
        return np.stack([one, *(_near(case, vectors, rng) for _ in range(rng.choice([1, 2])))])
    return one


def _near(case: Case, vectors: Vectors, rng: Random) -> Vectors:
    """Return a vector near to one of the table, the same one, or one that is far from all."""
    numbers = np.random.default_rng(rng.randrange(1 << 32))
    width = vectors.shape[1]
    base: Vectors = numbers.normal(size=(width,))
    if len(vectors):
        own = vectors[numbers.integers(0, len(vectors))].astype(np.float64)
        base = own if np.isfinite(own).all() else base
    if case.element == "u8":
        near: Vectors = np.clip(base + numbers.integers(-9, 10, width), 0, 255)
        return np.asarray(near, np.float32)
    kind = rng.random()
    if kind < 0.1:
        return np.asarray(base, np.float32)
    if kind < 0.13 and case.life != "several":
        return np.zeros(width, np.float32)
    if kind < 0.16:
        return np.asarray(base * 50, np.float32)
    return np.asarray(base + numbers.normal(size=width) * 0.2, np.float32)

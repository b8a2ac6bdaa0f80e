"""Cases: each type of index with each type of elements and each metric; random tables and searches.

Either implementation writes a table with an index over vectors. Searches with known wrong results
of the oracle are not drawn: comments name the divergences.
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
History = Literal["plain", "gaps", "several", "changed"]
Implementation = Literal["oracle", "reference"]

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
"""Metrics and elements; the last two, and those of bf16, are refused."""

VERSIONS = ("2.0", "2.1", "2.2", "2.3")

HISTORIES: tuple[History, ...] = ("plain", "gaps", "several", "changed")
"""Plain rows; rows with nulls, NaN, infinities and 0; rows of several vectors; a table with deleted
and added rows and an optimized index."""

IMPLEMENTATIONS: tuple[Implementation, ...] = ("oracle", "reference")
"""Implementations that write table and index."""


@dataclass(frozen=True, slots=True)
class Case:
    """A table with an index."""

    type: str
    metric: str
    element: Element
    version: str
    history: History
    writer: Implementation

    @property
    def name(self) -> str:
        """Unique name of the case."""
        kind = (self.type, self.metric, self.element, self.version)
        return "/".join((*kind, self.history, self.writer))

    @property
    def is_supported(self) -> bool:
        """Whether such an index is supported."""
        fits = (self.metric == "hamming") == (self.element == "u8") and self.element != "bf16"
        fits = fits and (self.history != "several" or self.metric == "cosine")
        return fits and (self.element != "u8" or self.type in ("IVF_FLAT", "IVF_HNSW_FLAT"))

    @property
    def has_graphs(self) -> bool:
        """Whether partitions have HNSW graphs."""
        return "HNSW" in self.type


def cases() -> Iterator[Case]:
    """Yield every case."""
    for kind, version in product(product(TYPES, PAIRS), VERSIONS):
        for history, writer in product(HISTORIES, IMPLEMENTATIONS):
            yield Case(kind[0], *kind[1], version, history, writer)


DTYPES: dict[Element, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "u8": np.uint8,
}
"""NumPy types of elements."""

CLUSTERS = 6
"""Number of clusters of vectors."""

Vectors = NDArray[Any]


class TableWriter:
    """Writes one table, and keeps the vectors of all its rows, including deleted ones.

    A seed determines the rows, the files, the number of rows with equal vectors, the parameters of
    the `index`, and the `steps`, which are names in `STEPS`.
    """

    def __init__(self, case: Case, seed: int) -> None:
        rng = Random(f"{case.name} {seed}")
        self.case, self.rng = case, np.random.default_rng(rng.randrange(1 << 32))
        self._rows = rng.choice([rng.randint(2, 40), rng.randint(256, 600), rng.randint(256, 600)])
        if not case.is_supported:  # with few rows the oracle builds what it cannot update
            self._rows = rng.randint(320, 600)
        widths = [8, 16, 16, 16] if "RQ" in case.type else [16, 16, 16, 16, 1, 3, 8, 8]
        width = rng.choice([*widths, 24, 128])
        self.index = self._drawn_index(rng, width)
        self._repeated, self._file_rows = rng.choice([1, 1, 1, 3]), rng.choice([150, 1000])
        self.stable_ids = rng.random() < 0.3
        changes = ["delete", "insert", *rng.choices([*STEPS], k=rng.randint(1, 3))]
        if self.stable_ids:  # D.index.vector-compacted-ids
            changes = [step for step in changes if step != "compact"]
        self.steps = changes if case.history == "changed" else []
        self._centers = self.rng.normal(size=(CLUSTERS, width)) * 2
        self._num_rows = 0
        self.vectors: Vectors = np.empty((0, width), DTYPES[case.element])

    def _drawn_index(self, rng: Random, width: int) -> dict[str, object]:
        """Return random parameters of the index, for vectors of a width."""
        rows, type_ = self._rows, self.case.type
        index: dict[str, object] = {"num_partitions": rng.choice([1, 2, 4, 7]) if rows > 40 else 1}
        if "PQ" in type_:
            bits = rng.choice([8, 8, 4]) if rows >= 256 else 4
            even = [parts for parts in (2, 4, 8) if width % parts == 0]
            parts = even if bits == 4 and even else [1, *even]
            index |= {"num_sub_vectors": rng.choice(parts), "num_bits": bits}
        if "RQ" in type_:
            index["num_bits"] = rng.choice([1, 2, 5, 9])
        if self.case.has_graphs:
            index |= {"m": rng.choice([4, 12, 20]), "ef_construction": rng.choice([20, 60, 150])}
        return index

    @property
    def description(self) -> str:
        """The parameters of the table."""
        ids = "stable ids" if self.stable_ids else "addresses"
        sizes = f"{self._rows} rows of {self.vectors.shape[1]}, {self._repeated} alike"
        return f"{sizes}, {ids}, {self.index}, {self.steps}"

    def write(self, module: ModuleType, path: str) -> None:
        """Write the table and build its index. Raises the errors of `module`."""
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
        """Return new rows: their numbers `i`, and vectors `v`."""
        case, rng = self.case, self.rng
        mask = rng.random(rows) < 0.07 if case.history == "gaps" else np.zeros(rows, np.bool_)
        if case.history == "several":
            sizes = rng.integers(0, 5, rows)
            sizes[0] = 3
            ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
            inner = self._vectors(self._drawn_vectors(int(ends[-1])), None)
            column = pa.ListArray.from_arrays(pa.array(ends), inner)
        else:
            column = self._vectors(self._drawn_vectors(rows), mask)
        numbers = np.arange(self._num_rows, self._num_rows + rows)
        self._num_rows += rows
        return pa.table({"i": numbers, "v": column})

    def _drawn_vectors(self, count: int) -> Vectors:
        """Return new vectors [count, width], some of them equal, some with special numbers."""
        rng, width, case = self.rng, self.vectors.shape[1], self.case
        distinct = -(-count // self._repeated)
        if case.element == "u8":
            new: Vectors = rng.integers(0, 256, (distinct, width)).astype(np.uint8)
        else:
            near = self._centers[rng.integers(0, CLUSTERS, distinct)]
            new = (near + rng.normal(size=(distinct, width)) * 0.4).astype(np.float32)
            if case.history == "gaps":
                special = rng.choice([np.nan, np.inf, -np.inf, 0.0], distinct)
                rare = rng.random(distinct)
                new[rare < 0.03] = special[rare < 0.03, None]
                new[rare > 0.97, rng.integers(0, width)] = special[rare > 0.97]
        new = np.tile(new, (self._repeated, 1))[:count].astype(DTYPES[case.element])
        self.vectors = np.concatenate([self.vectors, new])
        return new

    def _vectors(self, values: Vectors, mask: NDArray[np.bool_] | None) -> pa.Array:
        """Return vectors [n, width] as a column."""
        make = BFloat16Array.from_numpy if self.case.element == "bf16" else pa.array
        null = None if mask is None else pa.array(mask)
        width = self.vectors.shape[1]
        return pa.FixedSizeListArray.from_arrays(make(values.ravel()), width, mask=null)


STEPS: dict[str, Callable[[Any, TableWriter], object]] = {
    "delete": lambda dataset, writer: dataset.delete(f"i % {writer.rng.choice([3, 7])} = 1"),
    "insert": lambda dataset, writer: dataset.insert(
        writer.table(int(writer.rng.integers(1, 200)))
    ),
    "optimize": lambda dataset, _: dataset.optimize.optimize_indices(),
    "delta": lambda dataset, _: dataset.optimize.optimize_indices(num_indices_to_merge=0),
    "compact": lambda dataset, _: dataset.optimize.compact_files(target_rows_per_fragment=10_000),
}
"""Operations on a table with an index; new rows are drawn by its writer."""


FILTERS = ("i % 3 = 0", "i % 17 = 0", "i < 40", "i >= 100")

RANGES = ((None, 0.6), (0.2, 0.9), (0.3, None))
"""Ranges of distances, as shares of the distance of a distant row."""

ALL = 2000
"""More rows than a table has."""

DEFAULT_K = 10

TOLERANCE, RQ_TOLERANCE = 3e-5, 1 / 255
"""Tolerances of distances, as shares of the largest: for rounding, and for RQ, which rounds sums to
255 steps unless `approx_mode` is `accurate` (D.index.vector-rq-place)."""


@dataclass(frozen=True, slots=True)
class Search:
    """Arguments of `nearest`, and further ones of the scan; `tolerance` is that of distances."""

    nearest: dict[str, Any]
    scan: dict[str, Any]
    tolerance: float = TOLERANCE

    @property
    def k(self) -> int:
        """Number of rows of the result."""
        return int(self.nearest.get("k", DEFAULT_K))

    @property
    def bounds(self) -> list[float]:
        """The bounds of the range of distances."""
        return [one for one in self.nearest.get("distance_range", ()) if one is not None]

    @property
    def postfilter(self) -> str | None:
        """The filter of the rows of the result, or None if there is none or it is a prefilter."""
        return None if self.scan.get("prefilter", False) else self.scan.get("filter")

    def with_nearest(self, *removed: str, **changed: object) -> Search:
        """Return the search with arguments of `nearest` removed or changed."""
        others = {name: one for name, one in self.nearest.items() if name not in removed}
        return replace(self, nearest=others | changed)

    def with_scan(self, **changed: object) -> Search:
        """Return the search with arguments of the scan changed, or removed if None."""
        scan = {name: one for name, one in (self.scan | changed).items() if one is not None}
        return replace(self, scan=scan)

    @property
    def squared_length(self) -> float:
        """The squared length of the longest query vector."""
        vectors = np.atleast_2d(self.nearest["q"]).astype(np.float64)
        return float((vectors**2).sum(1).max())

    @property
    def description(self) -> str:
        """All arguments except the query vector."""
        return str({name: one for name, one in self.nearest.items() if name != "q"} | self.scan)


def draw_search(writer: TableWriter, rng: Random, distant: Callable[[Search], float]) -> Search:
    """Draw a search of the table of a writer.

    `distant` returns the distance of a distant row, of which ranges are shares. Searches of RQ
    codes of several bits (D.index.vector-rq-pruned), and of rows of several vectors, are for all
    rows: a row that is not found for one vector gets the distance of the last one found. Searches
    of graphs have no fast mode (D.index.vector-fast-walk).
    """
    case = writer.case
    metric = case.metric if case.element == "u8" or rng.random() >= 0.05 else rng.choice(FLOATING)
    nearest: dict[str, Any] = {"column": "v", "q": _draw_queries(writer, metric, rng)}
    if metric != case.metric:
        nearest["metric"] = metric
    has_bits = writer.index.get("num_bits", 1) != 1
    is_full = has_bits and ("RQ" in case.type or case.history == "several")
    nearest["k"] = ALL if is_full else rng.choice([1, 3, 10, 10, 40])
    scan: dict[str, Any] = {}
    if rng.random() < 0.4:
        scan = {"filter": rng.choice(FILTERS), "prefilter": rng.random() < 0.7}
    if rng.random() < 0.15:
        scan["fast_search"] = True
    probes = rng.random()
    if probes < 0.4:
        nearest["nprobes"] = rng.choice([1, 2, 4])
    elif probes < 0.6:
        nearest |= {"minimum_nprobes": 1, "maximum_nprobes": rng.choice([2, 4])}
    if rng.random() < 0.3:
        nearest["ef"] = rng.choice([40, 100, 250])
    if rng.random() < 0.12:
        nearest["use_index"] = False
    if rng.random() < 0.2:
        nearest["approx_mode"] = "accurate" if case.has_graphs else rng.choice(["fast", "accurate"])
    is_rounded = "RQ" in case.type and nearest.get("approx_mode") != "accurate"
    search = Search(nearest, scan, RQ_TOLERANCE if is_rounded else TOLERANCE)
    if rng.random() < 0.3 and "maximum_nprobes" not in nearest:
        factor = rng.choice([1, 2, 5])
        return search.with_nearest(refine_factor=factor).with_scan(fast_search=True)
    if rng.random() < 0.3:
        distance = distant(search)
        bounds = tuple(None if one is None else one * distance for one in rng.choice(RANGES))
        search = search.with_nearest(distance_range=bounds)
    return search


def _draw_queries(writer: TableWriter, metric: str, rng: Random) -> Vectors:
    """Return a query vector [width], or several [q, width].

    None is zero for the cosine metric (D.index.vector-query-no-number).
    """
    query = _draw_query(writer, rng)
    if rng.random() < (0.6 if writer.case.history == "several" else 0.12):
        query = np.stack([query, *(_draw_query(writer, rng) for _ in range(rng.choice([1, 2])))])
    no_direction = ~query.any(axis=-1, keepdims=True) & (metric == "cosine")
    return np.where(no_direction, np.float32(1), query)


def _draw_query(writer: TableWriter, rng: Random) -> Vectors:
    """Return a vector near to one of the table, equal to one, or far from all."""
    numbers, vectors = np.random.default_rng(rng.randrange(1 << 32)), writer.vectors
    width = vectors.shape[1]
    base: Vectors = numbers.normal(size=(width,))
    if len(vectors):
        own = vectors[numbers.integers(0, len(vectors))].astype(np.float64)
        base = own if np.isfinite(own).all() else base
    if writer.case.element == "u8":
        near: Vectors = np.clip(base + numbers.integers(-9, 10, width), 0, 255)
        return np.asarray(near, np.float32)
    scale, spread = rng.choices([(1, 0.2), (1, 0), (0, 0), (50, 0)], [84, 10, 3, 3])[0]
    return np.asarray(base * scale + numbers.normal(size=width) * spread, np.float32)

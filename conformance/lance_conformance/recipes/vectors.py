"""Makers of tables with a vector index, written by the oracle or by the reference.

Results by exact distances are computed in float64; distances of codes, which depend on the kernel
of the index type, are those of the oracle when the case is generated.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lance_conformance.adapters import index_search
from lance_conformance.oracle import lance
from lance_conformance.protocol.output import read_output
from lance_conformance.recipes import indexed
from lance_conformance.recipes.edits import THIRD, index
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.indexed import DELETED
from lance_conformance.recipes.model import Input, Maker, Request

COLUMN = "v"
"""Name of the column of vectors."""

DIMENSION = 8
INDEXED = 80
"""Rows that exist when the index is built, in two fragments."""

ALL = INDEXED + 20
"""More rows than most tables have."""

SEARCH_CLAUSES = ("L.index.vector.search.order", "L.index.vector.auxiliary.partitions",
    "L.index.vector.ivf.rows")  # fmt: skip
"""Clauses of a search for vectors."""

EXACT_CLAUSES = ("L.index.vector.search.order", "L.index.vector.search.refine")
"""Clauses of a search for all rows, which are compared by their vectors."""

Numbers = NDArray[np.generic]


def numbers(element: str, rows: int, seed: int, dimension: int = DIMENSION) -> Numbers:
    """Return random vectors [rows, dimension] in five clusters."""
    source = np.random.default_rng(seed)
    around = source.normal(size=(5, dimension)) * 4
    values = around[source.integers(0, 5, rows)] + source.normal(size=(rows, dimension))
    if element == "u1":
        return source.integers(0, 256, values.shape).astype("u1")
    return np.round(values, 2).astype(element)


def lists(values: Numbers) -> pa.Array:
    """Return vectors [n, d] as lists of fixed size."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def distances_to(values: Numbers, query: Numbers, metric: str) -> NDArray[np.float64]:
    """Return the distances of vectors [n, d] from a query [d], in float64."""
    if metric == "hamming":
        differing = np.unpackbits(values.astype("u1") ^ query.astype("u1"), axis=1)
        return np.asarray(differing.sum(axis=1), np.float64)
    x, q = values.astype(np.float64), query.astype(np.float64)
    if metric == "l2":
        return np.asarray(((x - q) ** 2).sum(axis=1), np.float64)
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(q) if metric == "cosine" else 1.0
    return np.asarray(1 - x @ q / lengths, np.float64)


@dataclass(frozen=True, slots=True)
class Vectors:
    """A column of vectors, and its index.

    Two fragments are indexed, by `build` if given; then a row is deleted, `appended` rows follow,
    and `afterwards` is applied. With `each` vectors per row, rows are lists of them; `moved`
    transforms the vectors.
    """

    type: str
    metric: str = "l2"
    element: str = "f4"
    parameters: Mapping[str, object] = field(default_factory=dict)
    version: str = "2.1"
    stable_row_ids: bool = False
    appended: int = 0
    each: int = 1
    seed: int = 1
    rows: int = INDEXED
    dimension: int = DIMENSION
    build: Callable[[Any, Any], object] | None = None
    afterwards: Callable[[Any], object] | None = None
    moved: Callable[[Numbers], Numbers] = lambda places: places

    @property
    def topic(self) -> str:
        """The folder of the cases of this type."""
        return self.type.lower().replace("_", "-")

    @property
    def values(self) -> Numbers:
        """All vectors, in the order of rows; the last one is the query."""
        count = (self.rows + self.appended) * self.each + 1
        return self.moved(numbers(self.element, count, self.seed, self.dimension))

    @property
    def query(self) -> Numbers:
        """The query vector [d]."""
        return np.asarray(self.values[-1])

    @property
    def table(self) -> pa.Table:
        """The rows with their ids."""
        vectors: pa.Array = lists(self.values[:-1])
        if self.each > 1:
            ends = pa.array(range(0, len(vectors) + 1, self.each), pa.int32())
            vectors = pa.ListArray.from_arrays(ends, vectors)
        return pa.table({"id": pa.array(range(len(vectors)), pa.int64()), COLUMN: vectors})

    def __call__(self, module: Any, uri: str) -> None:
        """Write the table and its index."""
        options = {"data_storage_version": self.version, "max_rows_per_file": self.rows // 2}
        stable = self.stable_row_ids
        rows = self.table.slice(0, self.rows)
        dataset = module.write_dataset(rows, uri, enable_stable_row_ids=stable, **options)
        if self.build is not None:
            self.build(module, dataset)
        else:
            dataset.create_index(COLUMN, self.type, metric=self.metric, **self.arguments)
        dataset = module.dataset(uri)
        dataset.delete(f"id = {DELETED}")
        if self.appended:
            module.write_dataset(self.table.slice(self.rows), uri, mode="append")
        if self.afterwards is not None:
            self.afterwards(module.dataset(uri))

    @property
    def arguments(self) -> dict[str, object]:
        """Arguments of the index; PQ gets two given centroids, as few rows would give one."""
        centroids = {"ivf_centroids": self.values[:2]} if "PQ" in self.type else {}
        return {"num_partitions": 2, **centroids, **self.parameters}

    def request(self, **others: object) -> dict[str, object]:
        """Return the arguments of a search for the query, or for as many vectors as a row has."""
        q: object = [str(number) for number in self.query.tolist()]
        if self.each > 1:
            q = [[str(number) for number in one] for one in self.values[-self.each :].tolist()]
        nearest = {"column": COLUMN, "q": q, **others}
        return {"nearest": nearest, "columns": ["id", "_distance"]}

    def truth(self, k: int | None = None) -> pa.Table:
        """Return the nearest rows that are not deleted by exact distance: `k`, or all."""
        distances = distances_to(self.values[:-1], self.query, self.metric)
        rows = np.delete(np.arange(len(distances)), DELETED)
        rows = rows[np.argsort(distances[rows], kind="stable")][:k]
        return pa.table({"id": rows, "_distance": distances[rows].astype(np.float32)})


def made(
    steps: Vectors, request: Mapping[str, object], expected: pa.Table | None, *, by: str
) -> Maker:
    """Return a maker of the files that `steps` write with the oracle or the reference.

    Without an expected table it is the result of the oracle.
    """
    make = indexed.made(steps, expected, by=by)
    return make if expected is not None else lambda: answered(make(), request)


def answered(base: Input, request: Mapping[str, object]) -> Input:
    """Return files of a table with the oracle's result of a search in it."""
    search = index_search.operations(lance(), import_module("lance.query"))["index.search"]
    with tempfile.TemporaryDirectory() as folder:
        root, out = Path(folder, "table.lance"), Path(folder, "out.arrow")
        for name, data in base.files.items():
            root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            root.joinpath(name).write_bytes(data)
        search({"uri": str(root), "out": str(out), **request})
        return replace(base, table=read_output(out).combine_chunks())


def nearest(
    vectors: Vectors,
    *,
    by: str = "oracle",
    true: int | None = None,
    tolerance: str = "0.001",
    others: Mapping[str, object] | None = None,
    clauses: tuple[str, ...] = SEARCH_CLAUSES,
    **parameters: object,
) -> Request:
    """Return the request of a search, with `true` exact rows or the oracle's result expected.

    `parameters` are those of the vector search, `others` are further arguments.
    """
    k = max(ALL, vectors.rows) if true is None else true
    request = {**vectors.request(k=k, **parameters), **(others or {})}
    plain = vectors.type.endswith("_FLAT") and vectors.each == 1
    plain = plain and not others and "range" not in parameters
    expected = vectors.truth(true) if plain or true is not None else None
    make, type_ = made(vectors, request, expected, by=by), vectors.type
    facts = {"used": True}
    return Request(make, "index-search", request, facts, type_, "any", tolerance, clauses)


def oracle_search(vectors: Vectors, request: Mapping[str, object], **others: Any) -> Request:
    """Return a request whose expected table is the oracle's result."""
    query = nearest(vectors, **others)
    by = others.get("by", "oracle")
    return replace(query, args=request, make=made(vectors, request, None, by=by))


def exact(
    name: str, *, ef: int | None = None, clauses: tuple[str, ...] = EXACT_CLAUSES, **changed: Any
) -> Request:
    """Return the request of all rows, by an index of a type in files of 2.0 without sizes."""
    vectors = replace(replace(TYPES[name], version="2.0", seed=13), **changed)
    graph: dict[str, Any] = {} if ef is None else {"ef": ef}
    rows = max(ALL, vectors.rows)
    query = nearest(vectors, true=rows, clauses=clauses, refine=1, nprobes=2, **graph)
    return edited(query, index({"files": None}, THIRD))


GRAPH: Mapping[str, object] = {"m": 4, "ef_construction": 40}
PQ4: Mapping[str, object] = {"num_sub_vectors": 4, "num_bits": 4}

TYPES: Mapping[str, Vectors] = {
    "flat": Vectors("IVF_FLAT"),
    "sq": Vectors("IVF_SQ"),
    "pq": Vectors("IVF_PQ", parameters=PQ4),
    "rq": Vectors("IVF_RQ", parameters={"num_bits": 1}),
    "rq-5": Vectors("IVF_RQ", parameters={"num_bits": 5}),
    "hnsw-flat": Vectors("IVF_HNSW_FLAT", parameters=GRAPH),
    "hnsw-sq": Vectors("IVF_HNSW_SQ", parameters=GRAPH),
    "hnsw-pq": Vectors("IVF_HNSW_PQ", parameters={**GRAPH, **PQ4}),
}
"""Tables of vectors by the type of their index."""

EARLY: Mapping[str, object] = {"num_sub_vectors": 4, "index_file_version": "LEGACY"}
"""Parameters of an index of early releases."""

MIN_ROWS = 260
"""Minimum number of rows to train codes of eight bits."""

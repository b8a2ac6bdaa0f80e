"""Makers of tables with an index, by the oracle, its old releases or the reference; text scores.

Scores of full-text queries are computed from the tokens by the formula of the clauses, in 64-bit
floats. Rows appended after the index was built are scored by the statistics of all rows, the others
by those of indexed rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref

from lance_conformance.oracle import lance
from lance_conformance.recipes.model import Input, Maker, Request
from lance_conformance.recipes.oracle_files import Step, by_release
from lance_conformance.recipes.scenario_plans import build_files

COLUMN = "c"
"""Name of the column that has the index."""

NAME = "c_idx"
"""Name of the index."""

SEARCHED = ("L.index.segment.coverage", "L.index.segment.keys")
"""Clauses of a search by an index."""

DUMP = ("L.index.segment.complete", "L.index.files.column")
"""Clauses of the content of an index."""

Steps = Callable[[Any, str], None]
"""Writes a table at a URI by a module with pylance's API."""

ROWS_PER_FILE = 5
"""Rows of a data file."""

INDEXED = 10
"""Rows that exist when the index is built; the others are appended later."""

DELETED = 7
"""Id of a row that is deleted after the index is built."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A column of twelve values, and its index.

    Two fragments of five rows are indexed; then one row is deleted, two are appended, and
    `afterwards` is applied to the dataset.
    """

    values: pa.Array
    type: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    version: str = "2.1"
    stable_row_ids: bool = False
    afterwards: Callable[[Any], object] | None = None
    extension: str = ""

    @property
    def table(self) -> pa.Table:
        """The rows with their ids; the type of the values may have an extension name."""
        ids = pa.array(range(len(self.values)), pa.int64())
        metadata = {"ARROW:extension:name": self.extension} if self.extension else None
        fields = [pa.field("id", ids.type), pa.field(COLUMN, self.values.type, metadata=metadata)]
        return pa.table([ids, self.values], schema=pa.schema(fields))

    def __call__(self, module: Any, uri: str) -> None:
        """Write the table and its index."""
        table = self.table
        options = {"data_storage_version": self.version, "max_rows_per_file": ROWS_PER_FILE}
        stable = self.stable_row_ids
        rows = table.slice(0, INDEXED)
        dataset = module.write_dataset(rows, uri, enable_stable_row_ids=stable, **options)
        create_index(module, dataset, COLUMN, self.type, self.parameters)
        dataset.delete(f"id = {DELETED}")
        module.write_dataset(table.slice(INDEXED), uri, mode="append")
        if self.afterwards is not None:
            self.afterwards(module.dataset(uri))


def create_index(
    module: Any, dataset: Any, column: str, type_: str, parameters: Mapping[str, object]
) -> None:
    """Create an index; parameters of texts and vectors are arguments, others a configuration.

    FM, and BITMAP over a dictionary, are only supported in a configuration.
    """
    if type_.startswith("IVF"):
        dataset.create_index(column, type_, **parameters)
        return
    if type_ == "INVERTED" or (not parameters and type_ not in ("FM", "BITMAP")):
        dataset.create_scalar_index(column, type_, **parameters)
        return
    config = import_module(f"{module.__name__}.indices").IndexConfig
    dataset.create_scalar_index(column, config(type_.lower(), dict(parameters)))


def made(steps: Steps, expected: pa.Table | None, *, by: str = "oracle") -> Maker:
    """Return a maker of the files that `steps` write, and of the expected table."""

    def make() -> Input:
        _, files = build_files(lambda uri: steps(lance() if by == "oracle" else pylanceref, uri))
        return Input(files, expected, made_by=by)

    return make


def all_rows(table: Indexed, *, by: str = "oracle") -> Maker:
    """Return a maker of a table with its index; all remaining rows are expected."""
    rows = [row for row in range(len(table.values)) if row != DELETED]
    return made(table, table.table.take(rows), by=by)


def ids(rows: Sequence[int]) -> pa.Table:
    """Return the table of ids."""
    return pa.table({"id": pa.array(rows, pa.int64())})


def filtered(
    table: Indexed,
    sql: str,
    rows: Sequence[int],
    *,
    by: str = "oracle",
    used: bool | None = True,
    clauses: tuple[str, ...] = SEARCHED,
    steps: Steps | None = None,
) -> Request:
    """Return the request of a filter that finds ids; `used` None: index use is optional.

    The table is written by `steps`, if given.
    """
    make, args = made(steps or table, ids(rows), by=by), {"filter": {"sql": sql}, "columns": ["id"]}
    facts = {} if used is None else {"used": used}
    return Request(make, "index-search", args, facts, table.type, clauses=clauses)


def dump(
    table: Indexed, expected: pa.Table, *, by: str = "oracle", clauses: tuple[str, ...] = DUMP
) -> Request:
    """Return the request of the content of an index."""
    make, args = made(table, expected, by=by), {"index": NAME}
    return Request(make, "index-bytes", args, {}, table.type, "any", clauses=clauses)


WORD_KEYS = pa.DictionaryArray.from_arrays(
    pa.array([2, None, 0, 3, 2, 1, None, 3, 4, 0, 2, 5], pa.int8()),
    ["pear", "fig", "kiwi", "plum", "apple", "date"])  # fmt: skip
"""Words of a dictionary, which has them in no order."""

INTS = pa.array([3, None, 1, 5, 3, 2, None, 5, 9, 1, 3, 8], pa.int32())
NAN = float("nan")
INF = float("inf")
FLOATS = pa.array([0.0, -0.0, NAN, -NAN, None, 1.5, -INF, 2.0, INF, 1.5, -0.0, NAN])
TEXTS_INDICES = pa.array(["apple", "apply", None, "Äpfel", "ape", "banana", "bandana", "cabana", "",
        "an", "apple", "b"])  # fmt: skip


def key(row: int) -> int:
    """Return the row address of a row."""
    return (row // 5 << 32) + row % 5


def members(values: Sequence[object], rows: Sequence[int], type_: pa.DataType) -> pa.Table:
    keys = pa.array([key(row) for row in rows], pa.uint64())
    return pa.table({"value": pa.array(values, type_), "row": keys})


SORTED = members([None, None, 1, 1, 2, 3, 3, 5, 5, 9], [1, 6, 2, 9, 5, 0, 4, 3, 7, 8], pa.int32())


def in_2_0(table: Indexed) -> Indexed:
    return replace(table, version="2.0")


def then(table: Indexed, afterwards: Callable[[Any], object]) -> Indexed:
    """Return a table with a final step."""
    return replace(table, afterwards=afterwards)


def at_once(
    table: pa.Table, type_: str, parameters: Mapping[str, object], version: str, path: str = COLUMN
) -> Steps:
    """Return steps that write a table as one fragment, and then an index over all of it."""

    def steps(module: Any, uri: str) -> None:
        dataset = module.write_dataset(table, uri, data_storage_version=version)
        create_index(module, dataset, path, type_, parameters)

    return steps


def before_rows(table: Indexed, each: int = 12) -> Steps:
    """Return steps that build an index without rows, and then append `each` rows per file."""

    def steps(module: Any, uri: str) -> None:
        rows = table.table
        dataset = module.write_dataset(rows.slice(0, 0), uri, data_storage_version="2.0")
        create_index(module, dataset, COLUMN, table.type, table.parameters)
        module.write_dataset(rows, uri, mode="append", max_rows_per_file=each)

    return steps


def compact(dataset: Any) -> None:
    """Compact without remapping the indices."""
    dataset.optimize.compact_files(defer_index_remap=True)


VECTORS_INDICES = np.random.default_rng(7).standard_normal((12, 4)).astype(np.float32)
ROWS_INDICES = pa.table({"id": pa.array(range(12), pa.int64()), "c": INTS,
        "v": pa.FixedSizeListArray.from_arrays(pa.array(VECTORS_INDICES.ravel()), 4)})  # fmt: skip

DELETED_INDICES = 4


def made_indices(release: str, index: Step, expected: pa.Table) -> Callable[[], Input]:
    delete: Step = ("delete", f"id = {DELETED_INDICES}")
    steps: tuple[Step, ...] = (("create", "first", 5), index, ("append", "second"), delete)
    tables = {"first": ROWS_INDICES.slice(0, 10), "second": ROWS_INDICES.slice(10)}
    make = by_release(release, tables, steps)
    return lambda: replace(make(), table=expected)


def early_index(release: str, type_: str, sql: str, rows: list[int], facts: bool = True) -> Request:
    """Return the request of a filter with an index that an old release has written."""
    query = filtered(Indexed(INTS, type_), sql, rows, used=facts or None, clauses=())
    make = made_indices(release, ("scalar", "c", type_), ids(rows))
    return replace(query, make=make, order="any")


K1, B = 1.2, 0.75
SCORING = ("L.index.fts.score", "L.index.fts.score.statistics", "L.index.fts.unindexed")
"""Clauses of a search that gives scores."""

TOLERANCE = "0.000001"
"""Relative error of a score."""

Documents = Mapping[int, Sequence[str]]
"""The tokens of every document by row; rows without tokens are omitted."""


def bm25(documents: Documents, query: Sequence[str], row: int) -> float:
    """Return the BM25 score of a row for the tokens of a query."""
    mean = sum(map(len, documents.values())) / len(documents)
    own, total = documents[row], 0.0
    for token in query:
        frequency = sum(token in one for one in documents.values())
        weight = math.log((len(documents) - frequency + 0.5) / (frequency + 0.5) + 1)
        count = own.count(token)
        total += weight * (K1 + 1) * count / (count + K1 * (1 - B + B * len(own) / mean))
    return total


def scores(
    documents: Documents, query: Sequence[str], rows: Sequence[int], indexed: int
) -> dict[int, float]:
    """Return the scores of rows; those from `indexed` on are not indexed."""
    inside = {row: tokens for row, tokens in documents.items() if row < indexed}
    return {row: bm25(inside if row < indexed else documents, query, row) for row in rows}


def text_search(
    steps: Steps,
    query: Mapping[str, Mapping[str, object]],
    found: Mapping[int, float] | pa.Table,
    *,
    by: str = "oracle",
) -> Request:
    """Return the request of a full-text query that finds rows with scores, or a table."""
    if not isinstance(found, pa.Table):
        ids, scored = pa.array([*found], pa.int64()), pa.array([*found.values()], pa.float32())
        found = pa.table({"id": ids, "_score": scored})
    make, args = made(steps, found, by=by), {"text": query, "columns": ["id"]}
    return Request(make, "index-search", args, {}, "INVERTED", "any", TOLERANCE)

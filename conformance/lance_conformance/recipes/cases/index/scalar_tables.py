"""Tables with a scalar index, what is done to them after it was made, and those of old releases.

Every table has twelve rows: ten indexed, one of these deleted, two appended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.indexed import COLUMN, Indexed, Steps, create_index
from lance_conformance.recipes.model import Asked, Made
from lance_conformance.recipes.oracle_made import Step, released

INTS = pa.array([3, None, 1, 5, 3, 2, None, 5, 9, 1, 3, 8], pa.int32())
NAN = float("nan")
INF = float("inf")
FLOATS = pa.array([0.0, -0.0, NAN, -NAN, None, 1.5, -INF, 2.0, INF, 1.5, -0.0, NAN])
TEXTS_INDICES = pa.array(["apple", "apply", None, "Äpfel", "ape", "banana", "bandana", "cabana", "",
        "an", "apple", "b"])  # fmt: skip


def key(row: int) -> int:
    """Return the address of one of the rows that are indexed."""
    return (row // 5 << 32) + row % 5


def members(values: Sequence[object], rows: Sequence[int], type_: pa.DataType) -> pa.Table:
    keys = pa.array([key(row) for row in rows], pa.uint64())
    return pa.table({"value": pa.array(values, type_), "row": keys})


SORTED = members([None, None, 1, 1, 2, 3, 3, 5, 5, 9], [1, 6, 2, 9, 5, 0, 4, 3, 7, 8], pa.int32())


def early_plain(table: Indexed) -> Indexed:
    return replace(table, version="2.0")


def and_then(table: Indexed, afterwards: Callable[[Any], object]) -> Indexed:
    """Return a table to which something is done in the end."""
    return replace(table, afterwards=afterwards)


def before_rows(table: Indexed, each: int = 12) -> Steps:
    """Return what makes an index before there are rows, and then appends `each` to a file."""

    def steps(module: Any, uri: str) -> None:
        rows = table.table
        dataset = module.write_dataset(rows.slice(0, 0), uri, data_storage_version="2.0")
        create_index(module, dataset, COLUMN, table.type, table.parameters)
        module.write_dataset(rows, uri, mode="append", max_rows_per_file=each)

    return steps


def compacted(dataset: Any) -> None:
    """Write rows anew and leave the indices as they are."""
    dataset.optimize.compact_files(defer_index_remap=True)


VECTORS_INDICES = np.random.default_rng(7).standard_normal((12, 4)).astype(np.float32)
ROWS_INDICES = pa.table({"id": pa.array(range(12), pa.int64()),
        "c": pa.array([3, None, 1, 5, 3, 2, None, 5, 9, 1, 3, 8], pa.int32()),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(VECTORS_INDICES.ravel()), 4)})  # fmt: skip

DELETED_INDICES = 4


def made_indices(release: str, index: Step, expected: pa.Table) -> Callable[[], Made]:
    steps: tuple[Step, ...] = (
        ("create", "first", 5),
        index,
        ("append", "second"),
        ("delete", f"id = {DELETED_INDICES}"),
    )
    make = released(
        release, {"first": ROWS_INDICES.slice(0, 10), "second": ROWS_INDICES.slice(10)}, steps
    )
    return lambda: replace(make(), table=expected)


def early_index(release: str, type_: str, sql: str, rows: list[int], facts: bool = True) -> Asked:
    """Return the question of a filter of an index that an old release has written."""
    found = pa.table({"id": pa.array(rows, pa.int64())})
    return Asked(
        make=made_indices(release, ("scalar", "c", type_), found),
        kind="index-search",
        args={"filter": {"sql": sql}, "columns": ["id"]},
        facts={"used": True} if facts else {},
        index=type_,
        order="any",
    )

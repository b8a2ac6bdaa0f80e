"""Tables whose index an old release has written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Asked, Made
from lance_conformance.recipes.released import Step, released

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

"""Cases of indices that old releases wrote: what is read of them is what they meant.

Every table has twelve rows, of which ten are indexed and two appended, and then one is deleted. The
rows expected are written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Made, Positive
from lance_conformance.recipes.released import Step, released

_NUMBERS = [3, None, 1, 5, 3, 2, None, 5, 9, 1, 3, 8]

_VECTORS = np.random.default_rng(7).standard_normal((12, 4)).astype(np.float32)

_ROWS = pa.table(
    {
        "id": pa.array(range(12), pa.int64()),
        "c": pa.array(_NUMBERS, pa.int32()),
        "v": pa.FixedSizeListArray.from_arrays(pa.array(_VECTORS.ravel()), 4),
    }
)

_TABLES = {"first": _ROWS.slice(0, 10), "second": _ROWS.slice(10)}

DELETED = 4


def _made(release: str, index: Step, expected: pa.Table) -> Callable[[], Made]:
    steps: tuple[Step, ...] = (
        ("create", "first", 5),
        index,
        ("append", "second"),
        ("delete", f"id = {DELETED}"),
    )
    make = released(release, _TABLES, steps)
    return lambda: replace(make(), table=expected)


def _case(
    release: str,
    slug: str,
    title: str,
    type_: str,
    filter_: str,
    rows: Sequence[int],
    clauses: tuple[str, ...],
    *,
    used: bool = True,
) -> Positive:
    """Return the case of a filter, `used` where the index answers it."""
    name, topic = f"{release.replace('.', '-')}-{slug}", type_.lower().replace("_", "-")
    return Positive(
        id=f"index/any/{topic}/{name}",
        title=title,
        clauses=clauses,
        make=_made(release, ("scalar", "c", type_), pa.table({"id": pa.array(rows, pa.int64())})),
        version="2.0" if release.startswith("0.") else "2.1",
        kind="index-search",
        facts={"used": True} if used else {},
        args={"filter": {"sql": filter_}, "columns": ["id"]},
        index=type_,
        order="any",
    )


def _graph(release: str) -> Positive:
    """Return the case of a search for all rows in a graph."""
    far = ((_VECTORS - _VECTORS[0]) ** 2).sum(axis=1, dtype=np.float32)
    order = [row for row in np.argsort(far, kind="stable").tolist() if row != DELETED]
    expected = pa.table({"id": pa.array(order, pa.int64()), "_distance": far[order]})
    name = f"{release.replace('.', '-')}-levels"
    asked = {"column": "v", "q": [str(one) for one in _VECTORS[0].tolist()]}
    return Positive(
        id=f"index/any/ivf-hnsw-sq/{name}",
        title="rows of a graph that its levels do not count",
        clauses=("L.index.vector.graph.levels", "L.index.vector.graph.rows"),
        make=_made(release, ("vector", "v", "IVF_HNSW_SQ"), expected),
        version="2.1",
        kind="index-search",
        facts={"used": True},
        args={
            "nearest": {**asked, "k": 100, "ef": 100, "nprobes": 1},
            "columns": ["id", "_distance"],
        },
        index="IVF_HNSW_SQ",
        order="any",
        tolerance="0.001",
    )


_KEYS, _NULLS = "L.index.segment.keys", "L.index.zones.nulls"

POSITIVES: tuple[Positive, ...] = (
    _case("0.33.0", "row-ids", "keys in a column of another name", "BTREE", "c >= 3 AND c < 9",
          [0, 3, 7, 10, 11], ("L.index.files.column", _KEYS)),
    _case("4.0.1", "unordered", "keys in any order", "BITMAP", "c = 5", [3, 7],
          ("L.index.bitmap.columns", _KEYS)),
    _case("4.0.1", "values", "zones that do not say which rows are null", "ZONEMAP", "c = 5",
          [3, 7], (_NULLS, "L.index.files.metadata")),
    _case("4.0.1", "nulls", "rows that are null, which the zones do not say", "ZONEMAP",
          "c IS NULL", [1, 6], (_NULLS, "L.index.segment.coverage"), used=False),
    _case("4.0.1", "nulls", "rows that are null, which the filters do not say", "BLOOMFILTER",
          "c IS NULL", [1, 6], (_NULLS, "L.index.zones.order"), used=False),
    _graph("9.0.1"),
)  # fmt: skip
"""Every case of an index of an old release."""

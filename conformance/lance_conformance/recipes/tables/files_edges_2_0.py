"""Cases of 2.0 files at the edge: pages without items, first rows, single bits."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lance_conformance.recipes.messages import field
from lance_conformance.recipes.model import Made, Negative, Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.tables.edits import fault, spare_buffer

_FLAGS = pa.array([None if number % 5 == 0 else number % 3 == 0 for number in range(64)])

_THREES = pa.FixedSizeListArray.from_arrays(
    pa.array([True, False, False, True, True, False, False, True, True, True, False, True]), 3
)

_NUMBERS = pa.list_(pa.int32())


def _case(
    slug: str,
    title: str,
    array: pa.Array,
    clause: str,
    *,
    rows: Sequence[int] = (),
) -> Positive:
    table = column(array)
    expected = table.take(pa.array(rows, pa.int64())) if rows else table
    return Positive(
        id=f"file/2.0/{slug}",
        title=title,
        clauses=(clause,),
        make=lambda: Made(file(table, "2.0")().files, expected),
        version="2.0",
        args={"rows": list(rows)} if rows else {},
    )


POSITIVES: tuple[Positive, ...] = (
    _case("flat/flags-far", "two booleans of bytes far apart", _FLAGS, "L.array.flat.width",
          rows=(8, 60)),
    _case("fixed-size-list/flags-three", "three booleans a row: rows begin inside of bytes",
          _THREES, "L.array.fixed-size-list.dimension"),
    _case("list/many-nulls", "a list of 900 000 items that need no bytes",
          pa.array([[None] * 900_000, None, [None]], pa.list_(pa.null())),
          "L.array.list.num-items"),
    _case("list/null-first", "a null list before others",
          pa.array([None, [1, 2], [3]], _NUMBERS), "L.array.list.null-adjustment-value"),
)  # fmt: skip
"""Every positive case of a 2.0 file at an edge."""

_TEXTS = "file/2.0/binary/early"

NEGATIVES: tuple[Negative, ...] = (
    fault("file/2.0/list/null-first", "null", "a null list, the first, where none may be null",
          "L.array.nullable.field", field(0, nullable=False)),
    fault(_TEXTS, "spare-buffer", "a buffer that lists of bytes do not have",
          "L.array.buffer.named", spare_buffer(1), kind="lint"),
)  # fmt: skip
"""Every fault of a 2.0 file at an edge."""

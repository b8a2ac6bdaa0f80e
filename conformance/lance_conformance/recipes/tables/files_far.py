"""Positive cases of rows far apart, asked for alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from lance_conformance.recipes.model import Made, Positive
from lance_conformance.recipes.oracle_made import column, file

_COUNT = 100
"""Rows of a file, more than a reader bridges to read two of them at once."""

_LISTS = pa.array(
    [None if i % 9 == 4 else [i * j for j in range(i % 5)] for i in range(_COUNT)],
    pa.list_(pa.int32()),
)

_FLAGS = pa.array([None if i % 7 == 2 else i % 3 == 0 for i in range(_COUNT)])

_TEXTS = pa.array([None if i % 8 == 5 else f"text {i}" * (i % 4) for i in range(_COUNT)])


def taken(make: Callable[[], Made], rows: Sequence[int]) -> Callable[[], Made]:
    """Return the maker of the same file, of which only some rows are expected."""

    def only() -> Made:
        made = make()
        assert made.table is not None
        return replace(made, table=made.table.take(rows))

    return only


def _far(
    slug: str, title: str, array: pa.Array, rows: Sequence[int], clause: str, version: str = "2.0"
) -> Positive:
    return Positive(
        id=f"file/{version}/{slug}",
        title=title,
        clauses=(clause,),
        make=taken(file(column(array), version), rows),
        version=version,
        args={"rows": [str(row) for row in rows]},
    )


POSITIVES = (
    _far("list/far", "two lists far apart", _LISTS, [3, 90], "L.array.ends.order"),
    _far(
        "flat/far",
        "three flags or nulls far apart",
        _FLAGS,
        [9, 90, 95],
        "L.array.nullable.validity",
    ),
    _far(
        "flat/far",
        "flags or nulls far apart in a chunk",
        _FLAGS,
        [9, 50, 90, 95],
        "L.codec.flat.size",
        "2.1",
    ),
    _far("binary/far", "two texts far apart", _TEXTS, [2, 77], "L.array.ends.order"),
)
"""Every case of rows far apart."""

"""Structs and nulls: fields without pages of their own.

A struct is its children; the page table has zeros for it, and its validity is lost. A field of null
type has pages without bytes: their lengths are its rows.

Clauses: L.legacy.struct.children, L.legacy.null.pages

Divergences: D.legacy.nulls-lost, D.legacy.struct-runs
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lanceref.core.errors import OutOfRange, Place
from lanceref.file_0_1.batch_ranges import Node, Numbers, Pieces
from lanceref.file_0_1.page_table import Pages


class StructNode:
    """The children of a struct."""

    def __init__(self, type_: pa.DataType, children: Sequence[Node], place: Place) -> None:
        self.type = type_
        self._children = children
        known = [child.lengths for child in children if child.lengths is not None]
        self.lengths = known[0] if known else None
        if not all(np.array_equal(known[0], other) for other in known[1:]):
            raise OutOfRange(
                "L.legacy.struct.children",
                place,
                found="children with pages of different lengths",
                wanted="the same rows in every child",
            )

    @property
    def row_bytes(self) -> float:
        """Bytes of the children together."""
        return sum(child.row_bytes for child in self._children) or 1 / 8

    def read(self, pieces: Pieces) -> pa.Array:
        """Read every child."""
        arrays = [child.read(pieces) for child in self._children]
        return pa.Array.from_buffers(self.type, pieces.num_rows, [None], children=arrays)


class NullNode:
    """Rows without bytes."""

    type = pa.null()
    row_bytes = 1 / 8

    def __init__(self, pages: Pages, rows: Numbers | None) -> None:
        pages.require(rows, 0)
        self.lengths = pages.lengths

    def read(self, pieces: Pieces) -> pa.Array:
        """Return as many nulls as rows are asked for."""
        return pa.nulls(pieces.num_rows)  # L.legacy.null.pages

"""Fixed-size list: every row owns the same number of items.

The rows' own validity is a `nullable` around this encoding; the items (rows * dimension of them,
null rows keep theirs) are an encoding inside it, with validity of their own.

Clauses: L.array.fixed-size-list.dimension
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage
from lanceref.encodings_2_0.page import Page, PageArray
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb

ItemsOpener = Callable[[pb.ArrayEncoding, pa.DataType, int], PageArray]
"""Opens an encoding as the given number of items of a type."""


@dataclass(frozen=True, slots=True)
class FixedSizeListArray:
    """Lists of `type.list_size` items."""

    type: pa.DataType
    items: PageArray

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the items."""
        return self.items.plan(rows.scaled(self.type.list_size))

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Put the items under lists."""
        items = self.items.decode(rows.scaled(self.type.list_size), parts)
        return pa.Array.from_buffers(self.type, rows.count, [None], children=[items])


def open_fixed_size_list(
    encoding: pb.FixedSizeList, type_: pa.DataType, num_rows: int, page: Page, opener: ItemsOpener
) -> FixedSizeListArray:
    """Open lists whose dimension is that of the schema."""
    wanted = type_.list_size if pa.types.is_fixed_size_list(type_) else None
    if encoding.dimension != wanted:  # L.array.fixed-size-list.dimension
        raise CorruptPage(
            "L.array.fixed-size-list.dimension",
            page.place,
            found=f"lists of {encoding.dimension} items",
            wanted=f"values of {type_}",
        )
    items = opener(encoding.items, type_.value_type, num_rows * encoding.dimension)
    return FixedSizeListArray(type_, items)

"""Column of 2.1 and later: a field read from the leaves of its type tree.

One physical column stores one leaf; structs, lists and maps own none. A field is read by bringing
the runs of its leaves, whose pages end at different rows, to common rows and joining them.

Clauses: L.page.siblings.rows, L.page.siblings.validity, L.page.siblings.offsets
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.core.file_versions import FileVersion
from lanceref.core.integers import arrow_array, unique_inverse
from lanceref.core.nesting import whole
from lanceref.file.columns import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.pages.assemble import assemble
from lanceref.pages.blob import BlobPage
from lanceref.pages.layers import leaf_paths
from lanceref.pages.leaf import LeafColumn, open_leaf
from lanceref.pages.nested import Nested
from lanceref.pages.required import check_required, has_required


class PageColumn:
    """The rows of one field."""

    def __init__(
        self,
        file: FileBytes,
        field: Field,
        columns: Sequence[ColumnMetadata],
        version: FileVersion,
    ) -> None:
        self._file = file
        self._field = field
        self._columns = columns
        self._version = version
        self._place = columns[0].place
        self._leaves = [
            open_leaf(file, path, column, version)
            for path, column in zip(leaf_paths(field), columns, strict=True)
        ]
        self.type: pa.DataType = field.arrow.type
        self._required = has_required(field.arrow) and not file.ctx.discarded
        self.num_rows = self._leaves[0].num_rows
        for leaf, column in zip(self._leaves, columns, strict=True):
            if leaf.num_rows != self.num_rows:
                raise CorruptPage(
                    "L.page.siblings.rows",
                    column.place,
                    found=f"{leaf.num_rows} rows in column {column.index}",
                    wanted=f"{self.num_rows}, as in column {columns[0].index}",
                )

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield consecutive arrays that cover rows `start`..`end`."""
        return self._join([leaf.scan(start, end) for leaf in self._leaves])

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows (ascending, may repeat)."""
        once, places = unique_inverse(rows)
        parts = list(self._join([leaf.take(once) for leaf in self._leaves]))
        array = _concat(parts, self.type)
        return array if len(once) == len(rows) else whole(array).take(arrow_array(places))

    def check(self) -> None:
        """Check every page on its own, then read the field through."""
        self.check_rows(0, self.num_rows)

    def check_rows(self, start: int, end: int) -> None:
        """Check every page that begins in rows `start`..`end`, then read these rows through."""
        ctx = self._file.ctx
        known = len(ctx.findings) if ctx.findings is not None else 0
        for leaf, column in zip(self._leaves, self._columns, strict=True):
            for number, (page, first) in enumerate(zip(leaf.pages, leaf.first_rows.tolist())):
                if start <= first < end or first == end == self.num_rows:
                    with ctx.group(f"column {column.index} page {number}"), ctx.piece():
                        page.check()
        if ctx.findings is None or len(ctx.findings) == known:
            quiet = self._file.during(replace(ctx, spans=None, findings=None))
            with ctx.piece():
                again = PageColumn(quiet, self._field, self._columns, self._version)
                for _ in again.scan(start, end):
                    pass

    def payload_extents(self) -> Iterator[Extent]:
        """Yield where the payloads of blob pages lie, which only their descriptors know."""
        for leaf in self._leaves:
            for page in leaf.pages:
                if isinstance(page, BlobPage):
                    yield from page.payload_extents()

    def _join(self, runs: list[Iterator[Nested]]) -> Iterator[pa.Array]:
        """Yield arrays of the field at the rows where any of the leaves' runs ends."""
        rest: list[Nested | None] = [next(run, None) for run in runs]
        while all(part is not None for part in rest):
            parts = [part for part in rest if part is not None]
            rows = min(part.num_rows for part in parts)
            array = assemble(self._field, [part.slice(0, rows) for part in parts], self._place)
            if self._required:
                check_required(self._field.arrow, array, self._place)
            yield array
            rest = [
                part.slice(rows, part.num_rows) if part.num_rows > rows else next(run, None)
                for part, run in zip(parts, runs, strict=True)
            ]


def _concat(parts: list[pa.Array], type_: pa.DataType) -> pa.Array:
    if not parts:
        return pa.array([], type_)
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def open_column(
    file: FileBytes, field: Field, leaves: Sequence[ColumnMetadata], version: FileVersion
) -> PageColumn:
    """Open `field`, stored in the given physical columns (one per leaf, in column order)."""
    return PageColumn(file, field, leaves, version)


__all__ = ["LeafColumn", "PageColumn", "open_column"]

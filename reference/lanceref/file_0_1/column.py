"""Column: a top-level field of a 0.1 file, read across its batches.

The field's type tree becomes nodes, one for each field with pages; a scan asks them for runs of
whole or partial batches, random access for the ranges that hold the wanted rows.

Clauses: L.legacy.column.pages, L.legacy.column.type, L.legacy.dictionary.location
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import MERGE_GAP_BYTES, FileBytes
from lanceref.core.errors import BadSchema, UnknownEncoding
from lanceref.core.integers import arrow_array
from lanceref.core.nesting import whole
from lanceref.encodings_2_0.paging import distinct, repeat, run_rows
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.file.schema import Field
from lanceref.file_0_1.batch_ranges import Node, Numbers, Pieces, cut
from lanceref.file_0_1.binary import VAR_BINARY, BinaryNode
from lanceref.file_0_1.dictionary import Dictionaries, DictionaryNode
from lanceref.file_0_1.list import ListNode
from lanceref.file_0_1.page_table import Pages, PageTable
from lanceref.file_0_1.plain import PlainNode, fixed_width
from lanceref.file_0_1.struct import NullNode, StructNode

STEP_GROWTH = 16
"""How much longer a run may become than the guess: rows grow wide without notice."""


class LegacyColumn:
    """The rows of one top-level field; `batch_offsets` are the rows before each batch."""

    def __init__(self, file: FileBytes, node: Node, batch_offsets: Numbers) -> None:
        self.type = node.type
        self._file, self._node, self._offsets = file, node, batch_offsets

    @property
    def num_rows(self) -> int:
        """Rows of the file."""
        return int(self._offsets[-1])

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the rows in runs of many batches or of parts of one.

        What a row takes is guessed from the whole file at first, then from the run before.
        """
        least = step = run_rows(self._node.row_bytes)
        at = start
        while at < end:
            stop = self._stop(at, min(end, at + step), end)
            array = self._node.read(cut(self._offsets, RowRanges.single(at, stop)))
            yield array
            fitting = run_rows(array.nbytes / (stop - at))
            step, at = max(least, min(fitting, STEP_GROWTH * least)), stop

    def _stop(self, start: int, stop: int, end: int) -> int:
        """Return the end of a run: of the last whole batch where it holds one, no page twice."""
        before = int(self._offsets[np.searchsorted(self._offsets, stop, side="right") - 1])
        return before if stop < end and before > start else stop

    def take(self, rows: Numbers) -> pa.Array:
        """Read the ranges that hold the rows and pick the rows."""
        unique, inverse = distinct(rows)
        if isinstance(self._node, PlainNode):
            batches = np.searchsorted(self._offsets, unique, side="right") - 1
            taken = self._node.take(batches, unique - self._offsets[batches])
            if taken is not None:
                return repeat(taken, inverse)
        gap_rows = int(MERGE_GAP_BYTES / self._node.row_bytes)
        ranges = RowRanges.covering(unique, gap_rows)
        read = self._node.read(cut(self._offsets, ranges))
        if len(unique) != ranges.count:
            read = whole(read).take(arrow_array(ranges.positions(unique)))
        return repeat(read, inverse)

    def check(self) -> None:
        """Decode every batch."""
        ctx = self._file.ctx
        for batch, rows in enumerate(np.diff(self._offsets).tolist()):
            with ctx.group(f"batch {batch}"), ctx.piece():
                self._node.read(Pieces.whole(batch, rows))


def open_node(
    file: FileBytes,
    field: Field,
    table: PageTable,
    dictionaries: Dictionaries,
    rows: Numbers | None,
) -> Node:
    """Return the node of a field (possibly pruned); `rows` by batch, None below a list."""
    type_ = field.arrow.type
    if pa.types.is_struct(type_):
        children = [open_node(file, child, table, dictionaries, rows) for child in field.children]
        return StructNode(type_, children, file.ctx.at(table.extent.offset, table.extent.size))
    pages = _pages(file, field, table)
    if pa.types.is_null(type_):
        return NullNode(pages, rows)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        items = open_node(file, field.children[0], table, dictionaries, None)
        return ListNode(file, pages, type_, rows, items)
    if pa.types.is_dictionary(type_):
        if field.id not in dictionaries:
            raise BadSchema(
                "L.legacy.dictionary.location",
                pages.place,
                found=f"no values for the dictionary {field.name!r}",
                wanted="the values of every dictionary field",
            )
        return DictionaryNode(file, pages, type_, rows, dictionaries[field.id])
    if type_ in VAR_BINARY:
        return BinaryNode(file, pages, type_, rows, nullable=field.nullable)
    if fixed_width(type_) is None:
        raise UnknownEncoding(  # L.legacy.column.type
            "L.legacy.column.type",
            pages.place,
            found=f"field {field.name!r} of {type_}",
            wanted="a type that 0.1 can store",
        )
    return PlainNode(file, pages, type_, rows)


def _pages(file: FileBytes, field: Field, table: PageTable) -> Pages:
    pages = table.pages(field.id)
    if pages is None:
        raise BadSchema(  # L.legacy.column.pages
            "L.legacy.column.pages",
            file.ctx.at(table.extent.offset, table.extent.size),
            found=f"no pages for field {field.name!r} with id {field.id}",
            wanted=f"an id of {table.first_id} to {table.first_id + len(table.pairs) - 1}",
        )
    return pages

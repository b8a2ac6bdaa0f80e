"""Column: a top-level field of a 0.1 file, read across its batches.

The field's type tree becomes nodes, one for each field with pages; a scan asks them for runs of
whole or partial batches, random access for the ranges that hold the wanted rows.

Clauses: L.legacy.column.pages, L.legacy.column.type, L.legacy.dictionary.location

List pages: offsets into the items of the same batch.

A list field's page holds offsets, its child's page of the same batch the items. There is no
validity: a null list is one without items.

Layout: (num_rows + 1) x i32 (large lists: i64), the first 0, relative to the batch's items.

Clauses: L.legacy.list.first-offset, L.legacy.list.ascending, L.legacy.list.items

Divergences: D.legacy.nulls-lost, D.legacy.written-not-read

Structs and nulls: fields without pages of their own.

A struct is its children; the page table has zeros for it, and its validity is lost. A field of null
type has pages without bytes: their lengths are its rows.

Clauses: L.legacy.struct.children, L.legacy.null.pages

Divergences: D.legacy.nulls-lost, D.legacy.struct-runs

Pages, written: one page for each field of a batch, and where it went.

Clauses: L.legacy.column.type, L.legacy.dictionary.value-type, L.legacy.page-table.length,
L.legacy.null.pages, L.legacy.plain.values, L.legacy.plain.bool, L.legacy.plain.fixed-size-list

Divergences: D.legacy.second-dictionary, D.legacy.nulls-lost
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import MERGE_GAP_BYTES, FileBytes
from lanceref.core.errors import (
    BadSchema,
    CorruptPage,
    DataRefused,
    LegacyRefused,
    LimitExceeded,
    OutOfRange,
    Place,
    UnknownEncoding,
)
from lanceref.core.integers import arrow_array
from lanceref.core.nesting import whole
from lanceref.encodings_2_0.page import RowRanges, distinct, repeat, run_rows
from lanceref.file.schema import Field
from lanceref.file_0_1.batch_ranges import Node, Numbers, Offsets, Pieces, cut, read_offsets
from lanceref.file_0_1.binary import (
    VAR_BINARY,
    BinaryNode,
    Dictionaries,
    DictionaryNode,
    encode_binary,
    encode_values,
    is_number,
)
from lanceref.file_0_1.page_table import Pages, PageTable
from lanceref.file_0_1.plain import PlainNode, encode_plain, fixed_width
from lanceref.storage import Sink


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


class ListNode:
    """The lists of one field."""

    def __init__(
        self,
        file: FileBytes,
        pages: Pages,
        type_: pa.DataType,
        rows: Numbers | None,
        items: Node,
    ) -> None:
        self.type = type_
        self._file, self._pages = file, pages
        self._items = items
        self._dtype = np.dtype("<i8" if pa.types.is_large_list(type_) else "<i4")
        pages.require(None if rows is None else rows + 1, 8 * self._dtype.itemsize)
        self.lengths = pages.lengths - 1
        if len(self.lengths) and int(self.lengths.min()) < 0:
            raise OutOfRange(
                "L.legacy.page-table.length",
                pages.place,
                found="a page of lists of length 0",
                wanted="at least the one offset that ends it",
            )

    @property
    def row_bytes(self) -> float:
        """Bytes of a row, its items by their share of all rows."""
        num_rows = max(1, int(self.lengths.sum()))
        num_items = 0 if self._items.lengths is None else int(self._items.lengths.sum())
        return self._dtype.itemsize + self._items.row_bytes * num_items / num_rows

    def read(self, pieces: Pieces) -> pa.Array:
        """Read the offsets, then the items they name."""
        offsets = read_offsets(
            self._file, self._pages, pieces, self._dtype.str, "L.legacy.list.ascending"
        )
        self._check(offsets, pieces)
        ends = offsets.ends()
        if ends[-1] > np.iinfo(self._dtype).max:
            raise LimitExceeded(
                "L.legacy.limits.run",
                self._pages.place,
                found=f"{ends[-1]} items in one run of rows",
                wanted=f"what offsets of {self.type} can count",
            )
        inner = Pieces(pieces.batches, offsets.firsts, offsets.lasts)
        if self._file.ctx.spans is None:  # else the offsets of no items need an owner
            inner = inner.filled()
        values = self._items.read(inner)
        buffers = [None, pa.py_buffer(ends.astype(self._dtype))]
        return pa.Array.from_buffers(self.type, pieces.num_rows, buffers, children=[values])

    def _check(self, offsets: Offsets, pieces: Pieces) -> None:
        """Hold the offsets against the items there are."""
        moved = offsets.firsts != 0
        first = (pieces.starts == 0) & moved
        if (first | (offsets.firsts < 0)).any():
            raise CorruptPage(
                "L.legacy.list.first-offset",
                self._pages.place,
                found=f"a first offset of {offsets.firsts[np.argmax(moved)]}",
                wanted="0",
            )
        if self._items.lengths is None:
            return
        stored = self._items.lengths[pieces.batches]
        ended = pieces.ends == self.lengths[pieces.batches]
        wrong = (offsets.lasts > stored) | (ended & (offsets.lasts != stored))
        if wrong.any():
            piece = int(np.argmax(wrong))
            raise OutOfRange(
                "L.legacy.list.items",
                self._pages.place,
                found=f"offsets up to {offsets.lasts[piece]}",
                wanted=f"{stored[piece]}, the items of the batch",
            )


def encode_list(array: pa.Array) -> tuple[bytes, pa.Array]:
    """Return the offsets of a page and the items they name, those below null lists included."""
    wide = pa.types.is_large_list(array.type)
    stored = np.frombuffer(array.buffers()[1] or bytes(8), np.int64 if wide else np.int32)
    own = stored[array.offset : array.offset + len(array) + 1]
    items = array.values.slice(int(own[0]), int(own[-1] - own[0]))
    return (own - own[0]).astype("<i8" if wide else "<i4").tobytes(), items


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


class PageWriter:
    """Writes pages to a sink.

    `pages` has for each field id (position, length) by batch, `dictionaries` the values of the
    dictionary fields.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.pages: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.dictionaries: dict[int, pa.Array] = {}

    def write(self, field: Field, array: pa.Array) -> None:
        """Write the page of a field in the next batch, and those of its children."""
        if pa.types.is_struct(array.type):
            for index, child in enumerate(field.children):
                self.write(child, array.field(index))
            return
        type_ = field.arrow.type
        if pa.types.is_null(type_):
            self._add(field, len(array))
        elif pa.types.is_list(type_) or pa.types.is_large_list(type_):
            offsets, items = encode_list(array)
            self._add(field, len(array) + 1)
            self._sink.write(offsets)
            self.write(field.children[0], items)
        elif pa.types.is_dictionary(type_):
            self._keep(field, array.dictionary)
            self._add(field, len(array))
            self._sink.write(encode_plain(array.indices))
        elif type_ in VAR_BINARY:
            data, ends = encode_binary(array, self._sink.position)
            self._sink.write(data)
            self._add(field, len(array))
            self._sink.write(ends)
        else:
            self._add(field, len(array))
            self._sink.write(encode_plain(array))

    def _add(self, field: Field, length: int) -> None:
        self.pages[field.id].append((self._sink.position, length))

    def _keep(self, field: Field, values: pa.Array) -> None:
        """Keep the values of the first batch; those of the others must be the same."""
        known = self.dictionaries.setdefault(field.id, values)
        same = known.equals(values) or encode_values(known, 0) == encode_values(values, 0)  # NaN
        if not same:  # D.legacy.second-dictionary
            raise DataRefused(
                f"field `{field.name}`: a 0.1 table has one dictionary for all rows; "
                "unify the dictionaries first"
            )


def check_storable(field: Field) -> None:
    """Refuse a field that 0.1 has no encoding for. Raises LegacyRefused."""
    type_ = field.arrow.type
    if pa.types.is_dictionary(type_):
        values = type_.value_type
        fits = values in VAR_BINARY or is_number(values)
    else:
        nested = pa.types.is_list(type_) or pa.types.is_large_list(type_)
        known = nested or pa.types.is_struct(type_) or pa.types.is_null(type_)
        fits = known or type_ in VAR_BINARY or fixed_width(type_) is not None
    if not fits:
        raise LegacyRefused(f"field `{field.name}`: unsupported data type {type_}")
    for child in field.children:
        check_storable(child)

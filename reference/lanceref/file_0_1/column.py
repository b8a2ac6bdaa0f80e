"""Column: a top-level field of a 0.1 file, read across its batches and written batch by batch.

The field's type tree becomes nodes, one for each field with pages; a scan asks them for runs of
whole or partial batches, random access for the ranges that hold the wanted rows. A list field's
page holds offsets, its child's page of the same batch the items; a null list is one without items.
A struct is its children: its validity is lost.

Layout of a list page: (num_rows + 1) x i32 (large lists: i64) from 0 on, in the batch's items.

Clauses: L.legacy.column.pages, L.legacy.column.type, L.legacy.dictionary.location,
L.legacy.dictionary.value-type, L.legacy.list.first-offset, L.legacy.list.ascending,
L.legacy.list.items, L.legacy.struct.children, L.legacy.null.pages, L.legacy.page-table.length,
L.legacy.plain.values, L.legacy.plain.bool, L.legacy.plain.fixed-size-list

Divergences: D.legacy.nulls-lost, D.legacy.written-not-read, D.legacy.struct-runs,
D.legacy.second-dictionary
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Ints
from lanceref.core.arrow_buffers import STRINGS, has_wide_offsets, offsets_buffer
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import (
    BadSchema,
    CorruptPage,
    DataRefused,
    OutOfRange,
    Place,
    UnknownEncoding,
)
from lanceref.core.integers import unique_inverse
from lanceref.core.packed_values import offsets_of
from lanceref.core.run_sizes import run_rows
from lanceref.encodings_2_0.page import RowRanges, repeat
from lanceref.file.schema import Field, slot_bits
from lanceref.file_0_1 import encodings
from lanceref.file_0_1.page_table import (
    BatchRanges,
    Node,
    Offsets,
    Pages,
    PageTable,
    cut_at_batches,
    read_offsets,
)
from lanceref.storage import Sink

STEP_GROWTH = 16
"""How much longer a run may become than the guess: rows grow wide without notice."""


def _struct_node(type_: pa.DataType, children: Sequence[Node], place: Place) -> Node:
    known = [child.lengths for child in children if child.lengths is not None]
    if not all(np.array_equal(known[0], other) for other in known[1:]):
        clause, found = "L.legacy.struct.children", "children of different lengths"
        raise OutOfRange(clause, place, found, "the same rows in every child")

    def read(ranges: BatchRanges) -> pa.Array:
        arrays = [child.read(ranges) for child in children]
        return pa.Array.from_buffers(type_, ranges.num_rows, [None], children=arrays)

    row_bytes = sum(child.row_bytes for child in children) or 1 / 8
    return Node(type_, row_bytes, known[0] if known else None, read)


def _list_node(
    file: FileBytes, pages: Pages, type_: pa.DataType, rows: Ints | None, items: Node
) -> Node:
    dtype, place = np.dtype("<i8" if has_wide_offsets(type_) else "<i4"), pages.place
    pages.require(None if rows is None else rows + 1, 8 * dtype.itemsize)
    lengths = pages.lengths - 1
    if len(lengths) and int(lengths.min()) < 0:
        clause, found = "L.legacy.page-table.length", "a page of lists of length 0"
        raise OutOfRange(clause, place, found, "1 or more")

    def check(offsets: Offsets, ranges: BatchRanges) -> None:
        firsts, lasts = offsets.firsts, offsets.lasts
        moved = firsts != 0
        if (((ranges.starts == 0) & moved) | (firsts < 0)).any():
            raise CorruptPage("L.legacy.list.first-offset", place, firsts[np.argmax(moved)], 0)
        if items.lengths is None:
            return
        stored = items.lengths[ranges.batches]
        ended = ranges.ends == lengths[ranges.batches]
        wrong = (lasts > stored) | (ended & (lasts != stored))
        if wrong.any():
            number = int(np.argmax(wrong))
            found, wanted = f"offsets up to {lasts[number]}", f"the {stored[number]} items"
            raise OutOfRange("L.legacy.list.items", place, found, wanted)

    def read(ranges: BatchRanges) -> pa.Array:
        offsets = read_offsets(file, pages, ranges, dtype.str, "L.legacy.list.ascending")
        check(offsets, ranges)
        ends = offsets.ends()
        stored = offsets_buffer(type_, ends, "L.legacy.limits.run", place)
        inner = BatchRanges(ranges.batches, offsets.firsts, offsets.lasts)
        if file.ctx.spans is None:  # else the offsets of no items need an owner
            inner = inner.filled()
        children = [items.read(inner)]
        return pa.Array.from_buffers(type_, ranges.num_rows, [None, stored], children=children)

    num_items = 0 if items.lengths is None else int(items.lengths.sum())
    row_bytes = dtype.itemsize + items.row_bytes * num_items / max(1, int(lengths.sum()))
    return Node(type_, row_bytes, lengths, read)


class LegacyColumn:
    """The rows of one top-level field; `batch_offsets` are the rows before each batch."""

    def __init__(self, file: FileBytes, node: Node, batch_offsets: Ints) -> None:
        self.type = node.type
        self._file, self._node, self._offsets = file, node, batch_offsets
        self.num_rows = int(batch_offsets[-1])

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the rows in runs of many batches or of parts of one.

        The size of a row is guessed from the whole file at first, then from the run before.
        """
        least = step = run_rows(self._node.row_bytes)
        at = start
        while at < end:
            stop = self._stop(at, min(end, at + step), end)
            array = self._node.read(cut_at_batches(self._offsets, np.array([[at, stop]])))
            yield array
            fitting = run_rows(array.nbytes / (stop - at))
            step, at = max(least, min(fitting, STEP_GROWTH * least)), stop

    def _stop(self, start: int, stop: int, end: int) -> int:
        """Return the end of a run: of the last whole batch where it holds one, no page twice."""
        before = int(self._offsets[np.searchsorted(self._offsets, stop, side="right") - 1])
        return before if stop < end and before > start else stop

    def take(self, rows: Ints) -> pa.Array:
        """Read the rows, each once. `rows` (n,), ascending."""
        unique, places = unique_inverse(rows)
        wanted = RowRanges.of_rows(unique)
        bounds = np.stack([wanted.starts, wanted.ends], axis=1)
        return repeat(self._node.read(cut_at_batches(self._offsets, bounds)), places)

    def check(self) -> None:
        ctx = self._file.ctx
        for batch, rows in enumerate(np.diff(self._offsets).tolist()):
            with ctx.group(f"batch {batch}"), ctx.piece():
                self._node.read(BatchRanges.whole(batch, rows))


def open_node(
    file: FileBytes,
    field: Field,
    table: PageTable,
    dictionaries: encodings.Dictionaries,
    rows: Ints | None,
) -> Node:
    """Return the node of a field (possibly pruned); `rows` by batch, None below a list.

    `rows` (batches,). Raises BadSchema, UnknownEncoding.
    """
    type_ = field.arrow.type
    if pa.types.is_struct(type_) and not field.is_blob:
        children = [open_node(file, child, table, dictionaries, rows) for child in field.children]
        return _struct_node(type_, children, table.place)
    pages = table.pages(field.id)
    if pages is None:
        found, clause = f"no pages for {field.name!r} with id {field.id}", "L.legacy.column.pages"
        raise BadSchema(clause, table.place, found, f"an id of {table.first_id} to {table.last_id}")
    if pa.types.is_null(type_):
        pages.require(rows, 0)  # L.legacy.null.pages: they have no bytes
        return Node(type_, 1 / 8, pages.lengths, lambda ranges: pa.nulls(ranges.num_rows))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        items = open_node(file, field.children[0], table, dictionaries, None)
        return _list_node(file, pages, type_, rows, items)
    if pa.types.is_dictionary(type_):
        if field.id not in dictionaries:
            clause, found = "L.legacy.dictionary.location", f"no values for {field.name!r}"
            raise BadSchema(clause, pages.place, found, "values of every dictionary")
        return encodings.dictionary_node(file, pages, type_, rows, dictionaries[field.id])
    if type_ in STRINGS:
        return encodings.binary_node(file, pages, type_, rows, nullable=field.nullable)
    if not slot_bits(type_):
        clause, wanted = "L.legacy.column.type", "a type that 0.1 can store"
        raise UnknownEncoding(clause, pages.place, type_, wanted)
    return encodings.plain_node(file, pages, type_, rows)


class PageWriter:
    """Writes to a sink one page for each field of a batch.

    `pages` has for each field id (position, length) by batch, `dictionaries` the values of the
    dictionary fields.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.pages: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.dictionaries: dict[int, pa.Array] = {}

    def write(self, field: Field, array: pa.Array) -> None:
        """Write the page of a field in the next batch, and those of its children."""
        type_, length = field.arrow.type, len(array)
        if pa.types.is_struct(array.type):
            for index, child in enumerate(field.children):
                self.write(child, array.field(index))
        elif pa.types.is_null(type_):
            self._add(field, length, b"")
        elif pa.types.is_list(type_) or pa.types.is_large_list(type_):
            offsets = offsets_of(array)  # the items below null lists are written too
            items = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
            dtype = "<i8" if has_wide_offsets(type_) else "<i4"
            self._add(field, length + 1, (offsets - offsets[0]).astype(dtype).tobytes())
            self.write(field.children[0], items)
        elif pa.types.is_dictionary(type_):
            self._keep(field, array.dictionary)
            self._add(field, length, encodings.encode_plain(array.indices))
        elif type_ in STRINGS:
            data, ends = encodings.encode_binary(array, self._sink.position)
            self._sink.write(data)
            self._add(field, length, ends)
        else:
            self._add(field, length, encodings.encode_plain(array))

    def write_table(self, first_id: int, num_batches: int) -> int:
        """Write the page table from an id on; return where it begins."""
        position, hole = self._sink.position, [(0, 0)] * num_batches
        rows = [self.pages.get(one, hole) for one in range(first_id, max(self.pages) + 1)]
        self._sink.write(np.array(rows, "<i8").tobytes())
        return position

    def _add(self, field: Field, length: int, data: bytes | memoryview) -> None:
        self.pages[field.id].append((self._sink.position, length))
        self._sink.write(data)

    def _keep(self, field: Field, values: pa.Array) -> None:
        """Keep the values of the first batch; those of the others must be the same."""
        known = self.dictionaries.setdefault(field.id, values)
        if known.equals(values):
            return
        stored, new = (encodings.encode_values(one, 0) for one in (known, values))
        if stored != new:  # NaN is stored alike; D.legacy.second-dictionary
            raise DataRefused(
                f"field `{field.name}`: a 0.1 table has one dictionary for all rows; "
                "unify the dictionaries first"
            )

"""Field writers of 2.0: how rows of a field become pages.

Every leaf queues its arrays and writes them as a page when they exceed its cache. A struct writes a
header when the file ends, a list its end offsets, and whenever it does so the items too, unless the
queue of some item leaf has just been written by itself: then the other leaves go on.

Clauses: L.array.struct.header, L.array.list.null-adjustment-value, L.array.packed-struct.size,
L.array.blob.column, L.array.blob.null
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lanceref.codecs.encoder_inputs import params_of
from lanceref.core.errors import DataRefused, NotStorable
from lanceref.encodings_2_0.binary import encode_strings
from lanceref.encodings_2_0.dictionary import encode_dictionary, is_variable
from lanceref.encodings_2_0.nullable import PageBuffers, encode_nullable, fixed_width, no_nulls
from lanceref.file.column_reader import DESCRIPTOR
from lanceref.file.column_writer import (
    BOOLEAN_BYTES,
    PRIMITIVE_BYTES,
    DataArea,
    EncodedColumn,
    EncodedPage,
    FieldWriter,
    PagePolicy,
    memory_bytes,
)
from lanceref.file.schema import Field
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, ColumnEncoding


def open_writer(field: Field, first_column: int, policy: PagePolicy) -> FieldWriter:
    """Return the writer of a field whose first physical column is `first_column`.

    Raises NotStorable for a type that 2.0 does not have.
    """
    type_ = field.arrow.type
    if pa.types.is_map(type_) or (pa.types.is_fixed_size_list(type_) and field.children):
        raise NotStorable(f"field {field.name!r}: {type_} needs version 2.2 or later")
    if pa.types.is_fixed_size_binary(type_) and not type_.byte_width:
        raise NotStorable(f"field {field.name!r}: values without bytes need version 2.2")
    if field.is_blob:
        return BlobWriter(field, first_column, policy)
    if pa.types.is_struct(type_) and not field.is_packed:
        children: list[FieldWriter] = []
        first = first_column + 1
        for child in field.children:
            children.append(open_writer(child, first, policy))
            first += children[-1].num_columns
        return StructWriter(field, first_column, children)
    if field.children and not field.is_packed:
        items = open_writer(field.children[0], first_column + 1, policy)
        return ListWriter(field, first_column, items, policy)
    return ValueWriter(field, first_column, policy)


def plain_column() -> EncodedColumn:
    """Return the end of a column that has nothing to say but its pages."""
    encoding = ColumnEncoding()
    encoding.values.SetInParent()
    return EncodedColumn(encoding)


class ValueWriter:
    """Writes a leaf, or a packed struct: one column of value pages."""

    num_columns = 1

    def __init__(self, field: Field, column: int, policy: PagePolicy) -> None:
        self._field, self._column, self._policy = field, column, policy
        self._queued: list[pa.Array] = []
        self._queued_bytes = 0

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Queue rows; return the pages of all queued ones when they exceed the cache."""
        self._queued.append(array)
        self._queued_bytes += memory_bytes(array)
        return self.flush(data) if self._queued_bytes > self._policy.cache_bytes else []

    def flush(self, data: DataArea) -> list[EncodedPage]:
        """Return the page of all queued rows; a single large array is cut into several."""
        queued, self._queued, self._queued_bytes = self._queued, [], 0
        if not queued:
            return []
        if len(queued) > 1:
            return [self._page(queued)]
        (array,) = queued
        parts = min(-(-int(array.nbytes) // self._policy.max_page_bytes), len(array))
        size = -(-len(array) // max(1, parts)) or 1
        cuts = range(0, max(1, len(array)), size)
        return [self._page([array.slice(start, size)]) for start in cuts]

    def _page(self, arrays: Sequence[pa.Array]) -> EncodedPage:
        page = PageBuffers()
        encoding = self._encode(arrays, page)
        return EncodedPage(self._column, page.buffers, encoding, sum(map(len, arrays)))

    def _encode(self, arrays: Sequence[pa.Array], page: PageBuffers) -> ArrayEncoding:
        if pa.types.is_dictionary(arrays[0].type):
            return encode_dictionary(arrays, page)
        array = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
        if pa.types.is_struct(array.type):
            return encode_packed(array, page)
        if is_variable(array.type):
            params = params_of(self._field.metadata)
            return encode_strings(array, page, params.compression, params.compression_level)
        return encode_nullable(array, page)

    def finish(self) -> list[EncodedColumn]:
        """Return the end of the column."""
        return [plain_column()]


def encode_packed(array: pa.StructArray, page: PageBuffers) -> ArrayEncoding:
    """Encode the rows of a packed struct as one buffer. Raises DataRefused for nulls and bits."""
    children = [array.field(i) for i in range(array.type.num_fields)]
    if not children:
        raise DataRefused("a packed struct needs a child")
    leaves = [_flattened(child) for child in children]
    if array.null_count or any(one.null_count for one in (*children, *leaves)):
        raise DataRefused("a packed struct of 2.0 cannot hold nulls")
    encoding, cells = ArrayEncoding(), []
    for child, leaf in zip(children, leaves, strict=True):
        described = encode_nullable(child, PageBuffers())
        encoding.packed_struct.inner.append(described)
        data, bits = fixed_width(leaf)
        if bits % 8:
            raise DataRefused("a packed struct cannot hold booleans")
        cells.append(np.ascontiguousarray(data).reshape(len(array), -1))
    rows = np.concatenate(cells, axis=1)
    encoding.packed_struct.buffer.SetInParent()
    page.buffers.append(rows.reshape(-1))
    return encoding


def _flattened(array: pa.Array) -> pa.Array:
    """Return the innermost items of fixed-size lists."""
    while pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        array = array.values.slice(array.offset * size, len(array) * size)
    return array


class StructWriter:
    """Writes a struct: its header column at the end, its children all along."""

    def __init__(self, field: Field, column: int, children: list[FieldWriter]) -> None:
        self._field, self._column, self._children = field, column, children
        self._rows = 0
        self.num_columns = 1 + sum(child.num_columns for child in children)

    def write(self, array: pa.StructArray, row: int, data: DataArea) -> list[EncodedPage]:
        """Write the rows of every child. Raises DataRefused for a null struct."""
        if array.null_count:
            raise DataRefused(
                f"field {self._field.name!r}: 2.0 cannot store null structs, use 2.1 or later"
            )
        self._rows += len(array)
        pages: list[EncodedPage] = []
        for i, child in enumerate(self._children):
            pages += child.write(array.field(i), row, data)
        return pages

    def flush(self, data: DataArea) -> list[EncodedPage]:
        """Return the pages of the children's queued rows."""
        return [page for child in self._children for page in child.flush(data)]

    def finish(self) -> list[EncodedColumn]:
        """Return the end of the header column, which is its one page, and those of the children."""
        encoding = ArrayEncoding()
        encoding.struct.SetInParent()
        header = EncodedPage(self._column, (), encoding, self._rows)
        below = [column for child in self._children for column in child.finish()]
        return [EncodedColumn(plain_column().encoding, [header]), *below]


class ListWriter:
    """Writes a list: end offsets in its own column, items in those after it."""

    def __init__(self, field: Field, column: int, items: FieldWriter, policy: PagePolicy) -> None:
        self._field, self._column, self._items, self._policy = field, column, items, policy
        self._queued: list[pa.Array] = []
        self._queued_bytes = 0
        self.num_columns = 1 + items.num_columns

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Queue rows and write their items; offsets and items become pages together."""
        offsets = offsets_of(array)
        items = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        pages = self._items.write(items, row, data)
        self._queued.append(array)
        self._queued_bytes += list_bytes(array)
        if self._queued_bytes <= self._policy.cache_bytes:
            return pages
        return [self._page(), *(pages or self._items.flush(data))]

    def flush(self, data: DataArea) -> list[EncodedPage]:
        """Return the page of queued offsets, and those of their items."""
        items = self._items.flush(data)
        return [self._page(), *items] if self._queued else items

    def _page(self) -> EncodedPage:
        """Encode the queued offsets: where each list ends among the items of the page."""
        queued, self._queued, self._queued_bytes = self._queued, [], 0
        lengths = np.concatenate([np.diff(offsets_of(array)) for array in queued])
        nulls = np.concatenate([np.asarray(array.is_null()) for array in queued])
        ends = np.cumsum(lengths).astype("<u8")
        num_items = int(ends[-1]) if len(ends) else 0
        ends[nulls] += np.uint64(num_items + 1)
        page, encoding = PageBuffers(), ArrayEncoding()
        encoding.list.offsets.CopyFrom(no_nulls(page.flat(ends.view(np.uint8), 64)))
        encoding.list.null_offset_adjustment = num_items + 1
        encoding.list.num_items = num_items
        return EncodedPage(self._column, page.buffers, encoding, len(ends))

    def finish(self) -> list[EncodedColumn]:
        """Return the ends of the offsets column and of those of the items."""
        return [plain_column(), *self._items.finish()]


def offsets_of(array: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the offsets of lists as they are, int64 (rows + 1,)."""
    dtype = np.int64 if pa.types.is_large_list(array.type) else np.int32
    table = np.frombuffer(array.buffers()[1] or b"", dtype)
    cut = table[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return cut if len(cut) else np.zeros(1, np.int64)


def list_bytes(array: pa.Array) -> int:
    """Return what the offsets and the validity of lists count against the cache."""
    width = 8 if pa.types.is_large_list(array.type) else 4
    offsets = PRIMITIVE_BYTES + (int(array.offset) + len(array) + 1) * width
    return offsets + BOOLEAN_BYTES + (-(-len(array) // 8) if array.null_count else 0)


def blob_column() -> EncodedColumn:
    """Return the end of a column that says that it holds blobs."""
    encoding = ColumnEncoding()
    encoding.blob.inner.values.SetInParent()
    return EncodedColumn(encoding)


def store_payloads(name: str, array: pa.Array, data: DataArea) -> pa.StructArray:
    """Write the values of a blob field; return where they lie. Raises DataRefused."""
    if not pa.types.is_large_binary(array.type):
        raise DataRefused(f"field {name!r}: a blob is large_binary")
    positions, sizes = [], []
    for value in array:
        stored = value.as_buffer()
        if stored is None:
            positions.append(1)
            sizes.append(0)
            continue
        positions.append(data.write(stored).offset if stored.size else 0)
        sizes.append(stored.size)
    children = [pa.array(positions, pa.uint64()), pa.array(sizes, pa.uint64())]
    return pa.StructArray.from_arrays(children, fields=list(DESCRIPTOR))


class BlobWriter(ValueWriter):
    """Writes a blob column: the values at once and out of line, where they lie as pages."""

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Write the values; return the pages of descriptors that became full."""
        return super().write(store_payloads(self._field.name, array, data), row, data)

    def finish(self) -> list[EncodedColumn]:
        """Return the end of the column, which says that it holds blobs."""
        return [blob_column()]

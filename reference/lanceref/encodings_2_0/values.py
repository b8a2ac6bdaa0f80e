"""Value column: the pages of one leaf of the type tree, and payloads of blobs, read and written.

Every page is described by an `ArrayEncoding`: one message, twelve arms. The arm that is set chooses
the module that reads it, and inner encodings are opened the same way. Lists and struct headers are
not opened here: they are whole columns (see `column`). The protobuf library bounds how deep they
nest. The writer queues arrays and encodes them as a page when they exceed its cache.

The pages of a blob column hold a descriptor for each row, a packed struct: where the payload lies
in the file and its size. Payloads are buffers of their own that only the descriptors know.

Layout of a descriptor: u64 position (absolute), u64 size. Size 0: position 0 is an empty value,
position 1 a null.

Clauses: L.array.encoding.tag, L.array.nullable.field, L.array.column.encoding,
L.array.blob.column, L.array.blob.null, L.array.blob.order, L.array.blob.payload
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np
import pyarrow as pa

from lanceref.codecs.encoder_inputs import params_of
from lanceref.core.arrow_buffers import STRINGS, slot_bits
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadSchema, CorruptPage, DataRefused, UnknownEncoding
from lanceref.core.limits import run_rows
from lanceref.encodings_2_0 import binary, dictionary, flat, packed
from lanceref.encodings_2_0.page import ArrayColumn, Page, Paging, ReadRows, RowRanges, concat
from lanceref.file.column_io import (
    DESCRIPTOR,
    DataArea,
    EncodedColumn,
    EncodedPage,
    PagePolicy,
    extents,
    fetch,
    runs,
    store,
    words,
)
from lanceref.file.container import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, ColumnEncoding

CHECK_BYTES = 64 * 2**20
"""Decoded bytes that a check holds at a time: more than the pages writers make."""


_OPENERS: dict[str, Callable[..., ReadRows]] = {
    "flat": flat.open_flat_array,
    "binary": binary.open_binary,
    "fsst": binary.open_fsst,
    "packed_struct": packed.open_packed_struct,
    "bitpacked": packed.open_bitpacked,
    "fixed_size_binary": binary.open_fixed_size_binary,
    "bitpacked_for_non_neg": packed.open_bitpacked_for_non_neg,
    "nullable": flat.open_nullable,
    "fixed_size_list": flat.open_fixed_size_list,
    "dictionary": dictionary.open_dictionary,
}
"""Arm of the message -> what opens it."""


def open_array(encoding: ArrayEncoding, type_: pa.DataType, num_rows: int, page: Page) -> ReadRows:
    """Open an encoding as `num_rows` values of an Arrow type; its buffers are bounded here.

    Raises UnknownEncoding.
    """
    arm = encoding.WhichOneof("array_encoding")
    if arm in _OPENERS:
        return _OPENERS[arm](getattr(encoding, arm), type_, num_rows, page)
    clause, found = "L.array.encoding.tag", f"array encoding {arm or 'unknown'}"
    raise UnknownEncoding(clause, page.place, found, f"values of {type_}")


class ValueColumn(ArrayColumn):
    """One physical column of 2.0 whose pages hold values."""

    def __init__(self, file: FileBytes, field: Field, column: ColumnMetadata) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file = file
        self._nullable = field.nullable
        self._paging = Paging(column)
        self.num_rows = self._paging.num_rows
        stored = sum(extent.size for page in column.pages for extent in page.extents)
        # by the type, or by what is stored when that is more
        self.row_bytes = max((slot_bits(self.type) or 64) / 8, stored / max(1, self.num_rows))

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the rows run by run, never across a page boundary."""
        runs = self._paging.runs(start, end, run_rows(self.row_bytes))
        for index, of_page in groupby(runs, itemgetter(0)):
            page, read = self._open(index)
            for _, first, last in of_page:
                yield self._checked(read(RowRanges.single(first, last)), page)

    def read(self, rows: RowRanges) -> pa.Array:
        """Return rows, those of each page by its own encoding."""
        arrays = []
        for index, local in self._paging.split(rows):
            page, read = self._open(index)
            arrays.append(self._checked(read(local), page))
        return concat(arrays, self.type, self._paging.column.place)

    def check(self) -> None:
        """Decode every page of the column once, and report what is wrong."""
        ctx, step = self._file.ctx, run_rows(self.row_bytes, CHECK_BYTES)
        for index, metadata in enumerate(self._paging.column.pages):
            with ctx.group(f"page {index}"), ctx.piece():
                page, read = self._open(index)
                stored = metadata.extents or self._paging.column.extents
                rows = metadata.num_rows if stored else min(1, metadata.num_rows)
                for at in range(0, max(1, rows), step):  # a page without rows may own bytes
                    run = RowRanges.single(at, min(rows, at + step))
                    self._checked(read(run), page)

    def _open(self, index: int) -> tuple[Page, ReadRows]:
        metadata = self._paging.column.pages[index]
        page = Page(self._file, self._paging.column, metadata, open_array)
        page.check_buffers()
        encoding = metadata.encoding
        assert isinstance(encoding, ArrayEncoding)
        return page, open_array(encoding, self.type, metadata.num_rows, page)

    def _checked(self, array: pa.Array, page: Page) -> pa.Array:
        if not self._nullable and array.null_count:
            clause, found = "L.array.nullable.field", f"{array.null_count} null rows"
            page.ctx.refuse(CorruptPage(clause, page.place, found, "none"))
        return array


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
        self._queued_bytes += array.nbytes
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
        page = flat.PageBuffers()
        encoding = self._encode(arrays, page)
        return EncodedPage(self._column, page.buffers, encoding, sum(map(len, arrays)))

    def _encode(self, arrays: Sequence[pa.Array], page: flat.PageBuffers) -> ArrayEncoding:
        if pa.types.is_dictionary(arrays[0].type):
            return dictionary.encode_dictionary(arrays, page)
        array = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
        if pa.types.is_struct(array.type):
            return packed.encode_packed(array, page)
        if array.type in STRINGS:
            params = params_of(self._field.metadata)
            return dictionary.encode_strings(
                array, page, params.compression, params.compression_level
            )
        return flat.encode_nullable(array, page)

    def finish(self) -> list[EncodedColumn]:
        return [plain_column()]


def plain_column() -> EncodedColumn:
    """Return the end of a column that is described by its pages alone."""
    return EncodedColumn(ColumnEncoding(values={}))


class BlobColumn(ArrayColumn):
    """Descriptors and the payloads they point to."""

    def __init__(self, file: FileBytes, field: Field, column: ColumnMetadata) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file, self._column = file, column
        self._field = _descriptors_of(field)
        self._descriptors = ValueColumn(file, self._field, column)
        self.num_rows, self.row_bytes = self._descriptors.num_rows, self._descriptors.row_bytes

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        return self._follow(self._descriptors.scan(start, end))

    def read(self, rows: RowRanges) -> pa.Array:
        """Read the descriptors of the rows, then their payloads together."""
        return self._payloads(self._descriptors.read(rows))

    def check(self) -> None:
        """Check the descriptors; sound ones lead to the payloads, which then own their bytes."""
        ctx = self._file.ctx
        known = len(ctx.findings or ())
        self._descriptors.check()
        if len(ctx.findings or ()) > known:
            return
        quiet = self._file.during(replace(ctx, spans=None, findings=None))
        descriptors = ValueColumn(quiet, self._field, self._column)
        with ctx.group("payloads"), ctx.piece():
            for _ in self._follow(descriptors.scan(0, self.num_rows)):
                pass

    def payload_extents(self) -> Iterator[Extent]:
        """Yield where the payloads lie: only the descriptors say it."""
        for descriptors in self._descriptors.scan(0, self.num_rows):
            yield from extents(descriptors)

    def _follow(self, parts: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for descriptors in parts:
            for run in runs(descriptors):
                yield self._payloads(run)

    def _payloads(self, descriptors: pa.Array) -> pa.Array:
        positions, sizes = words(descriptors)
        place = self._column.place
        if np.any((sizes == 0) & (positions > 1)):
            found = f"position {int(positions[sizes == 0].max())} of a payload of 0 bytes"
            error = CorruptPage("L.array.blob.null", place, found, "position 0 or 1")
            self._file.ctx.refuse(error)
        placed = positions[sizes > 0]
        back = np.flatnonzero(placed[1:] <= placed[:-1])
        if len(back):
            found = f"a payload at {placed[back[0] + 1]} after one at {placed[back[0]]}"
            raise CorruptPage("L.array.blob.order", place, found, "ascending payloads")
        valid = (sizes > 0) | (positions == 0)
        return fetch(self._file, descriptors, valid, "L.array.blob.payload", place)


def _descriptors_of(field: Field) -> Field:
    return replace(field, arrow=pa.field(field.name, DESCRIPTOR, False), nullable=False)


def open_blobs(file: FileBytes, field: Field, column: ColumnMetadata) -> BlobColumn | ValueColumn:
    """Open a blob column; its field must be of large binary type, or of descriptors.

    Raises BadSchema.
    """
    type_ = field.arrow.type
    if type_ == DESCRIPTOR:
        return ValueColumn(file, _descriptors_of(field), column)
    if not pa.types.is_large_binary(type_):
        raise BadSchema("L.array.blob.column", column.place, type_, "large_binary")
    return BlobColumn(file, field, column)


class BlobWriter(ValueWriter):
    """Writes a blob column: the values at once and out of line, their descriptors as pages."""

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Write the values; return the pages of descriptors that became full."""
        return super().write(store_payloads(self._field.name, array, data), row, data)

    def finish(self) -> list[EncodedColumn]:
        return [blob_column()]


def blob_column() -> EncodedColumn:
    """Return the end of a column of blobs."""
    return EncodedColumn(pb.ColumnEncoding(blob={"inner": {"values": {}}}))


def store_payloads(name: str, array: pa.Array, data: DataArea) -> pa.StructArray:
    """Write the values of a blob field; return where they lie. Raises DataRefused."""
    if not pa.types.is_large_binary(array.type):
        raise DataRefused(f"field {name!r}: a blob is large_binary")
    return store(array, np.asarray(array.is_null()).astype(np.uint64), data)

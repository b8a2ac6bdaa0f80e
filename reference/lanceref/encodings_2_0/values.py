"""Value column: the pages of one leaf of the type tree, read and written.

Every page is described by an `ArrayEncoding`: one message, twelve arms. The arm that is set chooses
the module that reads it, and inner encodings are opened the same way. Lists and struct headers are
not opened here: they are whole columns (see `column`). The protobuf library bounds how deep they
nest. The writer queues arrays and encodes them as a page when they exceed its cache.

Clauses: L.array.encoding.tag, L.array.nullable.field, L.array.column.encoding
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

import pyarrow as pa

from lanceref.codecs.encoder_inputs import params_of
from lanceref.core.arrow_buffers import STRINGS
from lanceref.core.context import specified
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, UnknownEncoding
from lanceref.core.run_sizes import run_rows
from lanceref.encodings_2_0 import binary, dictionary, flat, packed
from lanceref.encodings_2_0.page import ArrayColumn, Page, Paging, ReadRows, RowRanges, concat
from lanceref.file.column_io import DataArea, EncodedColumn, EncodedPage, PagePolicy
from lanceref.file.container import ColumnMetadata
from lanceref.file.schema import Field, slot_bits
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


Part: TypeAlias = tuple[Page, ReadRows, RowRanges]
"""A page, its encoding, and the rows that are wanted of it."""


@specified
def read_pages(parts: Sequence[Part]) -> Iterable[tuple[Page, pa.Array]]:
    """Return the wanted rows of every page, each with the page."""
    return [(page, read(rows)) for page, read, rows in parts]


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
        parts = [(*self._open(index), local) for index, local in self._paging.split(rows)]
        arrays = [self._checked(array, page) for page, array in read_pages(parts)]
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
            return dictionary.encode_strings(array, page, params_of(self._field.metadata))
        return flat.encode_nullable(array, page)

    def finish(self) -> list[EncodedColumn]:
        return [plain_column()]


def plain_column() -> EncodedColumn:
    """Return the end of a column that is described by its pages alone."""
    return EncodedColumn(ColumnEncoding(values={}))

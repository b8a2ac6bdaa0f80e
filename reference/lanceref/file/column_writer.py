"""Field writer: the interface by which the rows of a field of any version are written.

The container asks the writer of each top-level field for pages; how rows become pages is decided by
the version (`encodings_2_0` in 2.0, `pages` from 2.1 on). The counterpart of `column_reader`.

Clauses: L.file.pages.priority
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.cursor import Extent
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding

Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8] | pa.Buffer
"""Bytes on their way into a file."""

CACHE_BYTES = 8 << 20
"""Arrow bytes that each top-level field queues before a page is written."""

MAX_PAGE_BYTES = 32 << 20
"""Arrow bytes of one page cut from a single array (2.0)."""


@dataclass(frozen=True, slots=True)
class EncodedPage:
    """One page ready to be written.

    `column` is the physical column; `encoding` an ArrayEncoding, PageLayout or PlanarLayout, as the
    version wants; `num_rows` the page's length; `priority` its first top-level row (0 in 2.0).
    """

    column: int
    buffers: Sequence[Buffer]
    encoding: Message
    num_rows: int
    priority: int = 0


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """What a finished column adds: its encoding, last pages, column-level buffers."""

    encoding: ColumnEncoding
    pages: Sequence[EncodedPage] = ()
    buffers: Sequence[Buffer] = ()


@dataclass(frozen=True, slots=True)
class PagePolicy:
    """When rows become a page.

    Rows of a field are queued until their Arrow memory exceeds `cache_bytes`; a single array of
    more than `max_page_bytes` is cut (2.0).
    """

    cache_bytes: int
    max_page_bytes: int


def page_policy(
    num_fields: int, data_cache_bytes: int | None = None, max_page_bytes: int | None = None
) -> PagePolicy:
    """Return the policy of a file; the cache is divided evenly among the top-level fields."""
    environment = os.environ.get("LANCE_FILE_WRITER_MAX_PAGE_BYTES", MAX_PAGE_BYTES)
    cache_bytes = CACHE_BYTES
    if data_cache_bytes is not None and num_fields:
        cache_bytes = data_cache_bytes // num_fields
    return PagePolicy(cache_bytes, int(environment) if max_page_bytes is None else max_page_bytes)


class DataArea(Protocol):
    """Where bytes that lie outside pages (blobs) are written at once."""

    def write(self, data: Buffer) -> Extent:
        """Write a buffer and the padding after it; return where it lies in the file."""


class FieldWriter(Protocol):
    """The writer of one top-level field and its physical columns."""

    num_columns: int

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Queue rows that begin at `row` of the file; return the pages that became full."""

    def flush(self, data: DataArea) -> list[EncodedPage]:
        """Return the pages of all rows still queued."""

    def finish(self) -> list[EncodedColumn]:
        """Return what is left to say about each physical column, in column order."""


FIXED_OBJECT_BYTES, BITMAP_OBJECT_BYTES, VARIABLE_OBJECT_BYTES = 96, 88, 120
NULL_OBJECT_BYTES, BINARY_OBJECT_BYTES = 8, 112
NESTED_OBJECT_BYTES, DICTIONARY_OBJECT_BYTES = 104, 48
"""Sizes of array objects: fixed-width values, booleans, values with offsets; the null type,
fixed-size binary; fixed-size lists and structs, dictionaries."""


def memory_bytes(array: pa.Array, *, with_validity: bool = True) -> int:
    """Return the bytes that a leaf array counts against a cache, as the oracle does.

    They are its buffers from the first value on, also the part before a slice, and a fixed size for
    each array object; without the bitmap of its own nulls if that was cut off.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    types, type_, end = pa.types, array.type, int(array.offset) + len(array)
    if types.is_null(type_):
        return NULL_OBJECT_BYTES
    bitmap = -(-end // 8) if with_validity and array.null_count else 0
    if types.is_dictionary(type_):
        indices = memory_bytes(array.indices, with_validity=False)
        return DICTIONARY_OBJECT_BYTES + indices + memory_bytes(array.dictionary) + bitmap
    if types.is_fixed_size_list(type_):
        return NESTED_OBJECT_BYTES + memory_bytes(array.values) + bitmap
    if types.is_struct(type_):
        children = sum(memory_bytes(array.field(i)) for i in range(type_.num_fields))
        return NESTED_OBJECT_BYTES + children + bitmap
    try:
        values = -(-end * int(type_.bit_width) // 8)
    except ValueError:  # values with offsets
        wide = types.is_large_string(type_) or types.is_large_binary(type_)
        offsets = np.frombuffer(array.buffers()[1] or b"", np.int64 if wide else np.int32)
        values = offsets[: end + 1].nbytes + int(offsets[end]) if len(offsets) else 0
        return VARIABLE_OBJECT_BYTES + values + bitmap
    if types.is_boolean(type_):
        return BITMAP_OBJECT_BYTES + values + bitmap
    is_binary = types.is_fixed_size_binary(type_) and not types.is_decimal(type_)
    return (BINARY_OBJECT_BYTES if is_binary else FIXED_OBJECT_BYTES) + values + bitmap

"""Field writer: what a field of any version is written by.

The container asks the writer of each top-level field for pages; how rows become pages is the
version's business (`arrays` in 2.0, `pages` from 2.1 on). The counterpart of `column_reader`.

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

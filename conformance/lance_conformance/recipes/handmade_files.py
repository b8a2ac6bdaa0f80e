"""Makers of files with handmade pages, where the oracle writes no such pages.

The oracle writes the table first, which gives descriptor and column encodings; then the pages of
its columns are replaced by the given messages and buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto import file2_pb2
from lanceref.storage import BytesSource

from lance_conformance.recipes.apply_change import apply, closed
from lance_conformance.recipes.model import DATA, Change, Files, Input, Maker, Request
from lance_conformance.recipes.oracle_files import column, file

ALIGNMENT = 64
"""Alignment of buffers."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its description, number of rows, and buffers in order."""

    encoding: Message
    num_rows: int
    buffers: tuple[bytes, ...]
    first_row: int = 0


def words(*values: int, width: int = 8) -> bytes:
    """Return little-endian integers of `width` bytes."""
    return b"".join(value.to_bytes(width, "little") for value in values)


def fast_lanes(values: Sequence[int], bits: int, width: int) -> bytes:
    """Pack up to 1024 values of `bits` bits into one block of `width` bits, the rest zeros."""
    block = [*values, *[0] * (1024 - len(values))]
    lanes, order = 1024 // bits, (0, 4, 2, 6, 1, 5, 3, 7)
    words_of_lanes = []
    for lane in range(lanes):
        stream = 0
        for row in range(bits):
            at = order[row // 8] * 16 + row % 8 * 128 + lane
            stream |= block[at] << (row * width)
        words_of_lanes.append(stream)
    size = bits // 8
    rows = ((stream >> (bits * k)) % 2**bits for k in range(width) for stream in words_of_lanes)
    return b"".join(row.to_bytes(size, "little") for row in rows)


InputEdit = Change | Callable[[Files], Files]
"""A change, or a function of the files of an input."""


@overload
def edited(source: Request, *changes: InputEdit, by: str = "hand") -> Request: ...


@overload
def edited(source: Maker, *changes: InputEdit, by: str = "hand") -> Maker: ...


def edited(source: Request | Maker, *changes: InputEdit, by: str = "hand") -> Request | Maker:
    """Return a maker, or a request, with valid changes of its input."""
    if isinstance(source, Request):
        return replace(source, make=edited(source.make, *changes, by=by))
    make = source

    def change_all() -> Input:
        made = make()
        files = made.files
        for change in changes:
            files = change(files) if callable(change) else apply(change, files)[0]
        return Input(files, made.table, made_by=by)

    return change_all


def with_pages(
    table: pa.Table,
    version: str,
    columns: Mapping[int, Sequence[Page]],
    column_buffers: Mapping[int, bytes] | None = None,
) -> Callable[[], Input]:
    """Return a maker of the file of `table` in which some columns have the given pages.

    `column_buffers` adds a column buffer to columns.
    """

    def make() -> Input:
        made = file(table, version)()
        data = made.files[DATA]
        built = rebuild(data, columns, column_buffers or {})
        return Input({DATA: built}, made.table, made_by="hand")

    return make


def of_pages(array: pa.Array | pa.Table, version: str, *pages: Page) -> Maker:
    """Return a maker of the file of a column `c` in pages."""
    table = column(array) if isinstance(array, pa.Array) else array
    return with_pages(table, version, {0: pages})


def one_page(array: pa.Array, version: str, encoding: Message, *buffers: bytes) -> Maker:
    """Return a maker of the file of a column `c` in one page."""
    return of_pages(array, version, Page(encoding, len(array), buffers))


def rebuild(
    data: bytes, columns: Mapping[int, Sequence[Page]], column_buffers: Mapping[int, bytes]
) -> bytes:
    """Rewrite a file with its own descriptor and the given pages and column buffers."""
    parsed = open_file(BytesSource(data), Context("written"))
    descriptor = parsed.global_buffers[0]
    out = bytearray()
    messages = []
    for index, extent in enumerate(parsed.column_extents):
        message = file2_pb2.ColumnMetadata.FromString(data[extent.offset : extent.end])
        if index in column_buffers:
            message.buffer_sizes.append(len(column_buffers[index]))
            message.buffer_offsets.append(_append(out, column_buffers[index]))
        if index in columns:
            del message.pages[:]
            for page in columns[index]:
                _add_page(message, page, out)
        else:
            for old in message.pages:
                pairs = zip(old.buffer_offsets, old.buffer_sizes, strict=True)
                old.buffer_offsets[:] = [_append(out, data[at : at + n]) for at, n in pairs]
        messages.append(message.SerializeToString(deterministic=True))
    at, held = len(out), data[descriptor.offset : descriptor.end]
    return closed(out + held, [(at, len(held))], messages, data[-8:])


def _add_page(message: file2_pb2.ColumnMetadata, page: Page, out: bytearray) -> None:
    offsets = [_append(out, buffer) for buffer in page.buffers]
    added = message.pages.add(buffer_offsets=offsets, buffer_sizes=map(len, page.buffers))
    added.length, added.priority = page.num_rows, page.first_row
    value = page.encoding.SerializeToString(deterministic=True)
    packed = AnyMessage(type_url=f"/{page.encoding.DESCRIPTOR.full_name}", value=value)
    added.encoding.direct.encoding = packed.SerializeToString(deterministic=True)


def _append(out: bytearray, buffer: bytes) -> int:
    at = len(out)
    out += buffer + b"H" * (-len(buffer) % ALIGNMENT)
    return at

"""Container: footer, offset tables, column metadata and global buffers of a 2.x file.

The footer, the last 40 bytes, names the version and says where the three tables of the file begin.
One `ColumnMetadata` message per column, in column order, back to back, lists the column's pages:
where their buffers lie, how many rows they hold and how they are encoded. Two offset tables lie
between them and the footer: CMO (column metadata offsets), then GBO (global buffer offsets). Global
buffer 0 is the `FileDescriptor`: the schema and the number of rows. An encoding is an `Any` in
`Encoding.direct`; its type decides the grammar of the page and depends on the file version.

Layout of the footer: u64 starts of column metadata, CMO and GBO; u32 numbers of global buffers and
columns; u16 major, u16 minor, "LANC".
Layout of a table entry (16 bytes): u64 position, u64 size, absolute.

Clauses: L.file.footer.size, L.file.footer.magic, L.file.footer.version, L.file.footer.version-2-0,
L.file.footer.column-metadata-start, L.file.footer.cmo-start, L.file.footer.gbo-start,
L.file.footer.num-columns, L.file.footer.num-global-buffers, L.file.cmo.entry, L.file.gbo.entry,
L.file.globals.descriptor, L.file.descriptor.length, L.file.columns.message,
L.file.columns.encoding, L.file.pages.extents-pair, L.file.pages.extent, L.file.pages.encoding,
L.file.pages.type-url, L.file.pages.length, L.file.alignment.buffers

Divergences: D.file.footer-says-0-3, D.file.cmo-start-unused, D.file.deferred-encoding-unread
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from lanceref.core import errors
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Cursor, Extent, FileBytes, Source, parse_message
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, PAGE_TYPE, V0_1, V2_0, FileVersion
from lanceref.core.limits import Budget
from lanceref.core.run_sizes import keep_freed_blocks
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.proto import (
    encodings_v2_0_pb2,
    encodings_v2_1_pb2,
    encodings_v2_3_pb2,
    file2_pb2,
    file_pb2,
)

ALIGNMENT = 64
"""Every buffer starts at a multiple of this many bytes."""

COLUMN_TYPE = "lance.encodings.ColumnEncoding"
"""Message of a column's encoding, in every version."""

_MESSAGES: dict[str, type[Message]] = {
    COLUMN_TYPE: encodings_v2_0_pb2.ColumnEncoding,
    "lance.encodings.ArrayEncoding": encodings_v2_0_pb2.ArrayEncoding,
    "lance.encodings21.PageLayout": encodings_v2_1_pb2.PageLayout,
    "lance.encodings23.PlanarLayout": encodings_v2_3_pb2.PlanarLayout,
}

Buffers: TypeAlias = file2_pb2.ColumnMetadata | file2_pb2.ColumnMetadata.Page
"""Messages that list buffers."""


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """One page: absolute buffer extents, rows (or items), first row, parsed encoding message.

    `place` is where the column's metadata lies, for errors about the description.
    """

    extents: tuple[Extent, ...]
    num_rows: int
    priority: int
    encoding: Message
    place: errors.Place


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in its file: what the file says of it, the type of its leaf, and the version."""

    file: FileBytes
    metadata: PageMetadata
    type: pa.DataType
    version: FileVersion


@dataclass(frozen=True, slots=True)
class ColumnMetadata:
    """One physical column: its pages and the column-level buffers (never written by the oracle)."""

    index: int
    pages: tuple[PageMetadata, ...]
    encoding: Message
    extents: tuple[Extent, ...]
    place: errors.Place

    @property
    def num_rows(self) -> int:
        """Number of rows: the sum of the lengths of all pages."""
        return sum(page.num_rows for page in self.pages)


def parse_column(cursor: Cursor, index: int, version: FileVersion, data_end: int) -> ColumnMetadata:
    """Parse the message that fills `cursor`; buffers must lie in bytes 0..`data_end`.

    Raises OutOfRange.
    """
    ctx, place = cursor.ctx, cursor.ctx.at(cursor.offset, cursor.remaining)
    name, clause = f"column metadata {index}", "L.file.columns.message"
    message = parse_message(cursor, file2_pb2.ColumnMetadata, name, clause)
    encoding = _encoding(message.encoding, COLUMN_TYPE, "L.file.columns.encoding", ctx, place)
    of_column = _extents(message, version, data_end, ctx, place)
    pages = []
    shared: dict[bytes, Message] = {}  # pages with the same bytes share their encoding
    first_row = 0
    for page in message.pages:
        if page.length > ctx.limits.page_rows:
            clause, wanted = "L.file.pages.length", f"at most {ctx.limits.page_rows} rows"
            raise errors.OutOfRange(clause, place, f"a page of {page.length} rows", wanted)
        key, type_name = page.encoding.direct.encoding, PAGE_TYPE[version]
        own = _extents(page, version, data_end, ctx, place)
        if key not in shared:
            clause = "L.file.pages.encoding"
            shared[key] = _encoding(page.encoding, type_name, clause, ctx, place)
        pages.append(PageMetadata(own, page.length, page.priority, shared[key], place))
    for one in pages:  # 0 in 2.0, never decreasing later
        if one.priority < first_row or (version == V2_0 and one.priority != 0):
            ctx.lint("L.file.pages.priority", place, one.priority, f"{first_row} or more")
        first_row = 0 if version == V2_0 else max(first_row, one.priority)
    return ColumnMetadata(index, tuple(pages), encoding, of_column, place)


def _extents(
    owner: Buffers, version: FileVersion, data_end: int, ctx: Context, place: errors.Place
) -> tuple[Extent, ...]:
    """Return where the buffers of a column or page lie."""
    offsets, sizes = owner.buffer_offsets, owner.buffer_sizes
    if len(offsets) != len(sizes):
        clause, found = "L.file.pages.extents-pair", f"{len(sizes)} sizes"
        raise errors.CorruptPage(clause, place, found, f"{len(offsets)}, one for each offset")
    extents = tuple(map(Extent, offsets, sizes))
    for offset, size in extents:
        if offset + size > data_end:
            clause, found = "L.file.pages.extent", f"a buffer of {size} bytes at {offset}"
            raise errors.OutOfRange(clause, place, found, f"at most {data_end} bytes")
        if offset % ALIGNMENT:
            clause, found = "L.file.alignment.buffers", f"a buffer at {offset}"
            misaligned = errors.OutOfRange(clause, place, found, f"a multiple of {ALIGNMENT}")
            if version > V2_0:
                ctx.refuse(misaligned)
            else:
                ctx.lint(clause, place, found, misaligned.wanted)
    return extents


def _encoding(
    encoding: file2_pb2.Encoding, type_name: str, clause: str, ctx: Context, place: errors.Place
) -> Message:
    """Unwrap `Encoding.direct` into the message named `type_name`."""
    arm = encoding.WhichOneof("location")
    if arm != "direct":
        raise errors.UnknownEncoding(clause, place, f"encoding {arm or 'missing'}", "direct")
    cursor = Cursor(memoryview(encoding.direct.encoding), place.offset, ctx)
    packed = parse_message(
        cursor, AnyMessage, "encoding", "L.file.pages.encoding", embedded_in=place
    )
    name = packed.type_url.rpartition("/")[2]
    if name != type_name or "/" not in packed.type_url:
        found, wanted = repr(packed.type_url), f"/{type_name}"
        raise errors.UnknownEncoding("L.file.pages.type-url", place, found, wanted)
    value = Cursor(memoryview(packed.value), place.offset, ctx)
    return parse_message(value, _MESSAGES[type_name], type_name, clause, embedded_in=place)


FOOTER_BYTES = 40
"""Size of the footer."""

ENTRY_BYTES, EXTENT_BYTES = 16, 256
"""Bytes of one entry of an offset table, and the memory that it takes."""

MAGIC = b"LANC"
"""Last four bytes of every Lance file."""

TAIL_BYTES = 4096
"""Bytes read from the end of a file at first; enough for the metadata of most files."""


@dataclass(frozen=True, slots=True)
class Footer:
    """The words of the footer; starts are absolute, `start` is the footer's own."""

    column_metadata_start: int
    cmo_start: int
    gbo_start: int
    num_global_buffers: int
    num_columns: int
    version: FileVersion
    start: int


def is_legacy(source: Source) -> bool:
    """Whether the version words and the magic at the end of a file are those of 0.1."""
    end = bytes(source.read(max(0, source.size - 8), 8))
    words = (int.from_bytes(end[:2], "little"), int.from_bytes(end[2:4], "little"))
    return end[4:] == MAGIC and FROM_WORDS.get(words) == V0_1


def open_tail(source: Source, ctx: Context) -> FileBytes:
    """Read the end of a file of any version, whose metadata has a budget of its own."""
    keep_freed_blocks()
    budget = Budget(ctx.limits) if ctx.budget is None else ctx.budget
    ctx = replace(ctx, budget=budget.of_file(source.path, source.size))
    return FileBytes(source, ctx.during("open")).with_tail(TAIL_BYTES)


def footer_cursor(file: FileBytes, size: int, clause: str) -> Cursor:
    """Return the last `size` bytes of a file of any version. Raises Truncated."""
    if file.size < size:
        place, found = file.ctx.at(0, file.size), f"a file of {file.size} bytes"
        raise errors.Truncated(clause, place, found, f"at least {size} bytes")
    return file.cursor(Extent(file.size - size, size), "footer", clause)


def parse_version(cursor: Cursor, version_clause: str, magic_clause: str) -> tuple[int, int]:
    """Parse the version words and the magic that end a file of any version. Raises BadMagic."""
    words = cursor.u16("major", version_clause), cursor.u16("minor", version_clause)
    place = cursor.ctx.at(cursor.offset, 4)
    magic = bytes(cursor.take(4, "magic", magic_clause, "magic"))
    expect(magic_clause, magic.hex(), MAGIC.hex(), place, errors.BadMagic)
    return words


def parse_footer(file: FileBytes) -> Footer:
    """Parse the last 40 bytes of the file and check them against its size.

    Raises UnknownVersion.
    """
    cursor = footer_cursor(file, FOOTER_BYTES, "L.file.footer.size")
    start = cursor.offset
    with file.ctx.group("footer"):
        a = cursor.u64("column_metadata_start", "L.file.footer.column-metadata-start")
        b = cursor.u64("cmo_start", "L.file.footer.cmo-start")
        c = cursor.u64("gbo_start", "L.file.footer.gbo-start")
        num_global_buffers = cursor.u32("num_global_buffers", "L.file.footer.num-global-buffers")
        num_columns = cursor.u32("num_columns", "L.file.footer.num-columns")
        words = parse_version(cursor, "L.file.footer.version", "L.file.footer.magic")
    version, place = FROM_WORDS.get(words), file.ctx.at(start + 32, 4)
    if version is None or version == V0_1:
        raise errors.UnknownVersion("L.file.footer.version", place, words, "2.0 to 2.3")
    if words != FOOTER_WORDS[version]:
        file.ctx.lint("L.file.footer.version-2-0", place, words, FOOTER_WORDS[version])
    footer = Footer(a, b, c, num_global_buffers, num_columns, version, start)
    _check_starts(footer, file)
    return footer


def _check_starts(footer: Footer, file: FileBytes) -> None:
    """Check the starts and counts: A <= B, B + CMO = C, C + GBO = footer."""
    ctx, end = file.ctx, footer.start
    cmo_bytes = footer.num_columns * ENTRY_BYTES
    gbo_bytes = footer.num_global_buffers * ENTRY_BYTES
    if footer.num_global_buffers == 0 or gbo_bytes > end:
        clause, wanted = "L.file.footer.num-global-buffers", f"1 to {end // ENTRY_BYTES}"
        raise errors.OutOfRange(clause, ctx.at(end + 24, 4), footer.num_global_buffers, wanted)
    if cmo_bytes > end - gbo_bytes:
        clause, wanted = "L.file.footer.num-columns", f"at most {(end - gbo_bytes) // ENTRY_BYTES}"
        raise errors.OutOfRange(clause, ctx.at(end + 28, 4), footer.num_columns, wanted)
    if footer.gbo_start + gbo_bytes > end:
        clause, wanted = "L.file.footer.gbo-start", f"at most {end - gbo_bytes}"
        raise errors.OutOfRange(clause, ctx.at(end + 16, 8), footer.gbo_start, wanted)
    cmo_start = footer.gbo_start - cmo_bytes  # each table ends where the next begins
    place = ctx.at(end + 8, 8)
    expect("L.file.footer.cmo-start", footer.cmo_start, cmo_start, place, errors.OutOfRange)
    if footer.column_metadata_start > footer.cmo_start:
        wanted, clause = f"at most {footer.cmo_start}", "L.file.footer.column-metadata-start"
        raise errors.OutOfRange(clause, ctx.at(end, 8), footer.column_metadata_start, wanted)
    if footer.gbo_start + gbo_bytes != end:
        place, table_end = ctx.at(end, FOOTER_BYTES), footer.gbo_start + gbo_bytes
        ctx.lint("L.file.footer.gbo-start", place, table_end, f"{end}, the footer")


def parse_table(file: FileBytes, start: int, count: int, name: str, clause: str) -> list[Extent]:
    """Parse a table of `count` entries, whose caller bounds what they point at.

    Raises OutOfRange, LimitExceeded.
    """
    place, extents = file.ctx.at(start, count * ENTRY_BYTES), list[Extent]()
    cursor = file.cursor(Extent(start, count * ENTRY_BYTES), f"{name} table", clause)
    if file.ctx.budget is not None:
        file.ctx.budget.charge(count * EXTENT_BYTES, f"a table of {count} entries", place)
    with cursor.ctx.group(name, clause):
        for i in range(count):
            position = cursor.u64(f"{name}[{i}].position", clause)
            extents.append(Extent(position, cursor.u64(f"{name}[{i}].size", clause)))
    return extents


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Schema and row count of a file; `place` is where the message lies."""

    schema: LanceSchema
    num_rows: int
    place: errors.Place


def check_global_buffers(
    extents: list[Extent], version: FileVersion, data_end: int, file: FileBytes
) -> None:
    """Check that every entry lies before the column metadata, and is aligned from 2.1 on.

    Raises OutOfRange.
    """
    for i, extent in enumerate(extents):
        place = file.ctx.at(extent.offset, extent.size)
        found = f"global buffer {i} at {extent.offset} with {extent.size} bytes"
        if extent.end > data_end:
            wanted = f"a buffer inside the first {data_end} bytes"
            raise errors.OutOfRange("L.file.gbo.entry", place, found, wanted)
        if extent.offset % ALIGNMENT and version > V2_0:
            clause, wanted = "L.file.alignment.buffers", f"a multiple of {ALIGNMENT}"
            file.ctx.refuse(errors.OutOfRange(clause, place, found, wanted))


def parse_descriptor(file: FileBytes, extent: Extent) -> Descriptor:
    """Parse global buffer 0: the schema and the number of rows. Raises OutOfRange."""
    cursor = file.cursor(extent, "global buffer 0", "L.file.gbo.entry")
    place, clause = file.ctx.at(extent.offset, extent.size), "L.file.globals.descriptor"
    message = parse_message(cursor, file_pb2.FileDescriptor, "file descriptor", clause)
    if not message.HasField("schema"):
        raise errors.OutOfRange(clause, place, "no schema", "a schema")
    schema = parse_schema(message.schema.fields, dict(message.schema.metadata), file.ctx, place)
    return Descriptor(schema, message.length, place)

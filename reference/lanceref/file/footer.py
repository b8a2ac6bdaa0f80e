"""Footer: the last 40 bytes of a 2.x file, and the tables and global buffers it leads to.

It names the version and says where the three tables of the file begin. Two offset tables lie
between the last column metadata and the footer: CMO (column metadata offsets), then GBO (global
buffer offsets). Global buffer 0 is the `FileDescriptor`: the schema and the number of rows. Further
buffers belong to the application (indices keep their models there).

Layout (little-endian)::

    0   u64  column_metadata_start   position of the first column metadata (A)
    8   u64  cmo_start               position of the column metadata offset table (B)
    16  u64  gbo_start               position of the global buffer offset table (C)
    24  u32  num_global_buffers
    28  u32  num_columns
    32  u16  major
    34  u16  minor
    36  4s   "LANC"

Layout of a table entry (16 bytes): u64 position, u64 size, absolute.
Layout (message lance.file.FileDescriptor): 1 schema {1 fields, 5 metadata}, 2 length.

Clauses: L.file.footer.size, L.file.footer.magic, L.file.footer.version, L.file.footer.version-2-0,
L.file.footer.column-metadata-start, L.file.footer.cmo-start, L.file.footer.gbo-start,
L.file.footer.num-columns, L.file.footer.num-global-buffers, L.file.cmo.entry, L.file.gbo.entry,
L.file.globals.descriptor, L.file.descriptor.length, L.file.alignment.buffers

Divergences: D.file.footer-says-0-3, D.file.cmo-start-unused
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import BadMagic, OutOfRange, Place, Truncated, UnknownVersion, expect
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1, V2_0, FileVersion
from lanceref.core.wire import parse_message
from lanceref.file.columns import ALIGNMENT
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.proto import file_pb2

FOOTER_BYTES = 40
"""Size of the footer."""

ENTRY_BYTES = 16
"""Bytes of one entry of an offset table."""

MAGIC = b"LANC"
"""Last four bytes of every Lance file."""


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


def footer_cursor(file: FileBytes, size: int, clause: str) -> Cursor:
    """Return the last `size` bytes of a file of any version. Raises Truncated."""
    if file.size < size:
        place, found = file.ctx.at(0, file.size), f"a file of {file.size} bytes"
        raise Truncated(clause, place, found, f"at least {size} bytes")
    return file.cursor(Extent(file.size - size, size), "footer", clause)


def parse_version(cursor: Cursor, version_clause: str, magic_clause: str) -> tuple[int, int]:
    """Parse the version words and the magic that end a file of any version. Raises BadMagic."""
    words = cursor.u16("major", version_clause), cursor.u16("minor", version_clause)
    place = cursor.ctx.at(cursor.offset, 4)
    magic = bytes(cursor.take(4, "magic", magic_clause, "magic"))
    expect(magic_clause, magic.hex(), MAGIC.hex(), place, BadMagic)
    return words


def parse_footer(file: FileBytes) -> Footer:
    """Parse the last 40 bytes of the file and check them against its size."""
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
        raise UnknownVersion("L.file.footer.version", place, words, "2.0 to 2.3")
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
        raise OutOfRange(clause, ctx.at(end + 24, 4), footer.num_global_buffers, wanted)
    if cmo_bytes > end - gbo_bytes:
        clause, wanted = "L.file.footer.num-columns", f"at most {(end - gbo_bytes) // ENTRY_BYTES}"
        raise OutOfRange(clause, ctx.at(end + 28, 4), footer.num_columns, wanted)
    if footer.gbo_start + gbo_bytes > end:
        clause, wanted = "L.file.footer.gbo-start", f"at most {end - gbo_bytes}"
        raise OutOfRange(clause, ctx.at(end + 16, 8), footer.gbo_start, wanted)
    cmo_start = footer.gbo_start - cmo_bytes  # each table ends where the next begins
    place = ctx.at(end + 8, 8)
    expect("L.file.footer.cmo-start", footer.cmo_start, cmo_start, place, OutOfRange)
    if footer.column_metadata_start > footer.cmo_start:
        wanted, clause = f"at most {footer.cmo_start}", "L.file.footer.column-metadata-start"
        raise OutOfRange(clause, ctx.at(end, 8), footer.column_metadata_start, wanted)
    if footer.gbo_start + gbo_bytes != end:
        place, table_end = ctx.at(end, FOOTER_BYTES), footer.gbo_start + gbo_bytes
        ctx.lint("L.file.footer.gbo-start", place, table_end, f"{end}, the footer")


def parse_offsets(cursor: Cursor, count: int, name: str, clause: str) -> list[Extent]:
    """Parse `count` entries; the caller bounds what they point at."""
    cursor.require(count * ENTRY_BYTES, f"{count} entries of {name}", clause)
    extents = []
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
    place: Place


def check_global_buffers(
    extents: list[Extent], version: FileVersion, data_end: int, file: FileBytes
) -> None:
    """Check that every entry lies before the column metadata, and is aligned from 2.1 on."""
    for i, extent in enumerate(extents):
        place = file.ctx.at(extent.offset, extent.size)
        found = f"global buffer {i} at {extent.offset} with {extent.size} bytes"
        if extent.end > data_end:
            wanted = f"a buffer inside the first {data_end} bytes"
            raise OutOfRange("L.file.gbo.entry", place, found, wanted)
        if extent.offset % ALIGNMENT and version > V2_0:
            clause, wanted = "L.file.alignment.buffers", f"a multiple of {ALIGNMENT}"
            file.ctx.refuse(OutOfRange(clause, place, found, wanted))


def parse_descriptor(file: FileBytes, extent: Extent) -> Descriptor:
    """Parse global buffer 0."""
    cursor = file.cursor(extent, "global buffer 0", "L.file.gbo.entry")
    place, clause = file.ctx.at(extent.offset, extent.size), "L.file.globals.descriptor"
    message = parse_message(cursor, file_pb2.FileDescriptor, "file descriptor", clause)
    if not message.HasField("schema"):
        raise OutOfRange(clause, place, "no schema", "a schema")
    schema = parse_schema(message.schema.fields, dict(message.schema.metadata), file.ctx, place)
    return Descriptor(schema, message.length, place)

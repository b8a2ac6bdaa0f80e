"""Footer: the last 40 bytes of a 2.x file.

It names the version and says where the three tables of the file begin.

Layout (little-endian)::

    0   u64  column_metadata_start   position of the first column metadata (A)
    8   u64  cmo_start               position of the column metadata offset table (B)
    16  u64  gbo_start               position of the global buffer offset table (C)
    24  u32  num_global_buffers
    28  u32  num_columns
    32  u16  major
    34  u16  minor
    36  4s   "LANC"

Clauses: L.file.footer.size, L.file.footer.magic, L.file.footer.version, L.file.footer.version-2-0,
L.file.footer.column-metadata-start, L.file.footer.cmo-start, L.file.footer.gbo-start,
L.file.footer.num-columns, L.file.footer.num-global-buffers

Divergences: D.file.footer-says-0-3, D.file.cmo-start-unused

Offset tables: where column metadata and global buffers lie.

Two tables stand between the last column metadata and the footer: CMO (column metadata offsets),
then GBO (global buffer offsets).

Layout of an entry (16 bytes): u64 position, u64 size, absolute.

Clauses: L.file.cmo.entry, L.file.gbo.entry

Global buffers: the file descriptor and what users add.

Entry 0 of the GBO table is the `FileDescriptor`: the schema and the number of rows. Further buffers
belong to the application (indices keep their models there) and have no meaning for the file format.

Layout (message lance.file.FileDescriptor): 1 schema {1 fields, 5 metadata}, 2 length.

Clauses: L.file.globals.descriptor, L.file.gbo.entry, L.file.descriptor.length,
L.file.alignment.buffers
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import BadMagic, OutOfRange, Place, Truncated, UnknownVersion
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1, V2_0, FileVersion
from lanceref.core.wire import parse_message
from lanceref.file.columns import ALIGNMENT
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_messages import parse_schema
from lanceref.proto import file_pb2

ENTRY_BYTES = 16
"""Bytes of one entry."""


def parse_offsets(cursor: Cursor, count: int, name: str, clause: str) -> list[Extent]:
    """Parse `count` entries; what they point at is bounded by who reads it."""
    cursor.require(count * ENTRY_BYTES, f"{count} entries of {name}", clause)
    with cursor.ctx.group(name, clause):
        return [
            Extent(
                cursor.u64(f"{name}[{i}].position", clause), cursor.u64(f"{name}[{i}].size", clause)
            )
            for i in range(count)
        ]


FOOTER_BYTES = 40
"""Size of the footer."""

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


def parse_footer(file: FileBytes) -> Footer:
    """Parse the last 40 bytes of the file and check them against its size."""
    if file.size < FOOTER_BYTES:
        raise Truncated(
            "L.file.footer.size",
            file.ctx.at(0, file.size),
            found=f"a file of {file.size} bytes",
            wanted=f"at least the {FOOTER_BYTES} bytes of a footer",
        )
    start = file.size - FOOTER_BYTES
    cursor = file.cursor(Extent(start, FOOTER_BYTES), "footer", "L.file.footer.size")
    with file.ctx.group("footer"):
        a = cursor.u64("column_metadata_start", "L.file.footer.column-metadata-start")
        b = cursor.u64("cmo_start", "L.file.footer.cmo-start")
        c = cursor.u64("gbo_start", "L.file.footer.gbo-start")
        num_global_buffers = cursor.u32("num_global_buffers", "L.file.footer.num-global-buffers")
        num_columns = cursor.u32("num_columns", "L.file.footer.num-columns")
        words = (
            cursor.u16("major", "L.file.footer.version"),
            cursor.u16("minor", "L.file.footer.version"),
        )
        magic = bytes(cursor.take(4, "magic", "L.file.footer.magic", "magic"))
    if magic != MAGIC:
        raise BadMagic(
            "L.file.footer.magic", file.ctx.at(start + 36, 4), found=magic.hex(), wanted=MAGIC.hex()
        )
    version = _version(words, file, start)
    footer = Footer(a, b, c, num_global_buffers, num_columns, version, start)
    _check_starts(footer, file)
    return footer


def _version(words: tuple[int, int], file: FileBytes, start: int) -> FileVersion:
    version = FROM_WORDS.get(words)
    place = file.ctx.at(start + 32, 4)
    if version is None or version == V0_1:
        raise UnknownVersion(
            "L.file.footer.version",
            place,
            found=f"version words {words[0]}, {words[1]}",
            wanted="a version of 2.0 to 2.3",
        )
    if words != FOOTER_WORDS[version]:
        file.ctx.lint("L.file.footer.version-2-0", place, found=words, wanted=FOOTER_WORDS[version])
    return version


def _check_starts(footer: Footer, file: FileBytes) -> None:
    """Hold the starts and counts against each other: A <= B, B + CMO = C, C + GBO = footer."""
    place = file.ctx.at(footer.start, FOOTER_BYTES)
    cmo_bytes = footer.num_columns * ENTRY_BYTES
    gbo_bytes = footer.num_global_buffers * ENTRY_BYTES
    if footer.num_global_buffers == 0 or gbo_bytes > footer.start:
        raise OutOfRange(
            "L.file.footer.num-global-buffers",
            file.ctx.at(footer.start + 24, 4),
            found=f"{footer.num_global_buffers} global buffers",
            wanted=f"1 to {footer.start // ENTRY_BYTES}",
        )
    if cmo_bytes > footer.start - gbo_bytes:
        raise OutOfRange(
            "L.file.footer.num-columns",
            file.ctx.at(footer.start + 28, 4),
            found=f"{footer.num_columns} columns",
            wanted=f"at most {(footer.start - gbo_bytes) // ENTRY_BYTES}",
        )
    if footer.gbo_start + gbo_bytes > footer.start:
        raise OutOfRange(
            "L.file.footer.gbo-start",
            file.ctx.at(footer.start + 16, 8),
            found=footer.gbo_start,
            wanted=f"at most {footer.start - gbo_bytes}",
        )
    if footer.cmo_start + cmo_bytes != footer.gbo_start:
        raise OutOfRange(
            "L.file.footer.cmo-start",
            file.ctx.at(footer.start + 8, 8),
            found=footer.cmo_start,
            wanted=f"{footer.gbo_start - cmo_bytes}, so that the table ends where the next begins",
        )
    if footer.column_metadata_start > footer.cmo_start:
        raise OutOfRange(
            "L.file.footer.column-metadata-start",
            file.ctx.at(footer.start, 8),
            found=footer.column_metadata_start,
            wanted=f"at most {footer.cmo_start}",
        )
    if footer.gbo_start + gbo_bytes != footer.start:
        file.ctx.lint(
            "L.file.footer.gbo-start",
            place,
            found=f"a table that ends at {footer.gbo_start + gbo_bytes}",
            wanted=f"a table that ends at the footer at {footer.start}",
        )


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Schema and row count of a file; `place` is where the message lies."""

    schema: LanceSchema
    num_rows: int
    place: Place


def check_global_buffers(
    extents: list[Extent], version: FileVersion, data_end: int, file: FileBytes
) -> None:
    """Hold every entry against the bytes before the column metadata."""
    for i, extent in enumerate(extents):
        place = file.ctx.at(extent.offset, extent.size)
        if extent.end > data_end:
            raise OutOfRange(
                "L.file.gbo.entry",
                place,
                found=f"global buffer {i} at {extent.offset} with {extent.size} bytes",
                wanted=f"a buffer inside the first {data_end} bytes",
            )
        if extent.offset % ALIGNMENT and version > V2_0:
            file.ctx.refuse(
                OutOfRange(
                    "L.file.alignment.buffers",
                    place,
                    found=f"global buffer {i} at {extent.offset}",
                    wanted=f"a multiple of {ALIGNMENT}",
                )
            )


def parse_descriptor(file: FileBytes, extent: Extent) -> Descriptor:
    """Parse global buffer 0."""
    cursor = file.cursor(extent, "global buffer 0", "L.file.gbo.entry")
    place = file.ctx.at(extent.offset, extent.size)
    message = parse_message(
        cursor, file_pb2.FileDescriptor, "file descriptor", "L.file.globals.descriptor"
    )
    if not message.HasField("schema"):
        raise OutOfRange("L.file.globals.descriptor", place, found="no schema", wanted="a schema")
    schema = parse_schema(message.schema.fields, dict(message.schema.metadata), file.ctx, place)
    return Descriptor(schema, message.length, place)

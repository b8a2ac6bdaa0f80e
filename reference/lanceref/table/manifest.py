"""Manifest file: one version of a table.

Sections follow each other from offset 0 (index section, transaction, manifest), each a u32 length
and a protobuf message, then a footer that points at the manifest. The manifest itself holds the
positions of the other two. A table of 0.1 keeps the values of its dictionaries before the sections.

Layout::

    dictionary values, by field id  only in 0.1
    [u32 length, IndexSection]     only when the version has an index
    [u32 length, Transaction]
    [u32 length, Manifest]
    u64 manifest_position, u16 0, u16 2, "LANC"

Clauses: L.table.manifest.size, L.table.manifest.magic, L.table.manifest.footer,
L.table.manifest.footer-version, L.table.manifest.message, L.table.manifest.section,
L.table.manifest.end, L.table.manifest.timestamp, L.table.manifest.unknown-field,
L.table.manifest.index-section, L.table.manifest.overlap, L.txn.inline.message,
L.table.format.file-format, L.table.format.version, L.table.refs.branch-name,
L.legacy.dictionary.location

Divergences: D.table.transaction-section-23, D.table.manifest-footer-unchecked
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
from google.protobuf.message import Message

from lanceref.core.budget import Budget
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import (
    BadMagic,
    BytesError,
    FormatError,
    OutOfRange,
    Place,
    Truncated,
    UnknownVersion,
)
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2, V2_3, FileVersion
from lanceref.core.wire import M, parse_message
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.proto import table_pb2, transaction_pb2
from lanceref.storage import Source
from lanceref.table.flags import check_flags
from lanceref.table.fragments import Fragment, lint_marks, parse_fragments
from lanceref.table.indices import check_indices
from lanceref.table.refs import check_stored_branch

if TYPE_CHECKING:
    from lanceref.file_0_1.binary import Dictionaries


FOOTER_BYTES = 16
"""Size of the footer."""

MAGIC = b"LANC"
"""Last four bytes."""

TAIL_BYTES = 64 * 1024
"""Bytes read from the end at first."""

FIRST_SECOND, END_SECOND = -62_135_510_400, 253_402_214_400
"""Seconds from 1970 to the second day of year 1 and the last of 9999: any zone can show them."""

STORAGE_VERSIONS: dict[str, FileVersion] = {
    "0.1": V0_1,
    "2.0": V2_0,
    "2.1": V2_1,
    "2.2": V2_2,
    "2.3": V2_3,
}
"""The names a manifest may give the data storage version."""


FOOTER_VERSIONS = ((0, 2), (0, 1))
"""The version words of a footer: of today's manifests, and of those by releases before 1.0."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A parsed manifest file; `place` is where the manifest message lies.

    `transaction` is None when there is no inline one, or when it cannot be understood: a reader
    does not need it. `dictionaries` are those of a table of 0.1.
    """

    message: table_pb2.Manifest
    schema: LanceSchema
    fragments: tuple[Fragment, ...]
    indices: tuple[table_pb2.IndexMetadata, ...]
    transaction: transaction_pb2.Transaction | None
    place: Place
    dictionaries: Dictionaries

    @property
    def version(self) -> int:
        """The version the manifest says it is."""
        return int(self.message.version)

    @property
    def timestamp(self) -> datetime:
        """When the version was made, in local time without a zone, cut to microseconds."""
        stamp = self.message.timestamp
        whole = datetime.fromtimestamp(stamp.seconds)
        return whole + timedelta(microseconds=stamp.nanos // 1000)

    def summary(self) -> dict[str, str]:
        """Return what pylance tells of a version, as text: fragments, files, rows, bytes."""
        files = [file for fragment in self.fragments for file in fragment.files]
        deleted = sum(fragment.num_deleted for fragment in self.fragments)
        rows = sum(fragment.physical_rows for fragment in self.fragments)
        counts = {
            "total_data_file_rows": rows,
            "total_data_files": len(files),
            "total_deletion_file_rows": deleted,
            "total_deletion_files": sum(f.deletion_file is not None for f in self.fragments),
            "total_files_size": sum(file.size_bytes for file in files),
            "total_fragments": len(self.fragments),
            "total_rows": rows - deleted,
        }
        return {name: str(count) for name, count in counts.items()}

    @property
    def storage_version(self) -> str:
        """Name of the data storage version; empty in very old manifests."""
        return str(self.message.data_format.version)


def open_manifest(source: Source, ctx: Context) -> Manifest:
    """Parse and check a manifest file. Raises FormatError, UnknownFlag, UnknownVersion."""
    file = FileBytes(source, ctx.during("open")).with_tail(TAIL_BYTES)
    position = _parse_footer(file)
    table = Budget(ctx.limits) if ctx.budget is None else ctx.budget
    ctx = replace(ctx, stage="metadata", budget=table.of_manifest(source.path, source.size))
    file = file.during(ctx)
    extent, message = _section(file, position, table_pb2.Manifest, "manifest")
    place = file.ctx.at(extent.offset, extent.size)
    _check_end(file, extent)
    check_flags(message, file.ctx, place)
    _check_format(message, file.ctx, place)
    _check_timestamp(message, place)
    _check_branch(message, file.ctx, place)
    indices, index_extent = _indices(file, message)
    transaction, transaction_extent = _transaction(file, message)
    taken = [e for e in (index_extent, transaction_extent, extent) if e is not None]
    schema = parse_schema(message.fields, dict(message.schema_metadata), file.ctx, place)
    dictionaries: Dictionaries = {}
    if message.data_format.version in ("", str(V0_1)):
        from lanceref.file_0_1.binary import parse_dictionaries  # of tables of 0.1 alone

        dictionaries = parse_dictionaries(file, schema, position, place)
    _account_for_the_rest(file, taken)
    fragments = parse_fragments(message, schema, file.ctx, place)
    if index_extent is not None:
        where = file.ctx.at(index_extent.offset, index_extent.size)
        check_indices(indices, message, schema, file.ctx, where)
    if file.ctx.validating:
        lint_marks(message, schema, file.ctx, place)
    return Manifest(message, schema, fragments, indices, transaction, place, dictionaries)


def check_manifest(source: Source, ctx: Context) -> Manifest | None:
    """Parse a manifest file for `explain` and `validate`; None when it cannot be opened."""
    with ctx.piece():
        return open_manifest(source, ctx)
    return None


def _parse_footer(file: FileBytes) -> int:
    """Return the position of the manifest section."""
    if file.size < FOOTER_BYTES:
        raise Truncated(
            "L.table.manifest.size",
            file.ctx.at(0, file.size),
            found=f"a manifest of {file.size} bytes",
            wanted=f"at least {FOOTER_BYTES}",
        )
    start = file.size - FOOTER_BYTES
    cursor = file.cursor(Extent(start, FOOTER_BYTES), "footer", "L.table.manifest.footer")
    with file.ctx.group("footer", "L.table.manifest.footer"):
        position = cursor.u64("manifest_position", "L.table.manifest.footer")
        major = cursor.u16("major", "L.table.manifest.footer-version")
        minor = cursor.u16("minor", "L.table.manifest.footer-version")
        magic = bytes(cursor.take(4, "magic", "L.table.manifest.magic", "magic"))
    if magic != MAGIC:
        raise BadMagic(
            "L.table.manifest.magic",
            file.ctx.at(start + 12, 4),
            found=magic.hex(),
            wanted=MAGIC.hex(),
        )
    if (major, minor) not in FOOTER_VERSIONS:
        file.ctx.lint(
            "L.table.manifest.footer-version",
            file.ctx.at(start + 8, 4),
            found=f"{major}, {minor}",
            wanted="0, 2 or 0, 1",
        )
    return position


def _section(file: FileBytes, position: int, cls: type[M], name: str) -> tuple[Extent, M]:
    """Parse the length and the message at `position`; return the extent of both."""
    end = file.size - FOOTER_BYTES
    place = file.ctx.at(min(position, file.size), 4)
    if position + 4 > end:
        raise OutOfRange(
            "L.table.manifest.section",
            place,
            found=f"{name} at {position}",
            wanted=f"a section before the footer at {end}",
        )
    clause = "L.table.manifest.message" if name == "manifest" else "L.table.manifest.section"
    with file.ctx.group(f"{name} section"):
        head = file.cursor(Extent(position, 4), name, "L.table.manifest.section")
        size = head.u32("length", "L.table.manifest.section")
        if position + 4 + size > end:
            raise OutOfRange(
                "L.table.manifest.section",
                place,
                found=f"{name} of {size} bytes at {position}",
                wanted=f"at most {end - position - 4} bytes",
            )
        body = file.cursor(Extent(position + 4, size), name, clause)
        return Extent(position, size + 4), parse_message(body, cls, name, clause)


def _check_end(file: FileBytes, manifest: Extent) -> None:
    """Hold the manifest's length against the footer: a zero in its place is an empty message."""
    end = file.size - FOOTER_BYTES
    if manifest.end != end:
        file.ctx.refuse(
            OutOfRange(
                "L.table.manifest.end",
                file.ctx.at(manifest.offset, 4),
                found=f"a manifest section that ends at {manifest.end}",
                wanted=f"one that ends where the footer begins, at {end}",
            )
        )


def _indices(
    file: FileBytes, manifest: table_pb2.Manifest
) -> tuple[tuple[table_pb2.IndexMetadata, ...], Extent | None]:
    if not manifest.HasField("index_section"):  # L.table.manifest.index-section
        return (), None
    extent, section = _section(file, manifest.index_section, table_pb2.IndexSection, "index")
    return tuple(section.indices), extent


def _transaction(
    file: FileBytes, manifest: table_pb2.Manifest
) -> tuple[transaction_pb2.Transaction | None, Extent | None]:
    """Parse the inline transaction; one that cannot be parsed never stops a reader."""
    if manifest.HasField("transaction_section"):
        position = manifest.transaction_section
    elif manifest.HasField("transaction_section_deprecated"):
        position = manifest.transaction_section_deprecated
    else:
        return None, None
    try:
        extent, message = _section(file, position, transaction_pb2.Transaction, "transaction")
    except BytesError as error:
        file.ctx.lint("L.txn.inline.message", error.place, found=error.found, wanted=error.wanted)
        return None, None
    return message, extent


def _check_format(manifest: table_pb2.Manifest, ctx: Context, place: Place) -> None:
    if not manifest.HasField("data_format"):
        return
    given = manifest.data_format
    if given.file_format != "lance":
        ctx.refuse(
            FormatError(
                "L.table.format.file-format",
                place,
                found=repr(given.file_format),
                wanted="'lance'",
            )
        )
    if given.version not in STORAGE_VERSIONS:
        raise UnknownVersion(
            "L.table.format.version",
            place,
            found=repr(given.version),
            wanted=", ".join(STORAGE_VERSIONS),
        )


def _check_branch(manifest: table_pb2.Manifest, ctx: Context, place: Place) -> None:
    """Refuse a branch name that would place the root of the table elsewhere."""
    try:
        check_stored_branch(manifest.branch or None, place)
    except FormatError as error:
        ctx.refuse(error)


def _check_timestamp(manifest: table_pb2.Manifest, place: Place) -> None:
    stamp = manifest.timestamp
    if not (FIRST_SECOND <= stamp.seconds < END_SECOND and 0 <= stamp.nanos < 10**9):
        raise OutOfRange(
            "L.table.manifest.timestamp",
            place,
            found=f"{stamp.seconds} seconds, {stamp.nanos} nanoseconds",
            wanted="the years 1 to 9999",
        )


def _account_for_the_rest(file: FileBytes, taken: list[Extent]) -> None:
    """Own the bytes between the sections, and report sections that overlap."""
    at = 0
    for extent in [*sorted(taken), Extent(file.size - FOOTER_BYTES, FOOTER_BYTES)]:
        if extent.offset < at:
            file.ctx.lint(
                "L.table.manifest.overlap",
                file.ctx.at(extent.offset, extent.size),
                found=f"a section at {extent.offset}",
                wanted=f"nothing before {at}",
            )
        at = max(at, extent.end)
    if file.ctx.spans is not None:
        for start, end in file.ctx.spans.gaps(file.size):
            file.ctx.leaf(start, end, "unreferenced", "unreferenced")


_FOOTER = struct.Struct("<QHH4s")
_LENGTH = struct.Struct("<I")


def encode_manifest(
    message: table_pb2.Manifest,
    transaction: transaction_pb2.Transaction,
    indices: Sequence[table_pb2.IndexMetadata],
    dictionaries: Mapping[int, pa.Array],
) -> bytes:
    """Return the file of a version; `message` is told where its sections and dictionaries lie."""
    out = bytearray()
    _write_dictionaries(out, message, dictionaries)
    message.ClearField("index_section")
    if indices:
        message.index_section = _write_section(out, table_pb2.IndexSection(indices=indices))
    message.ClearField("transaction_section_deprecated")
    message.transaction_section = _write_section(out, transaction)
    position = _write_section(out, message)
    return bytes(out) + _FOOTER.pack(position, 0, 2, MAGIC)


def _write_section(out: bytearray, message: Message) -> int:
    """Append a length and a message; return where they begin."""
    position, data = len(out), message.SerializeToString(deterministic=True)
    out += _LENGTH.pack(len(data)) + data
    return position


def _write_dictionaries(
    out: bytearray, message: table_pb2.Manifest, dictionaries: Mapping[int, pa.Array]
) -> None:
    from lanceref.file_0_1.binary import encode_dictionaries  # readers never need it

    data, located = encode_dictionaries(dictionaries, len(out))
    out += data
    for field in message.fields:
        if field.id in located:
            field.dictionary.offset, field.dictionary.length = located[field.id]


def stamp(message: table_pb2.Manifest, nanoseconds: int | None = None) -> None:
    """Set the time of a version, in nanoseconds since 1970; the present when none is given."""
    now = time.time_ns() if nanoseconds is None else nanoseconds
    message.timestamp.seconds, message.timestamp.nanos = divmod(now, 10**9)

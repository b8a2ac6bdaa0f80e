"""Manifest file: one version of a table.

Sections follow each other from offset 0 (index section, transaction, manifest), each a u32 length
and a protobuf message, then a footer that points at the manifest. The manifest itself holds the
positions of the other two. A table of 0.1 keeps the values of its dictionaries before the sections.
A reader that searches no index needs none of the index section, and an index type it does not know
never stops it.

Layout::

    dictionary values, by field id  only in 0.1
    [u32 length, IndexSection]     only when the version has an index
    [u32 length, Transaction]
    [u32 length, Manifest]
    u64 manifest_position, u16 0, u16 2, "LANC"

Layout of lance.table.IndexMetadata: 1 uuid of 16 bytes, 2 fields, 3 name, 4 dataset_version,
5 fragment_bitmap (Roaring bitmap; absent: unknown), 6 index_details, 9 base_id, 11 covering_fields.

Clauses: L.table.manifest.size, L.table.manifest.magic, L.table.manifest.footer,
L.table.manifest.footer-version, L.table.manifest.message, L.table.manifest.section,
L.table.manifest.end, L.table.manifest.timestamp, L.table.manifest.unknown-field,
L.table.manifest.index-section, L.table.manifest.overlap, L.txn.inline.message,
L.table.format.file-format, L.table.format.version, L.table.refs.branch-name,
L.legacy.dictionary.location, L.table.naming.latest, L.table.index.uuid, L.table.index.unique,
L.table.index.fragment-bitmap, L.table.index.unknown, L.table.index.fields, L.table.index.covering,
L.table.flags.content, L.table.base.resolves

Divergences: D.table.transaction-section-23, D.table.manifest-footer-unchecked
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from google.protobuf.message import Message

from lanceref.core.context import Context, expect
from lanceref.core.cursor import Extent, FileBytes, M, parse_message
from lanceref.core.errors import (
    BadMagic,
    BytesError,
    FormatError,
    OutOfRange,
    Place,
    Truncated,
    UnknownVersion,
)
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2, V2_3
from lanceref.core.limits import Budget
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.proto import table_pb2, transaction_pb2
from lanceref.storage import Source, Store
from lanceref.storage.manifests.manifest_names import VersionName, find_version
from lanceref.table.file_entries import base_of
from lanceref.table.flags import COVERED_INDEX_METADATA, check_flags
from lanceref.table.fragments import Fragment, lint_marks, parse_fragments
from lanceref.table.refs import check_stored_branch
from lanceref.table.roaring import parse_embedded

if TYPE_CHECKING:
    from lanceref.file_0_1.encodings import Dictionaries

FOOTER = struct.Struct("<QHH4s")
"""Position of the manifest section, version words, magic."""

FOOTER_BYTES = FOOTER.size

UUID_BYTES = 16
"""Size of a uuid."""

COVERED_BYTES = 96
"""Memory for each fragment that an index covers, where its fragments are listed."""

MAGIC = b"LANC"
"""Last four bytes."""

FOOTER_VERSIONS = ((0, 2), (0, 1))
"""The version words of a footer: of today's manifests, and of those by releases before 1.0."""
TAIL_BYTES = 64 * 1024
"""Bytes read from the end at first."""

FIRST_SECOND, END_SECOND = -62_135_510_400, 253_402_214_400
"""Seconds from 1970 to the second day of year 1 and the last of 9999: any zone can show them."""

STORAGE_VERSIONS = {str(version): version for version in (V0_1, V2_0, V2_1, V2_2, V2_3)}
"""The names a manifest may give the data storage version."""


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
        """The number of the version that the manifest describes."""
        return int(self.message.version)

    @property
    def storage_version(self) -> str:
        """Name of the data storage version; empty in very old manifests."""
        return str(self.message.data_format.version)


def open_version(store: Store, version: int | None, ctx: Context) -> Manifest:
    """Open a version of a table, None for the latest. Raises NotFound, FormatError."""
    return open_named(store, find_version(store, ctx, version), ctx)


def open_named(store: Store, name: VersionName, ctx: Context) -> Manifest:
    """Open a manifest by its name. Raises NotFound, FormatError."""
    return open_manifest(store.open(name.path), replace(ctx, file=name.name))


def open_manifest(source: Source, ctx: Context) -> Manifest:
    """Parse and check a manifest file. Raises FormatError, UnknownFlag, UnknownVersion."""
    # L.table.manifest.unknown-field: unknown fields are kept
    file = FileBytes(source, ctx.during("open")).with_tail(TAIL_BYTES)
    position = _parse_footer(file)
    table = Budget(ctx.limits) if ctx.budget is None else ctx.budget
    ctx = replace(ctx, stage="metadata", budget=table.of_manifest(source.path, source.size))
    file = file.during(ctx)
    extent, message = _section(file, position, table_pb2.Manifest, "manifest")
    place, end = file.ctx.at(extent.offset, extent.size), file.size - FOOTER_BYTES
    if extent.end != end:  # a zero in place of the length would be an empty message
        head = file.ctx.at(extent.offset, 4)
        file.ctx.refuse(OutOfRange("L.table.manifest.end", head, extent.end, f"an end at {end}"))
    check_flags(message, file.ctx, place)
    _check_format(message, file.ctx, place)
    try:
        check_stored_branch(message.branch or None, place)
    except FormatError as error:  # it would place the root of the table elsewhere
        file.ctx.refuse(error)
    indices: tuple[table_pb2.IndexMetadata, ...] = ()
    taken = [extent]
    if message.HasField("index_section"):  # L.table.manifest.index-section
        where, section = _section(file, message.index_section, table_pb2.IndexSection, "index")
        indices = tuple(section.indices)
        taken.append(where)
    transaction, transaction_extent = _transaction(file, message)
    if transaction_extent is not None:
        taken.append(transaction_extent)
    schema = parse_schema(message.fields, dict(message.schema_metadata), file.ctx, place)
    dictionaries: Dictionaries = {}
    if message.data_format.version in ("", str(V0_1)):
        from lanceref.file_0_1.encodings import parse_dictionaries  # of tables of 0.1 alone

        dictionaries = parse_dictionaries(file, schema, position, place)
    _own_remaining_bytes(file, taken)
    fragments = parse_fragments(message, schema, file.ctx, place)
    if message.HasField("index_section"):
        section_place = file.ctx.at(where.offset, where.size)
        check_index_entries(indices, message, schema, file.ctx, section_place)
    if file.ctx.validating:
        lint_marks(message, schema, file.ctx, place)
    return Manifest(message, schema, fragments, indices, transaction, place, dictionaries)


def _parse_footer(file: FileBytes) -> int:
    """Return the position of the manifest section."""
    if file.size < FOOTER_BYTES:
        place = file.ctx.at(0, file.size)
        raise Truncated("L.table.manifest.size", place, file.size, f"{FOOTER_BYTES} bytes or more")
    start = file.size - FOOTER_BYTES
    cursor = file.cursor(Extent(start, FOOTER_BYTES), "footer", "L.table.manifest.footer")
    with file.ctx.group("footer", "L.table.manifest.footer"):
        position = cursor.u64("manifest_position", "L.table.manifest.footer")
        major = cursor.u16("major", "L.table.manifest.footer-version")
        minor = cursor.u16("minor", "L.table.manifest.footer-version")
        magic = bytes(cursor.take(4, "magic", "L.table.manifest.magic", "magic"))
    expect("L.table.manifest.magic", magic.hex(), MAGIC.hex(), file.ctx.at(start + 12, 4), BadMagic)
    if (major, minor) not in FOOTER_VERSIONS:
        place, words = file.ctx.at(start + 8, 4), f"{major}, {minor}"
        file.ctx.lint("L.table.manifest.footer-version", place, words, "0, 2 or 0, 1")
    return position


def _section(file: FileBytes, position: int, cls: type[M], name: str) -> tuple[Extent, M]:
    """Parse the length and the message at `position`; return the extent of both."""
    end, clause = file.size - FOOTER_BYTES, "L.table.manifest.section"
    place = file.ctx.at(min(position, file.size), 4)
    if position + 4 > end:
        raise OutOfRange(clause, place, f"{name} at {position}", f"a section before {end}")
    with file.ctx.group(f"{name} section"):
        size = file.cursor(Extent(position, 4), name, clause).u32("length", clause)
        if position + 4 + size > end:
            found = f"{name} of {size} bytes at {position}"
            raise OutOfRange(clause, place, found, f"at most {end - position - 4} bytes")
        inner = "L.table.manifest.message" if name == "manifest" else clause
        body = file.cursor(Extent(position + 4, size), name, inner)
        return Extent(position, size + 4), parse_message(body, cls, name, inner)


def _transaction(
    file: FileBytes, manifest: table_pb2.Manifest
) -> tuple[transaction_pb2.Transaction | None, Extent | None]:
    """Parse the inline transaction; one that cannot be parsed never stops a reader."""
    for name in ("transaction_section", "transaction_section_deprecated"):
        if manifest.HasField(name):
            break
    else:
        return None, None
    try:
        cls = transaction_pb2.Transaction
        extent, message = _section(file, getattr(manifest, name), cls, "transaction")
    except BytesError as error:
        file.ctx.lint("L.txn.inline.message", error.place, error.found, error.wanted)
        return None, None
    return message, extent


def _check_format(manifest: table_pb2.Manifest, ctx: Context, place: Place) -> None:
    """Check the storage format and the time of a version."""
    if manifest.HasField("data_format"):
        stated = manifest.data_format
        if stated.file_format != "lance":
            ctx.reject("L.table.format.file-format", place, repr(stated.file_format), "'lance'")
        if stated.version not in STORAGE_VERSIONS:
            wanted = ", ".join(STORAGE_VERSIONS)
            raise UnknownVersion("L.table.format.version", place, repr(stated.version), wanted)
    stamp = manifest.timestamp
    if not (FIRST_SECOND <= stamp.seconds < END_SECOND and 0 <= stamp.nanos < 10**9):
        found = f"{stamp.seconds} s, {stamp.nanos} ns"
        raise OutOfRange("L.table.manifest.timestamp", place, found, "the years 1 to 9999")


def check_index_entries(
    indices: Sequence[table_pb2.IndexMetadata],
    manifest: table_pb2.Manifest,
    schema: LanceSchema,
    ctx: Context,
    place: Place,
) -> None:
    """Refuse entries that cannot be read; report those that do not fit the table."""
    # L.table.index.unknown: an entry of an unknown type is passed over
    for index in indices:
        if len(index.uuid.uuid) != UUID_BYTES:
            found = f"a uuid of {len(index.uuid.uuid)} bytes"
            ctx.reject("L.table.index.uuid", place, found, f"{UUID_BYTES} bytes")
        try:
            data = index.fragment_bitmap
            fragments = len(parse_embedded(data, ctx, place)) if data else 0
            if ctx.budget is not None:
                what = f"index {index.name!r} over {fragments} fragments"
                ctx.budget.charge(COVERED_BYTES * fragments, what, place)
        except FormatError as error:
            found = f"index {index.name!r}: {error.found} [{error.clause}]"
            ctx.reject("L.table.index.fragment-bitmap", place, found, error.wanted)
        if ctx.validating:
            _lint_entry(index, manifest, schema, ctx, place)
    uuids = [index.uuid.uuid for index in indices]
    if len(set(uuids)) != len(uuids):
        ctx.lint("L.table.index.unique", place, "a uuid used twice", "a uuid for each")


def _lint_entry(
    index: table_pb2.IndexMetadata,
    manifest: table_pb2.Manifest,
    schema: LanceSchema,
    ctx: Context,
    place: Place,
) -> None:
    """Report fields, covering fields and a base that the table does not have."""
    covering, fields = list(index.covering_fields), list(index.fields)
    unknown = set(fields) - {field.id for field in schema.flat()}
    if unknown:
        found = f"fields {sorted(unknown)[:8]} of index {index.name!r}"
        ctx.lint("L.table.index.fields", place, found, "fields of the schema")
    if covering and (len(covering) >= len(fields) or fields[-len(covering) :] != covering):
        found = f"covering fields {covering[:8]} of the fields {fields[:8]}"
        ctx.lint("L.table.index.covering", place, found, "the last of the fields, and not all")
    reader, writer = manifest.reader_feature_flags, manifest.writer_feature_flags
    if covering and not reader & writer & COVERED_INDEX_METADATA:
        found = f"covering fields, reader flags {reader}, writer flags {writer}"
        ctx.lint("L.table.flags.content", place, found, f"flag {COVERED_INDEX_METADATA}")
    base, bases = base_of(index), sorted(base.id for base in manifest.base_paths)
    if base is not None and base not in bases:
        found = f"base {base} of index {index.name!r}"
        ctx.lint("L.table.base.resolves", place, found, f"one of {bases[:8]}")


def _own_remaining_bytes(file: FileBytes, taken: list[Extent]) -> None:
    """Own the bytes between the sections, and report sections that overlap."""
    at = 0
    for extent in [*sorted(taken), Extent(file.size - FOOTER_BYTES, FOOTER_BYTES)]:
        if extent.offset < at:
            place = file.ctx.at(extent.offset, extent.size)
            file.ctx.lint("L.table.manifest.overlap", place, extent.offset, f"{at} or more")
        at = max(at, extent.end)
    if file.ctx.spans is not None:
        for start, end in file.ctx.spans.gaps(file.size):
            file.ctx.leaf(start, end, "unreferenced", "unreferenced")


def encode_manifest(
    message: table_pb2.Manifest,
    transaction: transaction_pb2.Transaction,
    indices: Sequence[table_pb2.IndexMetadata],
    dictionaries: Mapping[int, pa.Array],
) -> bytes:
    """Return the file of a version; sets the places of sections and dictionaries in `message`."""
    from lanceref.file_0_1.encodings import encode_dictionaries  # readers never need it

    data, located = encode_dictionaries(dictionaries, 0)
    out = bytearray(data)
    for field in message.fields:
        if field.id in located:
            field.dictionary.offset, field.dictionary.length = located[field.id]
    message.ClearField("index_section")
    if indices:
        message.index_section = _write_section(out, table_pb2.IndexSection(indices=indices))
    message.ClearField("transaction_section_deprecated")
    message.transaction_section = _write_section(out, transaction)
    position = _write_section(out, message)
    return bytes(out) + FOOTER.pack(position, 0, 2, MAGIC)


def _write_section(out: bytearray, message: Message) -> int:
    """Append a length and a message; return where they begin."""
    position, data = len(out), message.SerializeToString(deterministic=True)
    out += struct.pack("<I", len(data)) + data
    return position


def stamp(message: table_pb2.Manifest) -> None:
    """Set the time of a version to the present, in nanoseconds since 1970."""
    message.timestamp.seconds, message.timestamp.nanos = divmod(time.time_ns(), 10**9)

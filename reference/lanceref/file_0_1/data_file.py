"""Data file of 0.1: pages by batch, then what describes them.

The last 16 bytes say where the metadata lies. It counts the rows of every batch (row group) and
says where the page table, the statistics and the embedded manifest lie. That makes a data file
describe itself: a manifest message without fragments. A dataset is read by its own manifest; this
one gives the least field id of the page table and, to a reader of the file alone, names, types and
dictionaries.

Layout: pages, batch by batch, in a batch the fields depth first, no padding; page table; statistics
pages and their page table; dictionary values by field id; manifest; metadata; footer. Manifest and
metadata are a message after its u32 length.
Layout of the footer: u64 position of the metadata's length, u16 major, u16 minor, "LANC".

Clauses: L.legacy.footer.size, L.legacy.footer.magic, L.legacy.footer.version,
L.legacy.footer.version-written, L.legacy.footer.position, L.legacy.metadata.length,
L.legacy.metadata.message, L.legacy.metadata.end, L.legacy.metadata.batch-offsets,
L.legacy.metadata.batches, L.legacy.page-table.first-id, L.legacy.manifest.position,
L.legacy.manifest.section, L.legacy.manifest.message, L.legacy.manifest.content

Divergences: D.legacy.footer-unchecked, D.legacy.version-names, D.legacy.length-prefix,
D.legacy.batch-offsets-cumulative, D.legacy.manifest-before-metadata
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Ints
from lanceref.core import errors
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes, M, parse_message
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1, FileVersion
from lanceref.file.column_io import ColumnReader
from lanceref.file.container import MAGIC, footer_cursor, open_tail, parse_version
from lanceref.file.schema import Field, LanceSchema, parse_schema
from lanceref.file_0_1.column import LegacyColumn, open_node
from lanceref.file_0_1.encodings import Dictionaries, parse_dictionaries
from lanceref.file_0_1.page_table import PageTable, parse_page_table
from lanceref.proto import file_pb2, table_pb2
from lanceref.storage import Source

FOOTER_BYTES = 16
"""Size of the footer."""

LENGTH_BYTES = 4
"""Size of the length before a message."""


def parse_footer(file: FileBytes) -> tuple[int, int, tuple[int, int]]:
    """Parse the last 16 bytes: where the metadata lies, where the footer does, version words.

    Raises OutOfRange, UnknownVersion.
    """
    cursor = footer_cursor(file, FOOTER_BYTES, "L.legacy.footer.size")
    start = cursor.offset
    with file.ctx.group("footer"):
        position = cursor.u64("metadata_position", "L.legacy.footer.position")
        words = parse_version(cursor, "L.legacy.footer.version", "L.legacy.footer.magic")
    if FROM_WORDS.get(words) != V0_1:
        clause, place = "L.legacy.footer.version", file.ctx.at(start + 8, 4)
        raise errors.UnknownVersion(clause, place, words, "0 and at most 2")
    if position + LENGTH_BYTES > start:
        clause, wanted = "L.legacy.footer.position", f"a length before the footer at {start}"
        raise errors.OutOfRange(clause, file.ctx.at(start, 8), position, wanted)
    return position, start, words


def write_footer(metadata_position: int) -> bytes:
    """Return the 16 bytes that end a file."""
    return struct.pack("<QHH4s", metadata_position, *FOOTER_WORDS[V0_1], MAGIC)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The message, its extent (length included), and rows before each batch, shape (batches+1,)."""

    message: file_pb2.Metadata
    extent: Extent
    batch_offsets: Ints
    place: errors.Place

    @property
    def num_rows(self) -> int:
        return int(self.batch_offsets[-1])

    @property
    def num_batches(self) -> int:
        return len(self.batch_offsets) - 1


def parse_metadata(file: FileBytes, position: int, end: int) -> Metadata:
    """Parse the message, which the footer at `end` follows, and check the batch offsets.

    Raises CorruptPage.
    """
    clauses = ("L.legacy.metadata.length", "L.legacy.metadata.message")
    extent, message = parse_section(file, position, end, file_pb2.Metadata, clauses)
    place = file.ctx.at(extent.offset, extent.size)
    if extent.end != end:
        file.ctx.lint("L.legacy.metadata.end", place, extent.end, f"{end}, where the footer begins")
    offsets = np.array(message.batch_offsets, dtype=np.int64)
    if len(offsets) < 2:
        clause, found = "L.legacy.metadata.batches", f"{len(offsets)} batch offsets"
        raise errors.CorruptPage(clause, place, found, "two or more")
    if offsets[0] != 0 or (np.diff(offsets) <= 0).any():
        clause, found = "L.legacy.metadata.batch-offsets", offsets[:8].tolist()
        raise errors.CorruptPage(clause, place, found, "0, then numbers that grow")
    return Metadata(message, extent, offsets, place)


def parse_section(
    file: FileBytes, position: int, end: int, cls: type[M], clauses: tuple[str, str]
) -> tuple[Extent, M]:
    """Parse a u32 length and a message that end by `end`; return the extent of both.

    `clauses` are those of the length and of the message. Raises Truncated.
    """
    (length_clause, message_clause), name = clauses, cls.DESCRIPTOR.name.lower()
    with file.ctx.group(f"{name} section"):
        cursor = file.cursor(Extent(position, LENGTH_BYTES), name, length_clause)
        size = cursor.u32("length", length_clause)
        extent = Extent(position, LENGTH_BYTES + size)
        if extent.end > end:
            place, found = file.ctx.at(position, LENGTH_BYTES), f"{size} bytes at {position}"
            wanted = f"at most {end - position - LENGTH_BYTES} bytes"
            raise errors.Truncated(length_clause, place, found, wanted)
        body = file.cursor(Extent(position + LENGTH_BYTES, size), name, message_clause)
        return extent, parse_message(body, cls, name, message_clause)


def write_section(message: bytes) -> bytes:
    """Return the bytes of a message, preceded by their number as u32."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message


VERSION = 1
"""Version that an embedded manifest states."""

DATA_FORMAT = ("lance", "0.1")
"""File format and storage version it states; old releases state neither."""


@dataclass(frozen=True, slots=True)
class EmbeddedManifest:
    """The schema of the file and the values of its dictionaries by field id.

    `states_format` tells later releases from early ones.
    """

    schema: LanceSchema
    dictionaries: dict[int, pa.Array]
    extent: Extent
    place: errors.Place
    states_format: bool


def parse_manifest(file: FileBytes, position: int, end: int) -> EmbeddedManifest:
    """Parse the manifest at `position`, which ends by `end`, and read the dictionaries.

    Raises OutOfRange.
    """
    if position + LENGTH_BYTES > end:
        clause, found = "L.legacy.manifest.position", f"a manifest at {position}"
        place = file.ctx.at(end, LENGTH_BYTES)
        raise errors.OutOfRange(clause, place, found, f"one before the metadata at {end}")
    clauses = ("L.legacy.manifest.section", "L.legacy.manifest.message")
    extent, message = parse_section(file, position, end, table_pb2.Manifest, clauses)
    place = file.ctx.at(extent.offset, extent.size)
    schema = parse_schema(message.fields, dict(message.schema_metadata), file.ctx, place)
    stated = (message.data_format.file_format, message.data_format.version)
    known = stated in (DATA_FORMAT, ("", ""))
    if message.fragments or message.version != VERSION or not known:
        found = f"version {message.version}, {len(message.fragments)} fragments, {stated}"
        wanted = f"version {VERSION}, no fragments, {DATA_FORMAT} or nothing"
        file.ctx.lint("L.legacy.manifest.content", place, found, wanted)
    dictionaries = parse_dictionaries(file, schema, position, place)
    states_format = message.HasField("data_format")
    return EmbeddedManifest(schema, dictionaries, extent, place, states_format)


@dataclass(frozen=True, slots=True)
class LegacyFile:
    """An opened file; `manifest` is None when the file has none inside.

    `dictionaries` are the values that keys mean: those of the table, else the file's own. `ids` are
    those of the fields in the manifest, ascending.
    """

    bytes: FileBytes
    metadata: Metadata
    manifest: EmbeddedManifest | None
    table: PageTable
    dictionaries: Dictionaries
    ids: tuple[int, ...]
    readers: dict[int, tuple[Field, ColumnReader]] = dataclass_field(default_factory=dict)

    @property
    def version(self) -> FileVersion:
        return V0_1

    @property
    def schema(self) -> LanceSchema:
        """The fields of the manifest inside the file, which must have one."""
        assert self.manifest is not None
        return self.manifest.schema

    @property
    def num_rows(self) -> int:
        return self.metadata.num_rows

    def open_field(self, field: Field, assigned: dict[int, int] | None = None) -> ColumnReader:
        """Return the reader of a top-level field (possibly pruned); ids find the pages.

        `assigned` gives the position of the field in the list of the table, which may have given it
        another id than the file.
        """
        whole, reader = self.readers.get(field.id, (None, None))
        if whole is not field or reader is None:
            file = self.bytes.during(self.bytes.ctx.during("decode"))
            offsets = self.metadata.batch_offsets
            own = self._own(field, assigned or {})
            node = open_node(file, own, self.table, self.dictionaries, np.diff(offsets))
            reader = LegacyColumn(file, node, offsets)
            self.readers[field.id] = (field, reader)
        return reader

    def _own(self, field: Field, assigned: Mapping[int, int]) -> Field:
        number = assigned.get(field.id, len(self.ids))
        place = bisect_left(self.ids, field.id)
        if self.ids[place : place + 1] == (field.id,) or number >= len(self.ids):
            return field
        children = tuple(self._own(child, assigned) for child in field.children)
        return replace(field, id=self.ids[number], children=children)


def open_legacy(
    source: Source,
    ctx: Context,
    field_ids: Iterable[int] = (),
    dictionaries: Dictionaries | None = None,
) -> LegacyFile:
    """Parse everything but pages and statistics.

    `field_ids` are the ids that the table says the file holds and `dictionaries` its values; a file
    with a manifest inside can be read without. Raises BadSchema when nothing names the fields.
    """
    file = open_tail(source, ctx)
    position, start, words = parse_footer(file)
    file = file.during(file.ctx.during("metadata"))
    metadata = parse_metadata(file, position, start)
    message, end = metadata.message, metadata.extent.offset
    manifest, fields = None, list[Field]()
    if message.manifest_position:
        manifest = parse_manifest(file, message.manifest_position, end)
        fields = list(manifest.schema.flat())
    if words != FOOTER_WORDS[V0_1] and (manifest is None or manifest.states_format):
        place = file.ctx.at(start + 8, 4)  # words that only the first releases wrote
        file.ctx.lint("L.legacy.footer.version-written", place, words, "0, 2")
    known = [field.id for field in fields] or [each for each in field_ids if each >= 0]
    if not known:
        clause, found = "L.legacy.manifest.position", "no manifest and no field ids"
        raise errors.BadSchema(clause, metadata.place, found, "a schema")
    paged = [field.id for field in fields if not pa.types.is_struct(field.arrow.type)]
    ids = min(known), max(paged or known)  # L.legacy.page-table.first-id
    table_end = end if manifest is None else manifest.extent.offset
    position = message.page_table_position
    table = parse_page_table(file, position, ids, metadata.num_batches, table_end)
    own: Dictionaries = {} if manifest is None else manifest.dictionaries
    values, numbers = own if dictionaries is None else dictionaries, sorted(f.id for f in fields)
    return LegacyFile(file, metadata, manifest, table, values, tuple(numbers))

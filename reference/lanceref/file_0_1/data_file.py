"""Data file of 0.1: pages by batch, then what describes them.

The embedded manifest makes a data file describe itself: a manifest message without fragments. A
dataset is read by its own manifest; this one gives the least field id of the page table and, to a
reader of the file alone, names, types and dictionaries.

Layout::

    pages, batch by batch; in a batch the fields in schema order, depth first; no padding
    page table
    statistics pages, statistics page table     when a field has statistics
    dictionary values, by field id
    u32 length, embedded manifest
    u32 length, metadata
    footer, 16 bytes

Layout of the manifest: message lance.table.Manifest with 1 fields, 3 version (1), 5
schema_metadata, 13 writer_version, 15 data_format ("lance", "0.1").

Clauses: L.legacy.page-table.first-id, L.legacy.manifest.position, L.legacy.manifest.section,
L.legacy.manifest.message, L.legacy.manifest.content

Divergences: D.legacy.manifest-before-metadata
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadSchema, OutOfRange, Place
from lanceref.core.file_versions import V0_1, FileVersion
from lanceref.data_file.data_file import open_tail
from lanceref.file.column_io import ColumnReader
from lanceref.file.schema import Field, LanceSchema, field_message, parse_schema
from lanceref.file_0_1.column import LegacyColumn, open_node
from lanceref.file_0_1.encodings import Dictionaries, parse_dictionaries
from lanceref.file_0_1.footer import (
    LENGTH_BYTES,
    Footer,
    Metadata,
    lint_words,
    parse_footer,
    parse_metadata,
    parse_section,
)
from lanceref.file_0_1.page_table import PageTable, parse_page_table
from lanceref.proto import table_pb2
from lanceref.storage import Source

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
    place: Place
    states_format: bool = True


def parse_manifest(file: FileBytes, position: int, end: int) -> EmbeddedManifest:
    """Parse the manifest at `position`, which ends by `end`, and read the dictionaries.

    Raises OutOfRange.
    """
    if position + LENGTH_BYTES > end:
        clause, found = "L.legacy.manifest.position", f"a manifest at {position}"
        place = file.ctx.at(end, LENGTH_BYTES)
        raise OutOfRange(clause, place, found, f"one before the metadata at {end}")
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


def manifest_message(
    schema: LanceSchema,
    dictionaries: Mapping[int, tuple[int, int]],
    writer: table_pb2.Manifest.WriterVersion,
) -> table_pb2.Manifest:
    """Return the message to embed; `dictionaries` gives position and number of values by id."""
    fields = []
    for field in schema.flat():
        message = field_message(field)
        if field.id in dictionaries:
            message.dictionary.offset, message.dictionary.length = dictionaries[field.id]
        fields.append(message)
    file_format, version = DATA_FORMAT
    stored = table_pb2.Manifest.DataStorageFormat(file_format=file_format, version=version)
    return table_pb2.Manifest(
        fields=fields,
        version=VERSION,
        schema_metadata={key: value.encode() for key, value in schema.metadata.items()},
        writer_version=writer,
        data_format=stored,
    )


@dataclass(frozen=True, slots=True)
class LegacyFile:
    """An opened file; `manifest` is None when the file has none inside.

    `dictionaries` are the values that keys mean: those of the table, else the file's own. `ids` are
    those of the fields in the manifest, ascending.
    """

    bytes: FileBytes
    footer: Footer
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
        """Return a field under the ids of the file."""
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
    footer = parse_footer(file)
    file = file.during(file.ctx.during("metadata"))
    metadata = parse_metadata(file, footer)
    message, end = metadata.message, metadata.extent.offset
    manifest, fields = None, list[Field]()
    if message.manifest_position:
        manifest = parse_manifest(file, message.manifest_position, end)
        fields = list(manifest.schema.flat())
    if manifest is None or manifest.states_format:
        lint_words(footer, file)
    known = [field.id for field in fields] or [each for each in field_ids if each >= 0]
    if not known:
        clause, found = "L.legacy.manifest.position", "no manifest and no field ids"
        raise BadSchema(clause, metadata.place, found, "a schema")
    paged = [field.id for field in fields if not pa.types.is_struct(field.arrow.type)]
    ids = min(known), max(paged or known)  # L.legacy.page-table.first-id
    table_end = end if manifest is None else manifest.extent.offset
    position = message.page_table_position
    table = parse_page_table(file, position, ids, metadata.num_batches, table_end)
    own: Dictionaries = {} if manifest is None else manifest.dictionaries
    values, numbers = own if dictionaries is None else dictionaries, sorted(f.id for f in fields)
    return LegacyFile(file, footer, metadata, manifest, table, values, tuple(numbers))

"""Embedded manifest: the schema that makes a data file describe itself.

A manifest message without fragments. A dataset is read by its own manifest; this one gives the
least field id of the page table and, to who reads the file alone, names, types and dictionaries.

Layout: u32 length, then message lance.table.Manifest with 1 fields, 3 version (1), 5
schema_metadata, 13 writer_version, 15 data_format ("lance", "0.1").

Clauses: L.legacy.manifest.section, L.legacy.manifest.message, L.legacy.manifest.position,
L.legacy.manifest.content

Divergences: D.legacy.manifest-before-metadata
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import OutOfRange, Place
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_messages import field_message, parse_schema
from lanceref.file_0_1.dictionary import parse_dictionaries
from lanceref.file_0_1.footer import LENGTH_BYTES
from lanceref.file_0_1.metadata import parse_section
from lanceref.proto import table_pb2

VERSION = 1
"""Version that an embedded manifest states."""

DATA_FORMAT = ("lance", "0.1")
"""File format and storage version it states."""

STATED = (DATA_FORMAT, ("", ""))
"""What may stand there: old releases say nothing."""


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
    """Parse the manifest at `position`, which ends by `end`, and read the dictionaries."""
    if position + LENGTH_BYTES > end:
        raise OutOfRange(
            "L.legacy.manifest.position",
            file.ctx.at(end, LENGTH_BYTES),
            found=f"a manifest at {position}",
            wanted=f"a manifest before the metadata at {end}",
        )
    extent, message = parse_section(
        file,
        position,
        end,
        table_pb2.Manifest,
        ("manifest", "L.legacy.manifest.section", "L.legacy.manifest.message"),
    )
    place = file.ctx.at(extent.offset, extent.size)
    schema = parse_schema(message.fields, dict(message.schema_metadata), file.ctx, place)
    _lint_content(message, file.ctx, place)
    dictionaries = parse_dictionaries(file, schema, position, place)
    states_format = message.HasField("data_format")
    return EmbeddedManifest(schema, dictionaries, extent, place, states_format)


def _lint_content(message: table_pb2.Manifest, ctx: Context, place: Place) -> None:
    stated = (message.data_format.file_format, message.data_format.version)
    if message.fragments or message.version != VERSION or stated not in STATED:
        ctx.lint(
            "L.legacy.manifest.content",
            place,
            found=f"version {message.version}, {len(message.fragments)} fragments, {stated}",
            wanted=f"version {VERSION}, no fragments, {DATA_FORMAT} or nothing",
        )


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
    return table_pb2.Manifest(
        fields=fields,
        version=VERSION,
        schema_metadata={key: value.encode() for key, value in schema.metadata.items()},
        writer_version=writer,
        data_format=table_pb2.Manifest.DataStorageFormat(
            file_format=DATA_FORMAT[0], version=DATA_FORMAT[1]
        ),
    )

"""Index section: the indices of one version, by name, field and fragments.

A list of entries in the manifest file, in front of the transaction; `index_section` of the manifest
points at it. A reader that searches no index needs none of it, and an index type it does not know
never stops it.

Layout (message lance.table.IndexMetadata): 1 uuid of 16 bytes, 2 fields, 3 name, 4 dataset_version,
5 fragment_bitmap (Roaring bitmap; absent: unknown), 6 index_details, 9 base_id, 11 covering_fields.

Clauses: L.table.index.uuid, L.table.index.unique, L.table.index.fragment-bitmap,
L.table.index.unknown, L.table.index.fields, L.table.index.covering, L.table.flags.content,
L.table.base.resolves
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, Place
from lanceref.file.schema import LanceSchema
from lanceref.proto import table_pb2
from lanceref.table.file_entries import base_of
from lanceref.table.flags import COVERED_INDEX_METADATA
from lanceref.table.roaring import parse_set

UUID_BYTES = 16
"""Size of a uuid."""

COVERED_BYTES = 96
"""Memory for each fragment that an index covers, where its fragments are listed."""


def check_indices(
    indices: Sequence[table_pb2.IndexMetadata],
    manifest: table_pb2.Manifest,
    schema: LanceSchema,
    ctx: Context,
    place: Place,
) -> None:
    """Refuse entries that cannot be read; report those that do not fit the table."""
    for index in indices:
        if len(index.uuid.uuid) != UUID_BYTES:
            found = f"a uuid of {len(index.uuid.uuid)} bytes"
            ctx.reject("L.table.index.uuid", place, found, f"{UUID_BYTES} bytes")
        if index.fragment_bitmap:
            _check_bitmap(index, ctx, place)
        if ctx.validating:
            _lint_entry(index, manifest, schema, ctx, place)
    uuids = [index.uuid.uuid for index in indices]
    if len(set(uuids)) != len(uuids):
        ctx.lint("L.table.index.unique", place, "a uuid used twice", "a uuid for each")


def _check_bitmap(index: table_pb2.IndexMetadata, ctx: Context, place: Place) -> None:
    """Parse the fragments of an index. The bytes lie inside a message: it owns them."""
    cursor = Cursor(memoryview(index.fragment_bitmap), place.offset, replace(ctx, spans=None))
    try:
        fragments = len(parse_set(cursor))
        if ctx.budget is not None:
            what = f"index {index.name!r} over {fragments} fragments"
            ctx.budget.charge(COVERED_BYTES * fragments, what, place)
    except FormatError as error:
        found = f"index {index.name!r}: {error.found} [{error.clause}]"
        ctx.reject("L.table.index.fragment-bitmap", place, found, error.wanted)


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

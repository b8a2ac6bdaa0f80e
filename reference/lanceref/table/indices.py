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
        _check_uuid(index, ctx, place)
        _check_bitmap(index, ctx, place)
        if ctx.validating:
            _lint_fields(index, schema, ctx, place)
            _lint_covering(index, manifest, ctx, place)
            _lint_base(index, manifest, ctx, place)
    uuids = [index.uuid.uuid for index in indices]
    if len(set(uuids)) != len(uuids):
        ctx.lint("L.table.index.unique", place, found="a uuid used twice", wanted="a uuid for each")


def _check_uuid(index: table_pb2.IndexMetadata, ctx: Context, place: Place) -> None:
    if len(index.uuid.uuid) != UUID_BYTES:
        ctx.refuse(
            FormatError(
                "L.table.index.uuid",
                place,
                found=f"a uuid of {len(index.uuid.uuid)} bytes",
                wanted=f"{UUID_BYTES} bytes",
            )
        )


def _check_bitmap(index: table_pb2.IndexMetadata, ctx: Context, place: Place) -> None:
    """Parse the fragments of an index. The bytes lie inside a message: it owns them."""
    if not index.fragment_bitmap:
        return
    cursor = Cursor(memoryview(index.fragment_bitmap), place.offset, replace(ctx, spans=None))
    try:
        fragments = len(parse_set(cursor))
        if ctx.budget is not None:
            found = f"index {index.name!r} over {fragments} fragments"
            ctx.budget.charge(COVERED_BYTES * fragments, found, place)
    except FormatError as error:
        ctx.refuse(
            FormatError(
                "L.table.index.fragment-bitmap",
                place,
                found=f"index {index.name!r}: {error.found} [{error.clause}]",
                wanted=error.wanted,
            )
        )


def _lint_fields(
    index: table_pb2.IndexMetadata, schema: LanceSchema, ctx: Context, place: Place
) -> None:
    unknown = set(index.fields) - {field.id for field in schema.flat()}
    if unknown:
        ctx.lint(
            "L.table.index.fields",
            place,
            found=f"fields {sorted(unknown)[:8]} of index {index.name!r}",
            wanted="fields of the schema",
        )


def _lint_covering(
    index: table_pb2.IndexMetadata, manifest: table_pb2.Manifest, ctx: Context, place: Place
) -> None:
    covering, fields = list(index.covering_fields), list(index.fields)
    if not covering:
        return
    if len(covering) >= len(fields) or fields[-len(covering) :] != covering:
        ctx.lint(
            "L.table.index.covering",
            place,
            found=f"covering fields {covering[:8]} of the fields {fields[:8]}",
            wanted="the last of the fields, and not all",
        )
    words = manifest.reader_feature_flags, manifest.writer_feature_flags
    if not words[0] & words[1] & COVERED_INDEX_METADATA:
        ctx.lint(
            "L.table.flags.content",
            place,
            found=f"covering fields, reader flags {words[0]}, writer flags {words[1]}",
            wanted=f"flag {COVERED_INDEX_METADATA}",
        )


def _lint_base(
    index: table_pb2.IndexMetadata, manifest: table_pb2.Manifest, ctx: Context, place: Place
) -> None:
    bases = sorted(base.id for base in manifest.base_paths)
    if index.HasField("base_id") and index.base_id not in bases:
        ctx.lint(
            "L.table.base.resolves",
            place,
            found=f"base {index.base_id} of index {index.name!r}",
            wanted=f"one of {bases[:8]}",
        )

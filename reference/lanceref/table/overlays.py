"""Overlay files: new values for some rows of some fields of a fragment.

A fragment lists them oldest first. Each is a data file with the values alone, and a set of row
offsets, one for all of its fields or one for each: the value of the n-th offset is row n of the
file. Where a row of a field is covered, the overlay of the highest version that covers it tells its
value, the last one of several; offsets count deleted rows.

Layout (message lance.table.DataOverlayFile): 1 data_file; 2 shared_offset_bitmap, or 4
field_coverage: 1 offset_bitmaps, one for each of the fields the data file lists; 3
committed_version. The bitmaps are portable Roaring bitmaps.

Clauses: L.table.overlay.coverage, L.table.overlay.bitmap, L.table.overlay.order,
L.table.overlay.version, L.table.overlay.range, L.table.overlay.index
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadSchema, FormatError, Place
from lanceref.core.file_versions import V0_1
from lanceref.file.schema import Field
from lanceref.proto import table_pb2
from lanceref.table.file_entries import TOMBSTONE, FileOfFragment, check_base, parse_entry
from lanceref.table.roaring import parse_set

Offsets = NDArray[np.int64]
"""Row offsets in a fragment, ascending."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """One overlay file; `coverage` has the row offsets of each field id.

    An offset may lie beyond the rows of the fragment, thousands of millions of them in few bytes:
    `offsets_below` returns those that stand for rows.
    """

    file: FileOfFragment
    coverage: Mapping[int, BitMap]
    committed_version: int


def parse_overlays(
    message: table_pb2.DataFragment,
    known: Mapping[int, Field],
    bases: set[int],
    ctx: Context,
    place: Place,
) -> tuple[Overlay, ...]:
    """Check the overlays of a fragment and return them, oldest first."""
    found = []
    for entry in message.overlays:
        file = parse_entry(entry.data_file, known, ctx, place)
        if entry.data_file.HasField("base_id"):
            check_base(entry.data_file.base_id, bases, ctx, place)
        if file.version == V0_1:
            ctx.refuse(_error(message, "L.table.overlay.version", place, "a file of 0.1", "2.x"))
        coverage = parse_coverage(entry, ctx, place)
        _check_range(message, coverage, ctx, place)
        found.append(Overlay(file, coverage, int(entry.committed_version)))
    versions = [overlay.committed_version for overlay in found]
    if versions != sorted(versions):
        error = _error(message, "L.table.overlay.order", place, f"{versions[:8]}", "no fall")
        ctx.lint(error.clause, place, found=error.found, wanted=error.wanted)
    found.sort(key=lambda overlay: overlay.committed_version)  # L.table.overlay.newest
    return tuple(found)


def parse_coverage(
    entry: table_pb2.DataOverlayFile, ctx: Context, place: Place
) -> dict[int, BitMap]:
    """Return the offsets that each field of an overlay covers. Raises FormatError."""
    fields = list(entry.data_file.fields)
    if entry.HasField("shared_offset_bitmap"):
        bitmaps = [parse_offsets(entry.shared_offset_bitmap, ctx, place)] * len(fields)
    else:
        bitmaps = [parse_offsets(one, ctx, place) for one in entry.field_coverage.offset_bitmaps]
        if len(bitmaps) != len(fields):
            error = BadSchema(
                "L.table.overlay.coverage",
                place,
                found=f"{len(bitmaps)} sets of offsets for {len(fields)} fields",
                wanted="one for all fields, or one for each",
            )
            if len(bitmaps) < len(fields):
                raise error
            ctx.lint(error.clause, place, found=error.found, wanted=error.wanted)
    pairs = zip(fields, bitmaps, strict=False)
    return {field_id: offsets for field_id, offsets in pairs if field_id != TOMBSTONE}


def offsets_below(rows: int, covered: BitMap) -> Offsets:
    """Return the offsets of a set that are below `rows`."""
    inside = covered if rows > (covered.max() if covered else 0) else covered & BitMap(range(rows))
    return np.asarray(inside.to_array(), np.int64)


def parse_offsets(data: bytes, ctx: Context, place: Place) -> BitMap:
    """Return the offsets of a bitmap. The bytes lie inside a message: it owns them."""
    cursor = Cursor(memoryview(data), place.offset, replace(ctx, spans=None))
    try:
        return parse_set(cursor)
    except FormatError as error:
        raise FormatError(
            "L.table.overlay.bitmap", place, found=error.found, wanted=error.wanted
        ) from error


def overlaid_since(
    fragments: Iterable[table_pb2.DataFragment], index: table_pb2.IndexMetadata
) -> frozenset[int]:
    """Return the ids of fragments with overlays of an index's fields that it does not know."""
    return frozenset(
        fragment.id
        for fragment in fragments
        for one in fragment.overlays
        if one.committed_version > index.dataset_version
        and not set(index.fields).isdisjoint(one.data_file.fields)
    )


def _check_range(
    message: table_pb2.DataFragment, coverage: Mapping[int, BitMap], ctx: Context, place: Place
) -> None:
    last = max((offsets.max() for offsets in coverage.values() if offsets), default=-1)
    if message.physical_rows and last >= message.physical_rows:
        ctx.lint(
            "L.table.overlay.range",
            place,
            found=f"offset {last} in an overlay of fragment {message.id}",
            wanted=f"an offset below {message.physical_rows}",
        )


def _error(
    message: table_pb2.DataFragment, clause: str, place: Place, found: str, wanted: str
) -> FormatError:
    return FormatError(
        clause, place, found=f"{found} in overlays of fragment {message.id}", wanted=wanted
    )

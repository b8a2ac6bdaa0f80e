"""Fragment reuse: where rows went that a compaction moved without rewriting the indices.

Each version lists groups of fragments, the rows of each that were rewritten, and the new fragments:
the rows of the old ones that are in the set, in order, are the rows of the new ones. What an index
by address finds is mapped through all versions, oldest first, and so is what it covers: its entry
may name the old fragments or the new ones, the addresses in its files stay what they were.

Layout (message lance.table.FragmentReuseIndexDetails): the versions inline, or path, offset and
size of a file in the folder of the index that holds the same message.

Clauses: L.index.reuse.external, L.index.reuse.rows, L.index.reuse.fragments, L.index.reuse.order
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

import numpy as np

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Cursor, FileBytes, parse_message
from lanceref.core.errors import FormatError, Place
from lanceref.index.row_set import NO_KEYS, Keys, parse_treemap
from lanceref.index.segment import MovedRows, Reuse, Segment
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails as Details
from lanceref.storage import Source
from lanceref.table.fragments import addresses, check_moved
from lanceref.transactions.manifest_builder import REUSE_INDEX


def read_reuse(segments: Sequence[Segment], ctx: Context) -> Reuse:
    """Return the content of the fragment reuse index, nothing without one. Raises FormatError."""
    for segment in segments:
        if segment.entry.name == REUSE_INDEX:
            versions = content_of(segment, ctx).versions
            ordered = sorted(versions, key=lambda one: one.dataset_version)
            return Reuse(tuple(_moved_rows(one, ctx, segment.place) for one in ordered))
    return Reuse()


def check_reuse(segments: Sequence[Segment], ctx: Context) -> None:
    """Report versions that do not rise. Raises FormatError."""
    for segment in segments:
        if segment.entry.name == REUSE_INDEX:
            versions = [one.dataset_version for one in content_of(segment, ctx).versions]
            if any(after <= before for before, after in pairwise(versions)):
                ctx.lint("L.index.reuse.order", segment.place, versions[:8], "rising versions")


def content_of(segment: Segment, ctx: Context) -> Details.InlineContent:
    """Return the versions, from the entry or from the file it names. Raises FormatError."""
    data, place = memoryview(segment.entry.index_details.value), segment.place
    name, clause = "fragment reuse", "L.index.reuse.external"
    details = parse_message(Cursor(data, 0, ctx), Details, name, clause, place)
    if details.WhichOneof("content") != "external":
        return details.inline
    outside = details.external
    if PurePosixPath(outside.path).name != outside.path or outside.path == "..":
        raise FormatError(clause, place, f"path {outside.path!r}", "one in the index's folder")
    data = memoryview(segment.bytes_of(outside.path))
    end = outside.offset + outside.size
    if end > len(data):
        raise FormatError(clause, place, f"{len(data)} bytes in {outside.path!r}", f"{end} bytes")
    part = data[outside.offset : end]
    return parse_message(Cursor(part, 0, ctx), Details.InlineContent, name, clause, place)


def check_reuse_file(source: Source, ctx: Context) -> None:
    """Parse a file of versions for `explain` and `validate`. Raises BadProto."""
    name, clause = "fragment reuse", "L.index.reuse.external"
    parse_message(FileBytes(source, ctx).whole(name, clause), Details.InlineContent, name, clause)


def _moved_rows(version: Details.Version, ctx: Context, place: Place) -> MovedRows:
    check_moved(version, place)
    pairs, groups = [_group(group, ctx, place) for group in version.groups], []
    for group in version.groups:
        old = bitmaps.BitMap([one.id for one in group.old_fragments])
        groups.append((old, bitmaps.BitMap([one.id for one in group.new_fragments])))
    before = np.concatenate([NO_KEYS, *(old for old, _ in pairs)])
    return MovedRows(before, np.concatenate([NO_KEYS, *(new for _, new in pairs)]), groups)


def _group(group: Details.Group, ctx: Context, place: Place) -> tuple[Keys, Keys]:
    """Return the old and the new addresses of the rows of a group. Raises FormatError."""
    rows = parse_treemap(Cursor(memoryview(group.changed_row_addrs), place.offset, ctx))
    parts = [NO_KEYS]
    for one in group.old_fragments:
        ends = np.array([one.id << 32, (one.id << 32) + one.physical_rows], np.uint64)
        first, end = np.searchsorted(rows, ends)
        parts.append(rows[first:end])
    old = np.concatenate(parts)
    others, wanted = len(rows) - len(old), sum(one.physical_rows for one in group.new_fragments)
    found = f"{others} rows of other fragments"
    expect("L.index.reuse.fragments", found, "0 rows of other fragments", place, FormatError)
    expect("L.index.reuse.rows", f"{len(old)} rows", f"{wanted} rows", place, FormatError)
    new = [addresses(one.id, np.arange(one.physical_rows)) for one in group.new_fragments]
    return old, np.concatenate([NO_KEYS, *new])

"""Bombs: a few bytes that stand for very many rows, values or pages."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from lanceref.proto import rowids_pb2, table_pb2

from lance_conformance.campaigns.damage.whole.fields import change, edited, latest, size_of

MOST_PAGES = 10_000
MOST_SEGMENTS = 30_000


def full_bitmap(containers: int, first: int = 0) -> bytes:
    """Return a roaring bitmap whose containers are runs of every value they can hold."""
    flags = bytearray(-(-containers // 8))
    for number in range(containers):
        flags[number // 8] |= 1 << number % 8
    keys = (struct.pack("<HH", first + number, 0xFFFF) for number in range(containers))
    head = struct.pack("<I", 12347 | containers - 1 << 16) + flags + b"".join(keys)
    run = struct.pack("<HHH", 1, 0, 0xFFFF)
    if containers < 4:
        return head + run * containers
    start = len(head) + 4 * containers
    offsets = (struct.pack("<I", start + len(run) * n) for n in range(containers))
    return head + b"".join(offsets) + run * containers


def deletions(root: Path, rng: Random) -> str:
    """Name a deletion file that stands for far more rows than there are."""
    count = size_of(rng, 1, 65536)
    with edited(latest(root)) as message:
        fragment = rng.choice(message.fragments)
        entry = fragment.deletion_file
        kind = rng.choice((entry.BITMAP, entry.ARROW_ARRAY))
        entry.file_type, entry.read_version, entry.id = kind, 1, 7
        entry.num_deleted_rows = rng.choice((1, 5, count * 65536, 2**63))
        if rng.random() < 0.3:
            fragment.physical_rows = rng.choice((count * 65536 + 1, 2**32, 2**63))
        message.reader_feature_flags |= 1
        message.writer_feature_flags |= 1
    end = "bin" if kind == table_pb2.DeletionFile.BITMAP else "arrow"
    path = root / "_deletions" / f"{fragment.id}-1-7.{end}"
    path.parent.mkdir(exist_ok=True)
    if end == "bin":
        path.write_bytes(full_bitmap(count))
    else:
        _arrow_bomb(path, count * 500, rng.choice(("zstd", "lz4")))
    return f"{count} {end}"


def _arrow_bomb(path: Path, count: int, codec: str) -> None:
    zeros = pa.array(np.zeros(count, np.uint32))
    schema = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, schema, options=options) as ipc:
        ipc.write_batch(pa.record_batch([zeros], schema=schema))


def row_ids(root: Path, rng: Random) -> str:
    """Let the row ids, or the versions of the rows, of a fragment be strange or very many."""
    kind = rng.choice(("row_ids", "created_at_versions", "last_updated_at_versions"))
    with edited(latest(root)) as message:
        fragment = rng.choice(message.fragments)
        if kind == "row_ids":
            told, data = _sequence(rng, bytes(fragment.inline_row_ids))
            fragment.inline_row_ids = data
        else:
            told, data = _versions(rng)
            setattr(fragment, f"inline_{kind}", data)
    return f"{kind}: {told}"


def _sequence(rng: Random, held: bytes) -> tuple[str, bytes]:
    sequence = rowids_pb2.RowIdSequence.FromString(held)
    if rng.random() < 0.4:
        return change(sequence, rng), sequence.SerializeToString()
    count = size_of(rng, 1, MOST_SEGMENTS)
    del sequence.segments[:]
    for number in range(count):
        _segment(sequence.segments.add(), rng, number)
    return f"{count} segments", sequence.SerializeToString()


def _segment(segment: rowids_pb2.U64Segment, rng: Random, number: int) -> None:
    width = rng.choice((1, 3, 2**20, 2**33, 2**63))
    kind = rng.choice(("range", "holes", "bitmap", "sorted", "array"))
    if kind == "range":
        segment.range.start, segment.range.end = number, number + width
    elif kind == "holes":
        segment.range_with_holes.start, segment.range_with_holes.end = number, number + width
        segment.range_with_holes.holes.u64_array.values = rng.randbytes(rng.choice((0, 7, 16)))
    elif kind == "bitmap":
        segment.range_with_bitmap.start, segment.range_with_bitmap.end = number, number + width
        segment.range_with_bitmap.bitmap = rng.randbytes(rng.choice((0, 1, 9)))
    elif kind == "sorted":
        segment.sorted_array.u16_array.base = rng.choice((0, 2**64 - 1))
        segment.sorted_array.u16_array.offsets = rng.randbytes(rng.choice((0, 1, 8)))
    else:
        segment.array.u32_array.base = 2**64 - 1
        segment.array.u32_array.offsets = b"\xff" * rng.choice((0, 3, 8))


def _versions(rng: Random) -> tuple[str, bytes]:
    sequence = rowids_pb2.RowDatasetVersionSequence()
    count = size_of(rng, 1, MOST_SEGMENTS)
    for number in range(count):
        run = sequence.runs.add(version=rng.choice((0, 1, 2**64 - 1)))
        _segment(run.span, rng, number)
    return f"{count} runs", sequence.SerializeToString()


def overlays(root: Path, rng: Random) -> str:
    """Let overlays cover rows that there are not, or be very many."""
    kind = rng.choice(("bitmap", "many", "changed"))
    count = size_of(rng, 1, 20_000)
    with edited(latest(root)) as message:
        fragment = next(one for one in message.fragments if one.overlays)
        if kind == "changed":
            return "; ".join(change(fragment.overlays[0], rng) for _ in range(2))
        if kind == "bitmap":
            bitmap = full_bitmap(min(count, 65536), 0)
            if rng.random() < 0.5:
                fragment.overlays[0].shared_offset_bitmap = bitmap
            else:
                fragment.overlays[0].field_coverage.offset_bitmaps.extend([bitmap] * 2)
        else:
            for _ in range(count):
                fragment.overlays.add().CopyFrom(fragment.overlays[0])
    return f"{count} {kind}"


def covered_fragments(root: Path, rng: Random) -> str:
    """Let an index cover four thousand million fragments."""
    count = size_of(rng, 1, 65536)
    with edited(latest(root), "index section") as section:
        section.indices[0].fragment_bitmap = full_bitmap(count)
    return f"{count} containers"

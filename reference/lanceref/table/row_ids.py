"""Row ids and row versions: sequences of a fragment, one value for each of its physical rows.

A row id sequence is a list of segments, each a compact form of a run of ids; a version sequence is
a list of runs of which only the number of rows counts.

Layout (message lance.table.U64Segment): range {start, end}, range with absolute holes, range with a
bitmap (least significant bit first), sorted array, array; arrays hold a base and u16, u32 or u64
offsets.

Clauses: L.table.row-ids.message, L.table.row-ids.segment, L.table.row-ids.range,
L.table.row-ids.holes, L.table.row-ids.bitmap, L.table.row-ids.array-width,
L.table.row-ids.sorted, L.table.row-ids.overflow, L.table.row-ids.length

Divergences: D.table.row-id-bitmap-order
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.context import Context
from lanceref.cursor import Cursor
from lanceref.errors import FormatError, Place
from lanceref.proto import rowids_pb2 as pb
from lanceref.wire import parse_message

Ids = NDArray[np.uint64]


def decode_row_ids(data: bytes, num_rows: int, ctx: Context, place: Place) -> Ids:
    """Return the row ids of a fragment of `num_rows` physical rows: uint64 (num_rows,)."""
    sequence = parse_message(
        Cursor(memoryview(data), place.offset, ctx),
        pb.RowIdSequence,
        "row ids",
        "L.table.row-ids.message",
        embedded_in=place,
    )
    total = sum(_count(segment, place) for segment in sequence.segments)
    if total != num_rows:
        raise _corrupt("L.table.row-ids.length", place, f"{total} row ids", f"{num_rows} rows")
    parts = [_expand(segment, place) for segment in sequence.segments]
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def decode_versions(data: bytes, num_rows: int, ctx: Context, place: Place) -> Ids:
    """Return the version of each row: uint64 (num_rows,). Missing rows repeat the last run."""
    sequence = parse_message(
        Cursor(memoryview(data), place.offset, ctx),
        pb.RowDatasetVersionSequence,
        "row versions",
        "L.table.row-ids.message",
        embedded_in=place,
    )
    lengths = [_count(run.span, place) for run in sequence.runs]
    if sum(lengths) != num_rows:
        ctx.refuse(
            _corrupt("L.table.row-ids.length", place, f"{sum(lengths)} versions", f"{num_rows}")
        )
    versions = np.array([run.version for run in sequence.runs], np.uint64)
    return np.repeat(versions, lengths)


def _count(segment: pb.U64Segment, place: Place) -> int:
    """Return the number of values of a segment, without expanding it."""
    arm = segment.WhichOneof("segment")
    if arm is None:
        raise _corrupt("L.table.row-ids.segment", place, "a segment without a type", "one of five")
    if arm in ("sorted_array", "array"):
        return _array_count(getattr(segment, arm), place)
    spanned = getattr(segment, arm)
    if spanned.start > spanned.end:
        raise _corrupt(
            "L.table.row-ids.range", place, f"{spanned.start} to {spanned.end}", "start <= end"
        )
    size = int(spanned.end - spanned.start)
    if arm == "range_with_holes":
        return size - _array_count(spanned.holes, place)
    if arm == "range_with_bitmap":
        return _bitmap_count(spanned, size, place)
    return size


def _bitmap_count(spanned: pb.U64Segment.RangeWithBitmap, size: int, place: Place) -> int:
    wanted = -(-size // 8)
    padding = spanned.bitmap[-1] >> (size % 8) if size % 8 and spanned.bitmap else 0
    if len(spanned.bitmap) != wanted or padding:
        raise _corrupt(
            "L.table.row-ids.bitmap",
            place,
            f"{len(spanned.bitmap)} bytes for {size} values",
            f"{wanted} bytes, unused bits 0",
        )
    return int.from_bytes(spanned.bitmap, "little").bit_count()


def _expand(segment: pb.U64Segment, place: Place) -> Ids:
    arm = segment.WhichOneof("segment")
    if arm in ("sorted_array", "array"):
        values = _array(getattr(segment, arm), place)
        if arm == "sorted_array" and np.any(values[1:] <= values[:-1]):
            raise _corrupt("L.table.row-ids.sorted", place, "values that do not rise", "rising")
        return values
    spanned = getattr(segment, arm)
    start, size = np.uint64(spanned.start), int(spanned.end - spanned.start)
    if arm == "range_with_bitmap":
        packed = np.frombuffer(spanned.bitmap, np.uint8)
        bits = np.unpackbits(packed, count=size, bitorder="little")
        return np.flatnonzero(bits).astype(np.uint64) + start
    values = np.arange(size, dtype=np.uint64) + start
    if arm == "range":
        return values
    holes = _array(spanned.holes, place)
    inside = (holes >= start) & (holes < np.uint64(spanned.end))
    if not inside.all() or np.any(holes[1:] <= holes[:-1]):
        raise _corrupt(
            "L.table.row-ids.holes", place, f"holes {holes[:4].tolist()}", "rising, in the range"
        )
    return np.delete(values, (holes - start).astype(np.int64))


def _array_count(array: pb.EncodedU64Array, place: Place) -> int:
    arm = array.WhichOneof("array")
    if arm is None:
        return 0
    width = {"u16_array": 2, "u32_array": 4, "u64_array": 8}[arm]
    data = array.u64_array.values if arm == "u64_array" else getattr(array, arm).offsets
    if len(data) % width:
        raise _corrupt(
            "L.table.row-ids.array-width", place, f"{len(data)} bytes", f"a multiple of {width}"
        )
    return len(data) // width


def _array(array: pb.EncodedU64Array, place: Place) -> Ids:
    _array_count(array, place)
    arm = array.WhichOneof("array")
    if arm is None:
        return np.empty(0, np.uint64)
    if arm == "u64_array":
        return np.frombuffer(array.u64_array.values, "<u8").astype(np.uint64)
    part = array.u16_array if arm == "u16_array" else array.u32_array
    offsets = np.frombuffer(part.offsets, "<u2" if arm == "u16_array" else "<u4")
    if len(offsets) and part.base + int(offsets.max()) >= 2**64:
        raise _corrupt("L.table.row-ids.overflow", place, f"base {part.base}", "ids below 2**64")
    return offsets.astype(np.uint64) + np.uint64(part.base)


def _corrupt(clause: str, place: Place, found: str, wanted: str) -> FormatError:
    return FormatError(clause, place, found=found, wanted=wanted)

"""Row ids and row versions: sequences of a fragment, one value for each of its physical rows.

A row id sequence is a list of segments, each a compact form of a run of ids; a version sequence is
a list of runs of which only the number of rows counts. Both are looked up by row offset and never
expanded: a range of a few bytes can hold any number of rows.

Layout (message lance.table.U64Segment): range {start, end}, range with absolute holes, range with a
bitmap (least significant bit first), sorted array, array; arrays hold a base and u16, u32 or u64
offsets. `n` ascending ids over `s` numbers with `h` holes are written as a range (h = 0) or the
smallest of a range with holes (24 + 4h bytes), with a bitmap (24 + s/8) and a sorted array
(24 + 2n). Others are an array.

Clauses: L.table.row-ids.message, L.table.row-ids.segment, L.table.row-ids.range,
L.table.row-ids.holes, L.table.row-ids.bitmap, L.table.row-ids.array, L.table.row-ids.array-width,
L.table.row-ids.sorted, L.table.row-ids.overflow, L.table.row-ids.length

Divergences: D.table.row-id-bitmap-order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, Place
from lanceref.core.integers import unique
from lanceref.core.wire import M, parse_message
from lanceref.proto import rowids_pb2 as pb

Ids = NDArray[np.uint64]
Offsets = NDArray[np.int64]

SEGMENT_BYTES = 24
"""What a segment takes besides its holes, bits or values, as the writer estimates."""

WIDTHS = {"u16_array": "<u2", "u32_array": "<u4", "u64_array": "<u8"}
"""Type of the numbers of an array by its arm."""


@dataclass(frozen=True, slots=True)
class Segment:
    """`count` ids: the stored `values`, or those from `start` on that are not among the `holes`."""

    count: int
    start: np.uint64
    holes: Ids | None = None
    values: Ids | None = None

    def follows(self, other: Segment) -> bool:
        """Whether both are ranges without holes, this one of greater ids."""
        plain = all(one.holes is None and one.values is None for one in (self, other))
        return plain and int(self.start) >= int(other.start) + other.count

    def at(self, positions: Offsets) -> Ids:
        """Return the ids at `positions` of the segment: (n,)."""
        if self.values is not None:
            return self.values[positions]
        ids = positions.astype(np.uint64) + self.start
        if self.holes is None:
            return ids
        before = self.holes - self.start - np.arange(len(self.holes), dtype=np.uint64)
        return ids + np.searchsorted(before, positions.astype(np.uint64), "right").astype(np.uint64)


class Run(NamedTuple):
    """Rows of one version, and the values of their span: only how many they are counts."""

    span: Ids
    version: int


class RowIds:
    """The row ids of a fragment, by row offset."""

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        self._ends = np.cumsum([segment.count for segment in segments], dtype=np.int64)

    def at(self, offsets: Offsets) -> Ids:
        """Return the ids of the rows at `offsets`: uint64, same shape: (n,)."""
        ids = np.empty(len(offsets), np.uint64)
        owners = np.searchsorted(self._ends, offsets, "right")
        for number in unique(owners).tolist():
            segment, chosen = self._segments[number], owners == number
            ids[chosen] = segment.at(offsets[chosen] - (int(self._ends[number]) - segment.count))
        return ids

    def parts(self, offsets: Offsets) -> list[Ids]:
        """Return the ids of the rows at ascending `offsets`, one array for each segment.

        Ranges that rise from one to the next are one segment. `offsets` (n,).
        """
        parts: list[list[Ids]] = []
        previous: Segment | None = None
        for one, ids in zip(self._segments, _parts(self._segments, self._ends, offsets)):
            if previous is not None and one.follows(previous):
                parts[-1].append(ids)
            else:
                parts.append([ids])
            previous = one
        return [np.concatenate(part) for part in parts]


class RowVersions:
    """The version of each row of a fragment, by row offset; the span of a run gives its length."""

    def __init__(self, versions: list[int], spans: list[Segment]) -> None:
        self._versions = np.array(versions, np.uint64)
        self._spans = spans
        self._ends = np.cumsum([span.count for span in spans], dtype=np.int64)

    def at(self, offsets: Offsets) -> Ids:
        """Return the versions of the rows at `offsets`: uint64, same shape: (n,)."""
        return self._versions[np.searchsorted(self._ends, offsets, "right")]

    def runs(self, offsets: Offsets) -> list[Run]:
        """Return the runs of the rows at ascending `offsets`, with what is left of their spans.

        `offsets` (n,).
        """
        parts = _parts(self._spans, self._ends, offsets)
        return list(map(Run, parts, self._versions.tolist()))


def _parts(segments: list[Segment], ends: Offsets, offsets: Offsets) -> list[Ids]:
    starts = ends - [segment.count for segment in segments]
    chosen = np.split(offsets, np.searchsorted(offsets, ends))
    return [one.at(own - start) for one, own, start in zip(segments, chosen, starts)]


def decode_row_ids(data: bytes, num_rows: int, ctx: Context, place: Place) -> RowIds:
    """Return the row ids of a fragment of `num_rows` physical rows. Raises FormatError."""
    sequence = _message(data, pb.RowIdSequence, "row ids", ctx, place)
    return RowIds(_segments(sequence.segments, num_rows, "row ids", place))


def decode_versions(data: bytes, num_rows: int, ctx: Context, place: Place) -> RowVersions:
    """Return the version of each of the `num_rows` physical rows. Raises FormatError."""
    runs = _message(data, pb.RowDatasetVersionSequence, "row versions", ctx, place).runs
    spans = _segments([run.span for run in runs], num_rows, "row versions", place)
    return RowVersions([run.version for run in runs], spans)


def stored_count(data: bytes, ctx: Context, place: Place) -> int:
    """Return how many ids a sequence holds. Raises FormatError."""
    sequence = _message(data, pb.RowIdSequence, "row ids", ctx, place)
    return sum(_count(segment, place) for segment in sequence.segments)


def _message(data: bytes, cls: type[M], name: str, ctx: Context, place: Place) -> M:
    cursor = Cursor(memoryview(data), place.offset, ctx)
    return parse_message(cursor, cls, name, "L.table.row-ids.message", embedded_in=place)


def _segments(
    segments: Sequence[pb.U64Segment], num_rows: int, what: str, place: Place
) -> list[Segment]:
    """Return segments whose counts add up to the rows; nothing is expanded before."""
    total = sum(_count(segment, place) for segment in segments)
    if total != num_rows:
        raise FormatError("L.table.row-ids.length", place, f"{total} {what}", f"{num_rows} rows")
    return [_parse(segment, place) for segment in segments]


def _count(segment: pb.U64Segment, place: Place) -> int:
    """Return the number of values of a segment, without expanding it."""
    arm = segment.WhichOneof("segment")
    if arm is None:
        raise FormatError("L.table.row-ids.segment", place, "a segment without a type", "a type")
    if arm in ("sorted_array", "array"):
        return len(_stored(getattr(segment, arm), place))
    spanned = getattr(segment, arm)
    start, end = int(spanned.start), int(spanned.end)
    if start > end:
        raise FormatError("L.table.row-ids.range", place, f"{start} to {end}", "start <= end")
    if arm == "range_with_holes":
        return end - start - len(_stored(spanned.holes, place))
    if arm == "range_with_bitmap":
        return _bitmap_count(spanned.bitmap, end - start, place)
    return end - start


def _bitmap_count(bitmap: bytes, size: int, place: Place) -> int:
    wanted = -(-size // 8)
    padding = bitmap[-1] >> (size % 8) if size % 8 and bitmap else 0
    if len(bitmap) != wanted or padding:
        found = f"{len(bitmap)} bytes for {size} values"
        raise FormatError("L.table.row-ids.bitmap", place, found, f"{wanted}, unused bits 0")
    return int.from_bytes(bitmap, "little").bit_count()


def _parse(segment: pb.U64Segment, place: Place) -> Segment:
    """Return a segment that `_count` has looked at."""
    arm = segment.WhichOneof("segment")
    if arm in ("sorted_array", "array"):
        values = _array(getattr(segment, arm), place)
        if arm == "sorted_array" and np.any(values[1:] <= values[:-1]):
            raise FormatError("L.table.row-ids.sorted", place, "values", "ascending values")
        return Segment(len(values), np.uint64(0), values=values)
    spanned = getattr(segment, arm)
    start, size = np.uint64(spanned.start), int(spanned.end - spanned.start)
    if arm == "range_with_bitmap":
        packed = np.frombuffer(spanned.bitmap, np.uint8)
        bits = np.unpackbits(packed, count=size, bitorder="little")
        values = np.flatnonzero(bits).astype(np.uint64) + start
        return Segment(len(values), start, values=values)
    if arm == "range":
        return Segment(size, start)
    holes = _array(spanned.holes, place)
    inside = (holes >= start) & (holes < np.uint64(spanned.end))
    if not inside.all() or np.any(holes[1:] <= holes[:-1]):
        found = f"holes {holes[:4].tolist()}"
        raise FormatError("L.table.row-ids.holes", place, found, "ascending holes in the range")
    return Segment(size - len(holes), start, holes=holes)


def _stored(array: pb.EncodedU64Array, place: Place) -> NDArray[np.unsignedinteger]:
    """Return the stored numbers of an array: offsets from its base, or 64-bit values."""
    arm = array.WhichOneof("array")
    if arm is None:
        raise FormatError("L.table.row-ids.array", place, "an array without a type", "a type")
    data, dtype = array.u64_array.values, np.dtype(WIDTHS[arm])
    if arm != "u64_array":
        data = getattr(array, arm).offsets
    if len(data) % dtype.itemsize:
        wanted = f"a multiple of {dtype.itemsize}"
        raise FormatError("L.table.row-ids.array-width", place, f"{len(data)} bytes", wanted)
    return np.frombuffer(data, dtype)


def _array(array: pb.EncodedU64Array, place: Place) -> Ids:
    stored, arm = _stored(array, place), array.WhichOneof("array")
    base = 0 if arm == "u64_array" else getattr(array, arm).base
    if base and len(stored) and base + int(stored.max()) >= 2**64:
        raise FormatError("L.table.row-ids.overflow", place, f"base {base}", "ids below 2**64")
    return stored.astype(np.uint64) + np.uint64(base)


def encode_row_ids(start: int, end: int) -> bytes:
    """Return the sequence of the ids start..end, one for each row."""
    return pb.RowIdSequence(segments=[_range(start, end)]).SerializeToString()


def encode_ids(ids: Ids) -> bytes:
    """Return the sequence of any ids, uint64, as one segment. `ids` (n,)."""
    return pb.RowIdSequence(segments=[encode_segment(ids)]).SerializeToString()


def encode_id_parts(parts: list[Ids]) -> bytes:
    """Return the sequence of ids in parts, a segment each; adjacent ranges are joined.

    Each part is (ids,).
    """
    segments: list[pb.U64Segment] = []
    for segment in (encode_segment(part) for part in parts if len(part)):
        last = segments[-1] if segments else pb.U64Segment()
        both = last.HasField("range") and segment.HasField("range")
        if both and last.range.end == segment.range.start:
            last.range.end = segment.range.end
        else:
            segments.append(segment)
    return pb.RowIdSequence(segments=segments).SerializeToString()


def encode_versions(num_rows: int, version: int) -> bytes:
    """Return the sequence of a fragment whose rows are all of one version."""
    return _encode_runs([(_range(0, num_rows), version)])


def encode_runs(versions: Ids) -> bytes:
    """Return the sequence of the version of each row, uint64; equal neighbours are one run.

    `versions` (rows,).
    """
    starts = np.flatnonzero(np.diff(versions, prepend=versions[:1] + np.uint64(1))).tolist()
    ends = [*starts, len(versions)][1:]
    return _encode_runs([(_range(a, b), int(versions[a])) for a, b in zip(starts, ends)])


def encode_spans(runs: list[Run]) -> bytes:
    """Return the sequence of runs whose spans are given; those without rows are left out."""
    return _encode_runs([(encode_segment(one.span), one.version) for one in runs if len(one.span)])


def _encode_runs(runs: list[tuple[pb.U64Segment, int]]) -> bytes:
    written = [pb.RowDatasetVersionRun(span=span, version=version) for span, version in runs]
    return pb.RowDatasetVersionSequence(runs=written).SerializeToString()


def encode_segment(ids: Ids) -> pb.U64Segment:
    """Return the smallest segment that holds the ids, uint64, in their order. `ids` (n,)."""
    if not len(ids):
        return _range(0, 0)
    if np.any(ids[1:] <= ids[:-1]):
        return pb.U64Segment(array=encode_array(ids))
    start, end = int(ids[0]), int(ids[-1]) + 1
    holes = end - start - len(ids)
    if not holes:
        return _range(start, end)
    by_form = {
        "holes": SEGMENT_BYTES + 4 * holes,
        "bitmap": SEGMENT_BYTES + -(-(end - start) // 8),
        "sorted": SEGMENT_BYTES + 2 * len(ids),
    }
    form = min(by_form, key=by_form.__getitem__)
    if form == "sorted":
        return pb.U64Segment(sorted_array=encode_array(ids))
    present = np.zeros(end - start, np.bool_)
    present[(ids - ids[0]).astype(np.int64)] = True
    if form == "holes":
        missing = np.flatnonzero(~present).astype(np.uint64) + ids[0]
        spanned = pb.U64Segment.RangeWithHoles(start=start, end=end, holes=encode_array(missing))
        return pb.U64Segment(range_with_holes=spanned)
    bits = np.packbits(present, bitorder="little").tobytes()
    with_bits = pb.U64Segment.RangeWithBitmap(start=start, end=end, bitmap=bits)
    return pb.U64Segment(range_with_bitmap=with_bits)


def encode_array(values: Ids) -> pb.EncodedU64Array:
    """Return values, uint64 and at least one, as offsets from the least in the narrowest width.

    `values` (n,).
    """
    base, offsets = int(values.min()), values - values.min()
    span, cls = int(offsets.max()), pb.EncodedU64Array
    if span < 2**16:
        return cls(u16_array=cls.U16Array(base=base, offsets=offsets.astype("<u2").tobytes()))
    if span < 2**32:
        return cls(u32_array=cls.U32Array(base=base, offsets=offsets.astype("<u4").tobytes()))
    return cls(u64_array=cls.U64Array(values=values.astype("<u8").tobytes()))


def _range(start: int, end: int) -> pb.U64Segment:
    return pb.U64Segment(range=pb.U64Segment.Range(start=start, end=end))

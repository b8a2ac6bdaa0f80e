"""Row ids and row versions: sequences of a fragment, one value for each of its physical rows.

A row id sequence is a list of segments, each a compact form of a run of ids; a version sequence is
a list of runs of which only the number of rows counts. Both are looked up by row offset and never
expanded: a range of a few bytes can stand for any number of rows.

Layout (message lance.table.U64Segment): range {start, end}, range with absolute holes, range with a
bitmap (least significant bit first), sorted array, array; arrays hold a base and u16, u32 or u64
offsets. The writer takes the smallest form. Of `n` ascending ids let `s` = last - first + 1 and
`h` = s - n the holes: they are a range (h = 0), or whichever is smaller of a range with holes
(24 + 4h bytes), a range with a bitmap (24 + s/8) and a sorted array (24 + 2n). Others are an array.

Clauses: L.table.row-ids.message, L.table.row-ids.segment, L.table.row-ids.range,
L.table.row-ids.holes, L.table.row-ids.bitmap, L.table.row-ids.array, L.table.row-ids.array-width,
L.table.row-ids.sorted, L.table.row-ids.overflow, L.table.row-ids.length

Divergences: D.table.row-id-bitmap-order
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, Place
from lanceref.core.integers import unique
from lanceref.core.wire import parse_message
from lanceref.proto import rowids_pb2 as pb

Ids = NDArray[np.uint64]
Offsets = NDArray[np.int64]


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
        """Return the ids at `positions` of the segment."""
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
        """Return the ids of the rows at `offsets`: uint64, same shape."""
        ids = np.empty(len(offsets), np.uint64)
        owners = np.searchsorted(self._ends, offsets, "right")
        for number in unique(owners).tolist():
            segment, chosen = self._segments[number], owners == number
            ids[chosen] = segment.at(offsets[chosen] - (int(self._ends[number]) - segment.count))
        return ids

    def parts(self, offsets: Offsets) -> list[Ids]:
        """Return the ids of the rows at ascending `offsets`, those of each segment apart.

        Ranges that rise from one to the next are one segment.
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
    """The version of each row of a fragment, by row offset: of a run, its span says how many."""

    def __init__(self, versions: list[int], spans: list[Segment]) -> None:
        self._versions = np.array(versions, np.uint64)
        self._spans = spans
        self._ends = np.cumsum([span.count for span in spans], dtype=np.int64)

    def at(self, offsets: Offsets) -> Ids:
        """Return the versions of the rows at `offsets`: uint64, same shape."""
        return self._versions[np.searchsorted(self._ends, offsets, "right")]

    def runs(self, offsets: Offsets) -> list[Run]:
        """Return the runs of the rows at ascending `offsets`, with what is left of their spans."""
        parts = _parts(self._spans, self._ends, offsets)
        pairs = zip(parts, self._versions.tolist(), strict=True)
        return [Run(span, version) for span, version in pairs]


def _parts(segments: list[Segment], ends: Offsets, offsets: Offsets) -> list[Ids]:
    cuts = np.searchsorted(offsets, ends)
    starts = ends - [segment.count for segment in segments]
    chosen = np.split(offsets, cuts)
    return [one.at(own - start) for one, own, start in zip(segments, chosen, starts)]


def decode_row_ids(data: bytes, num_rows: int, ctx: Context, place: Place) -> RowIds:
    """Return the row ids of a fragment of `num_rows` physical rows. Raises FormatError."""
    sequence = parse_message(
        Cursor(memoryview(data), place.offset, ctx),
        pb.RowIdSequence,
        "row ids",
        "L.table.row-ids.message",
        embedded_in=place,
    )
    total = sum(_count(segment, place) for segment in sequence.segments)
    _check_length(total, num_rows, "row ids", place)
    return RowIds([_parse(segment, place) for segment in sequence.segments])


def stored_count(data: bytes, ctx: Context, place: Place) -> int:
    """Return how many ids a sequence holds. Raises FormatError."""
    sequence = parse_message(
        Cursor(memoryview(data), place.offset, ctx),
        pb.RowIdSequence,
        "row ids",
        "L.table.row-ids.message",
        embedded_in=place,
    )
    return sum(_count(segment, place) for segment in sequence.segments)


def decode_versions(data: bytes, num_rows: int, ctx: Context, place: Place) -> RowVersions:
    """Return the version of each of the `num_rows` physical rows. Raises FormatError."""
    sequence = parse_message(
        Cursor(memoryview(data), place.offset, ctx),
        pb.RowDatasetVersionSequence,
        "row versions",
        "L.table.row-ids.message",
        embedded_in=place,
    )
    total = sum(_count(run.span, place) for run in sequence.runs)
    _check_length(total, num_rows, "row versions", place)
    spans = [_parse(run.span, place) for run in sequence.runs]
    return RowVersions([run.version for run in sequence.runs], spans)


def _check_length(found: int, num_rows: int, what: str, place: Place) -> None:
    if found != num_rows:
        raise _corrupt("L.table.row-ids.length", place, f"{found} {what}", f"{num_rows} rows")


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


def _parse(segment: pb.U64Segment, place: Place) -> Segment:
    """Return a segment that `_count` has looked at."""
    arm = segment.WhichOneof("segment")
    if arm in ("sorted_array", "array"):
        values = _array(getattr(segment, arm), place)
        if arm == "sorted_array" and np.any(values[1:] <= values[:-1]):
            raise _corrupt("L.table.row-ids.sorted", place, "values that do not rise", "rising")
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
        raise _corrupt(
            "L.table.row-ids.holes", place, f"holes {holes[:4].tolist()}", "rising, in the range"
        )
    return Segment(size - len(holes), start, holes=holes)


def _array_count(array: pb.EncodedU64Array, place: Place) -> int:
    arm = array.WhichOneof("array")
    if arm is None:
        raise _corrupt("L.table.row-ids.array", place, "an array without a type", "one of three")
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
    if arm == "u64_array":
        return np.frombuffer(array.u64_array.values, "<u8").astype(np.uint64)
    part = array.u16_array if arm == "u16_array" else array.u32_array
    offsets = np.frombuffer(part.offsets, "<u2" if arm == "u16_array" else "<u4")
    if len(offsets) and part.base + int(offsets.max()) >= 2**64:
        raise _corrupt("L.table.row-ids.overflow", place, f"base {part.base}", "ids below 2**64")
    return offsets.astype(np.uint64) + np.uint64(part.base)


def _corrupt(clause: str, place: Place, found: str, wanted: str) -> FormatError:
    return FormatError(clause, place, found=found, wanted=wanted)


Numbers = NDArray[np.uint64]

SEGMENT_BYTES = 24
"""What a segment takes besides its holes, bits or values, by the writer's reckoning."""


def encode_row_ids(start: int, end: int) -> bytes:
    """Return the sequence of the ids start..end, one for each row."""
    return pb.RowIdSequence(segments=[_range(start, end)]).SerializeToString()


def encode_ids(ids: Numbers) -> bytes:
    """Return the sequence of any ids, uint64, as one segment."""
    return pb.RowIdSequence(segments=[encode_segment(ids)]).SerializeToString()


def encode_id_parts(parts: list[Numbers]) -> bytes:
    """Return the sequence of ids in parts, a segment each; ranges that meet are joined."""
    segments: list[pb.U64Segment] = []
    for segment in (encode_segment(part) for part in parts if len(part)):
        last = segments[-1] if segments else None
        if (
            last is not None
            and last.HasField("range")
            and segment.HasField("range")
            and last.range.end == segment.range.start
        ):
            last.range.end = segment.range.end
        else:
            segments.append(segment)
    return pb.RowIdSequence(segments=segments).SerializeToString()


def encode_versions(num_rows: int, version: int) -> bytes:
    """Return the sequence of a fragment whose rows are all of one version."""
    run = pb.RowDatasetVersionRun(span=_range(0, num_rows), version=version)
    return pb.RowDatasetVersionSequence(runs=[run]).SerializeToString()


def encode_runs(versions: Numbers) -> bytes:
    """Return the sequence of the version of each row, uint64; equal neighbours are one run."""
    starts = np.flatnonzero(np.diff(versions, prepend=versions[:1] + np.uint64(1)))
    ends = np.append(starts, len(versions))[1:]
    runs = [
        pb.RowDatasetVersionRun(span=_range(start, end), version=int(versions[start]))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    return pb.RowDatasetVersionSequence(runs=runs).SerializeToString()


def encode_spans(runs: list[Run]) -> bytes:
    """Return the sequence of runs whose spans are given; those without rows are left out."""
    written = [
        pb.RowDatasetVersionRun(span=encode_segment(run.span), version=run.version)
        for run in runs
        if len(run.span)
    ]
    return pb.RowDatasetVersionSequence(runs=written).SerializeToString()


def encode_segment(ids: Numbers) -> pb.U64Segment:
    """Return the smallest segment that holds the ids, uint64, in their order."""
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


def encode_array(values: Numbers) -> pb.EncodedU64Array:
    """Return values, uint64 and at least one, as offsets from the least in the narrowest width."""
    base = values.min()
    offsets, span = values - base, int(values.max() - base)
    if span < 2**16:
        narrow = pb.EncodedU64Array.U16Array(
            base=int(base), offsets=offsets.astype("<u2").tobytes()
        )
        return pb.EncodedU64Array(u16_array=narrow)
    if span < 2**32:
        middle = pb.EncodedU64Array.U32Array(
            base=int(base), offsets=offsets.astype("<u4").tobytes()
        )
        return pb.EncodedU64Array(u32_array=middle)
    wide = pb.EncodedU64Array.U64Array(values=values.astype("<u8").tobytes())
    return pb.EncodedU64Array(u64_array=wide)


def _range(start: int, end: int) -> pb.U64Segment:
    return pb.U64Segment(range=pb.U64Segment.Range(start=start, end=end))

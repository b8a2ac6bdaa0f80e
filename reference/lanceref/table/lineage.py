"""Row lineage: the id of every row of a fragment, and the versions that made and last changed it.

Tables with stable row ids keep them, deleted rows included, either inline in the manifest or, where
flag 2 048 allows it, in a hidden column of one of the fragment's files. Without a sequence both
versions are 1.

A row id sequence is a list of segments, each a compact form of a run of ids; a version sequence is
a list of runs of which only the number of rows counts. Both are looked up by row offset and never
expanded: a range of a few bytes can hold any number of rows.

Layout: DataFragment 5, 9, 7 inline sequences; 12, 14, 13: the columns -3, -4, -5 hold them. Of
lance.table.U64Segment: range {start, end}, range with absolute holes, range with a bitmap (least
significant bit first), sorted array, array; arrays hold a base and u16, u32 or u64 offsets. `n`
ascending ids over `s` numbers with `h` holes are written as a range (h = 0) or the smallest of a
range with holes (24 + 4h bytes), with a bitmap (24 + s/8) and a sorted array (24 + 2n). Others are
an array.

Clauses: L.table.row-ids.message, L.table.row-ids.segment, L.table.row-ids.range,
L.table.row-ids.holes, L.table.row-ids.bitmap, L.table.row-ids.array, L.table.row-ids.array-width,
L.table.row-ids.sorted, L.table.row-ids.overflow, L.table.row-ids.length, L.table.row-ids.column

Divergences: D.table.row-id-bitmap-order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, M, parse_message
from lanceref.core.errors import CorruptPage, FormatError, Place
from lanceref.core.integers import unique
from lanceref.file.column_io import ColumnReader
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto import table_pb2
from lanceref.table.columns import FragmentReader

Ids = NDArray[np.uint64]
Offsets = NDArray[np.int64]

WIDTHS = {"u16_array": "<u2", "u32_array": "<u4", "u64_array": "<u8"}
"""Type of the numbers of an array by its arm."""


@dataclass(frozen=True, slots=True)
class Segment:
    """`count` ids: the stored `values`, or those from `start` on that are not among the `holes`."""

    count: int
    start: np.uint64
    holes: Ids | None = None
    values: Ids | None = None

    def at(self, positions: Offsets) -> Ids:
        """Return the ids at `positions` of the segment: (n,)."""
        if self.values is not None:
            return self.values[positions]
        ids = positions.astype(np.uint64) + self.start
        if self.holes is None:
            return ids
        before = self.holes - self.start - np.arange(len(self.holes), dtype=np.uint64)
        return ids + np.searchsorted(before, positions.astype(np.uint64), "right").astype(np.uint64)


class RowIds:
    """The row ids of a fragment, by row offset; `count` of them."""

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        ends = list(accumulate(segment.count for segment in segments))
        self.count = ends[-1] if ends else 0
        self._ends = np.array([min(end, 2**63 - 1) for end in ends], np.int64)

    def at(self, offsets: Offsets) -> Ids:
        """Return the ids of the rows at `offsets`: uint64, same shape: (n,)."""
        ids = np.empty(len(offsets), np.uint64)
        owners = np.searchsorted(self._ends, offsets, "right")
        for number in unique(owners).tolist():
            segment, chosen = self._segments[number], owners == number
            ids[chosen] = segment.at(offsets[chosen] - (int(self._ends[number]) - segment.count))
        return ids


class RowVersions:
    """The version of each row of a fragment, by row offset; the span of a run gives its length."""

    def __init__(self, versions: list[int], spans: list[Segment]) -> None:
        self._versions = np.array(versions, np.uint64)
        self._ends = np.cumsum([span.count for span in spans], dtype=np.int64)

    def at(self, offsets: Offsets) -> Ids:
        """Return the versions of the rows at `offsets`: uint64, same shape: (n,)."""
        return self._versions[np.searchsorted(self._ends, offsets, "right")]


def decode_row_ids(data: bytes, num_rows: int | None, ctx: Context, place: Place) -> RowIds:
    """Return the row ids of a fragment of `num_rows` physical rows (None: unknown).

    Raises FormatError.
    """
    sequence = _message(data, pb.RowIdSequence, "row ids", ctx, place)
    return RowIds(_segments(sequence.segments, num_rows, "row ids", place))


def decode_versions(data: bytes, num_rows: int, ctx: Context, place: Place) -> RowVersions:
    """Return the version of each of the `num_rows` physical rows. Raises FormatError."""
    runs = _message(data, pb.RowDatasetVersionSequence, "row versions", ctx, place).runs
    spans = _segments([run.span for run in runs], num_rows, "row versions", place)
    return RowVersions([run.version for run in runs], spans)


def _message(data: bytes, cls: type[M], name: str, ctx: Context, place: Place) -> M:
    cursor = Cursor(memoryview(data), place.offset, ctx)
    return parse_message(cursor, cls, name, "L.table.row-ids.message", embedded_in=place)


def _segments(
    segments: Sequence[pb.U64Segment], num_rows: int | None, what: str, place: Place
) -> list[Segment]:
    """Return segments whose counts add up to the rows."""
    parsed = [_parse(segment, place) for segment in segments]
    total = sum(segment.count for segment in parsed)
    if num_rows not in (None, total):
        raise FormatError("L.table.row-ids.length", place, f"{total} {what}", f"{num_rows} rows")
    return parsed


def _parse(segment: pb.U64Segment, place: Place) -> Segment:
    """Return a segment; a range is not expanded, and its holes are as many as are stored."""
    arm = segment.WhichOneof("segment")
    if arm is None:
        raise FormatError("L.table.row-ids.segment", place, "a segment without a type", "a type")
    if arm in ("sorted_array", "array"):
        values = _array(getattr(segment, arm), place)
        if arm == "sorted_array" and np.any(values[1:] <= values[:-1]):
            raise FormatError("L.table.row-ids.sorted", place, "values", "ascending values")
        return Segment(len(values), np.uint64(0), values=values)
    spanned = getattr(segment, arm)
    start, end = np.uint64(spanned.start), np.uint64(spanned.end)
    if start > end:
        raise FormatError("L.table.row-ids.range", place, f"{start} to {end}", "start <= end")
    size = int(end) - int(start)
    if arm == "range_with_bitmap":
        present = _bits(spanned.bitmap, size, place)
        values = np.flatnonzero(present).astype(np.uint64) + start
        return Segment(len(values), start, values=values)
    if arm == "range":
        return Segment(size, start)
    holes = _array(spanned.holes, place)
    inside = (holes >= start) & (holes < end)
    if not inside.all() or np.any(holes[1:] <= holes[:-1]):
        found = f"holes {holes[:4].tolist()}"
        raise FormatError("L.table.row-ids.holes", place, found, "ascending holes in the range")
    return Segment(size - len(holes), start, holes=holes)


def _bits(bitmap: bytes, size: int, place: Place) -> NDArray[np.uint8]:
    wanted = -(-size // 8)
    padding = bitmap[-1] >> (size % 8) if size % 8 and bitmap else 0
    if len(bitmap) != wanted or padding:
        found = f"{len(bitmap)} bytes for {size} values"
        raise FormatError("L.table.row-ids.bitmap", place, found, f"{wanted}, unused bits 0")
    return np.unpackbits(np.frombuffer(bitmap, np.uint8), count=size, bitorder="little")


def _array(array: pb.EncodedU64Array, place: Place) -> Ids:
    """Return the numbers of an array: offsets from its base, or 64-bit values."""
    arm = array.WhichOneof("array")
    if arm is None:
        raise FormatError("L.table.row-ids.array", place, "an array without a type", "a type")
    message, dtype = getattr(array, arm), np.dtype(WIDTHS[arm])
    base, data = (0, message.values) if arm == "u64_array" else (message.base, message.offsets)
    if len(data) % dtype.itemsize:
        wanted = f"a multiple of {dtype.itemsize}"
        raise FormatError("L.table.row-ids.array-width", place, f"{len(data)} bytes", wanted)
    stored = np.frombuffer(data, dtype)
    if base and len(stored) and base + int(stored.max()) >= 2**64:
        raise FormatError("L.table.row-ids.overflow", place, f"base {base}", "ids below 2**64")
    return stored.astype(np.uint64) + np.uint64(base)


def encode_row_ids(start: int, end: int) -> bytes:
    """Return the sequence of the ids start..end, one for each row."""
    return pb.RowIdSequence(segments=[_range(start, end)]).SerializeToString()


def encode_ids(ids: Ids) -> bytes:
    """Return the sequence of any ids, uint64, as one segment. `ids` (n,)."""
    return pb.RowIdSequence(segments=[encode_segment(ids)]).SerializeToString()


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
    # Estimates of the official writer, which decide what it writes.
    sizes = {"holes": 4 * holes, "bitmap": -(-(end - start) // 8), "sorted": 2 * len(ids)}
    form = min(sizes, key=sizes.__getitem__)  # of equal ones the first
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


ROW_ID = "_rowid"
CREATED_AT = "_row_created_at_version"
LAST_UPDATED_AT = "_row_last_updated_at_version"

STORED = {
    ROW_ID: ("inline_row_ids", "column_row_ids", -3),
    CREATED_AT: ("inline_created_at_versions", "column_created_at_versions", -4),
    LAST_UPDATED_AT: ("inline_last_updated_at_versions", "column_last_updated_at_versions", -5),
}
"""Fields of the message for each inline, and in a hidden column; the id of that column."""


@dataclass(frozen=True, slots=True)
class HiddenColumn:
    """Values in a column of one of the fragment's files."""

    reader: ColumnReader
    place: Place

    def at(self, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the values of the rows at ascending `offsets`. Raises CorruptPage for a null.

        `offsets` and the result (n,).
        """
        values = self.reader.take(offsets)
        if values.null_count:
            found = f"{values.null_count} nulls in a hidden column"
            raise CorruptPage("L.table.row-ids.column", self.place, found, "a value for each row")
        return np.asarray(values.to_numpy(), np.uint64)


Values: TypeAlias = RowIds | RowVersions | HiddenColumn
"""A value for each row of a fragment: `at` returns those of the rows at ascending offsets."""


def is_stored(name: str, message: table_pb2.DataFragment) -> bool:
    """Whether a fragment has row ids or versions of its own."""
    inline, column, _ = STORED[name]
    return message.HasField(inline) or message.HasField(column)


def open_lineage(name: str, columns: FragmentReader, ctx: Context) -> Values:
    """Return the row ids or versions of a fragment. Raises CorruptPage.

    One that has none of its own has addresses as ids, and its rows are of version 1.
    """
    (inline, column, hidden_id), message = STORED[name], columns.fragment.message
    place, rows = columns.fragment.place, columns.bounded_rows
    if message.HasField(column):
        reader = columns.hidden(hidden_id)
        if reader is not None:
            return HiddenColumn(reader, place)
        found = f"no file of fragment {message.id} with field {hidden_id}"
        raise CorruptPage("L.table.row-ids.column", place, found, "a hidden column")
    if message.HasField(inline):
        decode = decode_row_ids if name == ROW_ID else decode_versions
        return decode(getattr(message, inline), rows, ctx, place)
    if name == ROW_ID:
        return RowIds([Segment(rows, np.uint64(message.id << 32))])
    return RowVersions([1], [Segment(rows, np.uint64(0))])

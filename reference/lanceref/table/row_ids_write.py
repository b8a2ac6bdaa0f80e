"""Row ids and row versions, written: each sequence in the form that is smallest.

Layout: see `row_ids`. Of rising ids let `n` be how many, `s` = last - first + 1 and `h` = s - n the
holes: they are a range (h = 0), or whichever is smaller of a range with holes (24 + 4h bytes), a
range with a bitmap (24 + s/8) and a sorted array (24 + 2n). Others are an array.

Clauses: L.table.row-ids.holes, L.table.row-ids.bitmap, L.table.row-ids.sorted,
L.table.row-ids.array-width

Divergences: D.table.row-id-bitmap-order
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.proto import rowids_pb2 as pb
from lanceref.table.row_ids import Run

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

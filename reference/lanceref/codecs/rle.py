"""Run-length encoding: values and how often each stands.

Up to 2.2 both are flat, lengths of one byte; in 2.3 both are coded by children of their own. Runs
never span chunks. Values and lengths that need no bytes make a sequence that needs none either.

Layout in a chunk: buffer 0 the run values, buffer 1 the run lengths.
Layout as a block: u64 size of the values, the values, the lengths.

Clauses: L.codec.rle.sum, L.codec.rle.pairs, L.codec.rle.frame, L.codec.rle.empty-run

Run-length encoding, encoded: values and the lengths of their runs.

A run is cut where its length would not fit the width of lengths, and at the end of a chunk.

Layout: see `rle`.

Clauses: L.codec.rle.children, L.codec.rle.sum
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.sequence import range_at
from lanceref.codecs.values import Fixed, MiniBlocks, Part, flat_encoding
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def expand(
    run: ChunkRun, runs: NDArray[np.int64], values: Fixed, lengths: NDArray[np.uint64]
) -> Fixed:
    """Repeat `values` by `lengths`; `runs` of them belong to each chunk of the run."""
    buffer, limit = len(run.starts) - 1, int(run.counts.max(initial=0))
    ends = np.append(0, np.cumsum(np.minimum(lengths, limit + 1).astype(np.int64)))
    totals = np.diff(ends[np.append(0, np.cumsum(runs))])
    wrong = np.flatnonzero(totals != run.counts)
    if len(wrong):
        chunk = int(wrong[0])
        raise CorruptPage(
            "L.codec.rle.sum",
            run.place(buffer, chunk),
            found=f"{int(runs[chunk])} runs of {int(totals[chunk])} values or more",
            wanted=f"{int(run.counts[chunk])}, the values of the chunk",
        )
    if run.ctx.validating and not lengths.all():
        chunk = int(np.searchsorted(np.cumsum(runs), np.flatnonzero(lengths == 0)[0], "right"))
        run.ctx.lint(
            "L.codec.rle.empty-run",
            run.place(buffer, chunk),
            found="a run of 0 values",
            wanted="runs of one value or more",
            severity="should",
        )
    width = values.bits // 8
    cells = values.data.view(f"<u{width}" if width in (1, 2, 4, 8) else f"V{width}")
    return Fixed(values.bits, run.num_values, np.repeat(cells, lengths.astype(np.int64)).view("u1"))


def check_pairs(run: ChunkRun, values: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    """Refuse chunks whose numbers of values and of lengths differ."""
    wrong = np.flatnonzero(values != lengths)
    if len(wrong):
        chunk = int(wrong[0])
        raise CorruptPage(
            "L.codec.rle.pairs",
            run.place(0, chunk),
            found=f"{int(values[chunk])} run values, {int(lengths[chunk])} run lengths",
            wanted="a length for every value",
        )


def split_frames(run: ChunkRun) -> ChunkRun:
    """Return the two buffers inside the frame of every chunk's buffer 0."""
    short = np.flatnonzero(run.sizes[0] < 8)
    heads = np.zeros(run.num_chunks, np.uint64)
    if not len(short):
        words = np.ascontiguousarray(run.rows(0, np.arange(run.num_chunks), 8))
        heads = words.view("<u8").reshape(-1)
        short = np.flatnonzero(heads > (run.sizes[0] - 8).astype(np.uint64))
    if len(short):
        chunk = int(short[0])
        raise CorruptPage(
            "L.codec.rle.frame",
            run.place(0, chunk),
            found=f"{int(heads[chunk])} bytes of values in {int(run.sizes[0, chunk])} bytes",
            wanted="a frame that holds its values",
        )
    if run.ctx.spans is not None and run.in_file(0):
        for start, head in zip((run.base + run.starts[0]).tolist(), heads.tolist()):
            run.ctx.leaf(start, start + 8, "size of values", "u64", "L.codec.rle.frame", head)
    sizes = heads.astype(np.int64)
    starts = run.starts[0] + 8
    return replace(
        run,
        starts=np.stack([starts, starts + sizes]),
        sizes=np.stack([sizes, run.sizes[0] - 8 - sizes]),
    )


def computed_runs(lengths: pb.CompressiveEncoding, run: ChunkRun) -> NDArray[np.int64]:
    """Return the number of runs of every chunk when the lengths lie in the description."""
    sums = {count: _runs_of(lengths, count) for count in np.unique(run.counts).tolist()}
    for count, num_runs in sums.items():
        if num_runs is None:
            raise CorruptPage(
                "L.codec.rle.sum",
                run.place(),
                found=f"lengths {str(lengths).strip()}",
                wanted=f"first lengths that add up to {count}",
            )
    return np.array([sums[count] for count in run.counts.tolist()], np.int64)


def _runs_of(lengths: pb.CompressiveEncoding, count: int) -> int | None:
    """Return how many first lengths add up to `count`, if some do."""
    is_range = lengths.WhichOneof("compression") == "range"
    constant = int.from_bytes(lengths.constant.value, "little")
    first = range_at(lengths.range, 0) if is_range else constant
    step = lengths.range.step if is_range else 0
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if middle * first + step * (middle * (middle - 1) // 2) < count:
            low = middle + 1
        else:
            high = middle
    return low if low * first + step * (low * (low - 1) // 2) == count else None


HEADER_BYTES = 8
"""Bytes before the runs of a block."""

MAX_RUN = 255
"""Longest run of one byte."""


NO_CUTS: NDArray[np.int64] = np.zeros(0, np.int64)
"""No places where runs must be cut."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs that are no longer than a length can say: `values` and `lengths` of each."""

    values: Unsigned
    lengths: NDArray[np.int64]


def starts_of(values: Unsigned, cuts: NDArray[np.int64] = NO_CUTS) -> NDArray[np.int64]:
    """Return where runs begin, at the positions `cuts` in any case; the first is 0."""
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    begins[cuts[cuts < len(values)]] = True
    return np.flatnonzero(begins)


def runs_of(values: Unsigned, cuts: NDArray[np.int64], max_run: int = MAX_RUN) -> Runs:
    """Return the runs of `values`, cut also at the positions `cuts`."""
    starts = starts_of(values, cuts)
    lengths = np.diff(starts, append=len(values))
    if not len(lengths) or lengths.max() <= max_run:
        return Runs(values[starts], lengths)
    pieces = -(-lengths // max_run)
    cut = np.full(int(pieces.sum()), max_run, np.int64)
    cut[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * max_run
    return Runs(np.repeat(values[starts], pieces), cut)


def rle_encoding(bits: int, length_bits: int = 8) -> CompressiveEncoding:
    """Return the description of plain values and plain lengths."""
    encoding = CompressiveEncoding()
    encoding.rle.values.CopyFrom(flat_encoding(bits))
    encoding.rle.run_lengths.CopyFrom(flat_encoding(length_bits))
    return encoding


def encode_mini(
    values: Unsigned, counts: NDArray[np.int64], cuts: NDArray[np.int64] = NO_CUTS
) -> MiniBlocks:
    """Encode chunks of `counts` values: run values in one buffer, lengths in the other.

    Runs are cut also at the positions `cuts`.
    """
    ends = np.cumsum(counts)
    runs = runs_of(values, np.append(ends - counts, cuts))
    run_ends = np.searchsorted(np.cumsum(runs.lengths), ends, side="left") + 1
    per_chunk = np.diff(run_ends, prepend=0)
    width = values.dtype.itemsize
    return MiniBlocks(
        rle_encoding(8 * width),
        counts,
        (
            (np.ascontiguousarray(runs.values).view(np.uint8), per_chunk * width),
            (runs.lengths.astype(np.uint8), per_chunk),
        ),
    )


def encode_block(values: Unsigned) -> NDArray[np.uint8]:
    """Encode one buffer: u64 bytes of the run values, the run values, the lengths."""
    return encode_blocks(values, np.array([len(values)]))[0]


def encode_blocks(values: Unsigned, counts: NDArray[np.int64]) -> Part:
    """Encode chunks of `counts` values, each as `encode_block` does; return bytes and sizes."""
    width, ends = values.dtype.itemsize, np.cumsum(counts)
    runs = runs_of(values, ends - counts)
    begins = np.cumsum(runs.lengths) - runs.lengths
    first = np.searchsorted(begins, ends - counts)
    per_chunk = np.searchsorted(begins, ends) - first
    sizes = HEADER_BYTES + per_chunk * (width + 1)
    at = np.cumsum(sizes) - sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    header = (per_chunk * width).astype("<u8").view(np.uint8).reshape(-1, HEADER_BYTES)
    out[at[:, None] + np.arange(HEADER_BYTES)] = header
    numbers, body = np.arange(len(begins)), at + HEADER_BYTES
    value_at = np.repeat(body - first * width, per_chunk) + numbers * width
    stored = np.ascontiguousarray(runs.values).view(np.uint8).reshape(-1, width)
    out[value_at[:, None] + np.arange(width)] = stored
    out[np.repeat(body + per_chunk * width - first, per_chunk) + numbers] = runs.lengths
    return out, sizes

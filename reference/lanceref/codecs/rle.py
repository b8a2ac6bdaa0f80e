"""Run-length encoding: values, and the lengths of their runs.

Up to 2.2 both are flat, lengths of one byte; in 2.3 both are coded by children of their own. Runs
never span chunks; a writer also cuts them where a length would not fit its width. Values and
lengths that need no bytes make a sequence that needs none either.

Layout in a chunk: buffer 0 the run values, buffer 1 the run lengths.
Layout as a block: u64 size of the values, the values, the lengths.

Clauses: L.codec.rle.sum, L.codec.rle.pairs, L.codec.rle.frame, L.codec.rle.empty-run,
L.codec.rle.children
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed, Ints, MiniBlocks, Part, flat_encoding
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_1_pb2 as pb

HEADER_BYTES = 8
"""Bytes before the runs of a block."""

MAX_RUN = 255
"""Longest run of one byte."""

NO_CUTS: Ints = np.zeros(0, np.int64)
"""No places where runs must be cut."""


def expand(run: ChunkRun, runs: Ints, values: Fixed, lengths: NDArray[np.uint64]) -> Fixed:
    """Repeat `values` by `lengths`; `runs` (num_chunks,) of them belong to each chunk of the run.

    Raises CorruptPage when those of a chunk do not add up to its values.
    """
    buffer, limit = len(run.starts) - 1, int(run.counts.max(initial=0))
    ends = np.append(0, np.cumsum(np.minimum(lengths, limit + 1).astype(np.int64)))
    totals = np.diff(ends[np.append(0, np.cumsum(runs))])
    wrong = totals != run.counts
    run.check("L.codec.rle.sum", wrong, totals, run.counts, "values in all runs", buffer)
    if run.ctx.validating and not lengths.all():
        chunk = int(np.searchsorted(np.cumsum(runs), np.flatnonzero(lengths == 0)[0], "right"))
        place, wanted = run.place(buffer, chunk), "one value or more"
        run.ctx.lint("L.codec.rle.empty-run", place, 0, wanted, severity="should")
    width = values.bits // 8
    cells = values.data.view(f"<u{width}" if width in (1, 2, 4, 8) else f"V{width}")
    return Fixed(values.bits, run.num_values, np.repeat(cells, lengths.astype(np.int64)).view("u1"))


def split_frames(run: ChunkRun) -> ChunkRun:
    """Return the two buffers inside the frame of every chunk's buffer 0. Raises CorruptPage."""
    room = run.sizes[0] - HEADER_BYTES
    run.check("L.codec.rle.frame", room < 0, run.sizes[0], "a size of the values")
    words = np.ascontiguousarray(run.rows(0, np.arange(run.num_chunks), HEADER_BYTES))
    heads = words.view("<u8").reshape(-1)
    run.check("L.codec.rle.frame", heads > room.astype(np.uint64), heads, room)
    if run.ctx.spans is not None and run.in_file(0):
        for start, head in zip((run.base + run.starts[0]).tolist(), heads.tolist()):
            run.ctx.leaf(start, start + 8, "size of values", "u64", "L.codec.rle.frame", head)
    sizes, starts = heads.astype(np.int64), run.starts[0] + HEADER_BYTES
    both = np.stack([starts, starts + sizes]), np.stack([sizes, room - sizes])
    return replace(run, starts=both[0], sizes=both[1])


def computed_runs(lengths: pb.CompressiveEncoding, run: ChunkRun) -> Ints:
    """Return the runs of every chunk when their lengths are in the description. Raises CorruptPage.

    Lengths are a range or a constant; the first few of them add up to the values of the chunk. The
    result is (chunks,).
    """
    if lengths.WhichOneof("compression") == "range":
        first, step = lengths.range.start, lengths.range.step
    else:
        first, step = int.from_bytes(lengths.constant.value, "little"), 0
    found = {}
    for count in np.unique(run.counts).tolist():
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if middle * first + step * (middle * (middle - 1) // 2) < count:
                low = middle + 1
            else:
                high = middle
        total = low * first + step * (low * (low - 1) // 2)
        if total != count:
            raise CorruptPage("L.codec.rle.sum", run.place(), total, count)
        found[count] = low
    return np.array([found[count] for count in run.counts.tolist()], np.int64)


def starts_of(values: Unsigned, cuts: Ints = NO_CUTS) -> Ints:
    """Return where runs begin, at the positions `cuts` in any case; the first is 0.

    `values` (n,), `cuts` (m,), the result (runs,).
    """
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    begins[cuts[cuts < len(values)]] = True
    return np.flatnonzero(begins)


def runs_of(values: Unsigned, cuts: Ints) -> tuple[Unsigned, Ints]:
    """Return value and length of the runs of `values`, cut also at `cuts`, at most 255 long.

    `values` (n,), `cuts` (m,); both results (runs,).
    """
    starts = starts_of(values, cuts)
    lengths = np.diff(starts, append=len(values))
    if not len(lengths) or lengths.max() <= MAX_RUN:
        return values[starts], lengths
    pieces = -(-lengths // MAX_RUN)
    cut = np.full(int(pieces.sum()), MAX_RUN, np.int64)
    cut[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * MAX_RUN
    return np.repeat(values[starts], pieces), cut


def rle_encoding(bits: int) -> pb.CompressiveEncoding:
    """Return the description of plain values and lengths of one byte."""
    rle = pb.Rle(values=flat_encoding(bits), run_lengths=flat_encoding(8))
    return pb.CompressiveEncoding(rle=rle)


def encode_mini(values: Unsigned, counts: Ints, cuts: Ints = NO_CUTS) -> MiniBlocks:
    """Encode chunks of `counts` values: run values in one buffer, lengths in the other.

    Runs are cut also at the positions `cuts`. `values` (n,), `counts` (chunks,).
    """
    ends = np.cumsum(counts)
    run_values, lengths = runs_of(values, np.append(ends - counts, cuts))
    run_ends = np.searchsorted(np.cumsum(lengths), ends, side="left") + 1
    per_chunk = np.diff(run_ends, prepend=0)
    width = values.dtype.itemsize
    stored = np.ascontiguousarray(run_values).view(np.uint8), per_chunk * width
    buffers = stored, (lengths.astype(np.uint8), per_chunk)
    return MiniBlocks(rle_encoding(8 * width), counts, buffers)


def encode_blocks(values: Unsigned, counts: Ints) -> Part:
    """Encode chunks of `counts` values: size of the run values, run values, lengths.

    `values` (n,), `counts` (chunks,).
    """
    width, ends = values.dtype.itemsize, np.cumsum(counts)
    run_values, lengths = runs_of(values, ends - counts)
    begins = np.cumsum(lengths) - lengths
    first = np.searchsorted(begins, ends - counts)
    per_chunk = np.searchsorted(begins, ends) - first
    sizes = HEADER_BYTES + per_chunk * (width + 1)
    at = np.cumsum(sizes) - sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    header = (per_chunk * width).astype("<u8").view(np.uint8).reshape(-1, HEADER_BYTES)
    out[at[:, None] + np.arange(HEADER_BYTES)] = header
    numbers, body = np.arange(len(begins)), at + HEADER_BYTES
    value_at = np.repeat(body - first * width, per_chunk) + numbers * width
    stored = np.ascontiguousarray(run_values).view(np.uint8).reshape(-1, width)
    out[value_at[:, None] + np.arange(width)] = stored
    out[np.repeat(body + per_chunk * width - first, per_chunk) + numbers] = lengths
    return out, sizes

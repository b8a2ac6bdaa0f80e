"""Sequences that need few bytes or none: runs, and in 2.3 constant, range, delta, dictionary.

Run-length encoding has values, and the lengths of their runs, which never span chunks. Up to 2.2
both are flat, lengths of one byte; in 2.3 both are coded by children of their own. What needs no
bytes lies wholly in the description and has no buffer: a constant, a range, and what is made of
them alone. The dictionary is not that of a mini-block page, which is a buffer of the page.

Layout of runs in a chunk: buffer 0 the run values, buffer 1 the run lengths.
Layout of runs as a block: u64 size of the values, the values, the lengths.
Layout of a dictionary: u64 size of the indices, u64 size of the items, the indices, the items; each
a block of its own.

Clauses: L.codec.sequence.width, L.codec.range.step, L.codec.dictionary.num-items, L.codec.rle.sum,
L.codec.rle.pairs, L.codec.rle.frame, L.codec.rle.empty-run, L.codec.rle.children,
L.codec.constant.width, L.codec.range.overflow, L.codec.delta.overflow, L.codec.dictionary.frame,
L.codec.dictionary.index-range
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import WIDTHS as PACKED_WIDTHS
from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.chunk_run import ChunkRun, gather_rows, only_flat, value_bits, want_arm
from lanceref.codecs.mini_blocks import MiniBlocks, Part, flat_encoding, weave
from lanceref.codecs.values import Fixed, Ints
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.file_versions import V2_3, FileVersion
from lanceref.proto import encodings_v2_1_pb2 as pb

WIDTHS = (32, 64)
"""Bits of a value of a range or a delta."""

CONSTANT_BYTES = (0, 4, 8)
"""Sizes of a constant; none for an empty sequence."""


RUNS = ("flat", "out_of_line_bitpacking", "general", "constant", "range")
"""What run values and run lengths may be coded by in 2.3."""


def check_runs(encoding: pb.Rle, version: FileVersion, place: Place) -> None:
    """Check runs, which are of words; before 2.3 they are flat values with u8 lengths.

    Raises UnknownEncoding, CorruptPage.
    """
    values, lengths = encoding.values, encoding.run_lengths
    for child in (values, lengths):
        if version < V2_3:
            only_flat(child, place)
        want_arm(child, RUNS, place)
    width, length_width = value_bits(values) or 0, value_bits(lengths)
    widths = (8,) if version < V2_3 else (8, 16, 32)
    if width not in PACKED_WIDTHS or length_width not in widths:
        found = f"values of {width} bits, lengths of {length_width}"
        raise CorruptPage("L.codec.rle.children", place, found, f"lengths of {widths}")


def check_sequence(encoding: pb.CompressiveEncoding, arm: str, place: Place) -> None:
    """Check the arms that hold a sequence of words or of its items. Raises CorruptPage."""
    bits = value_bits(encoding)
    if arm == "constant":
        if len(encoding.constant.value) not in CONSTANT_BYTES:
            raise CorruptPage("L.codec.constant.width", place, f"{bits} bits", "4 or 8 bytes")
    elif arm == "dictionary":
        if not encoding.dictionary.num_dictionary_items:
            raise CorruptPage("L.codec.dictionary.num-items", place, 0, "1 or more")
    elif bits not in WIDTHS:
        raise CorruptPage("L.codec.sequence.width", place, f"{bits} bits", "32 or 64 bits")
    elif arm == "range" and not encoding.range.step:
        raise CorruptPage("L.codec.range.step", place, 0, "a step above 0")


def range_encoding(bits: int, start: int, step: int) -> pb.CompressiveEncoding:
    """Return the description of values of `bits` bits that grow by one step."""
    counted = {"uncompressed_bits_per_value": bits, "start": start, "step": step}
    return pb.CompressiveEncoding(range=counted)


def delta_encoding(bits: int, base: int, deltas: pb.CompressiveEncoding) -> pb.CompressiveEncoding:
    """Return the description of values of `bits` bits by the first of them and the differences."""
    delta = {"uncompressed_bits_per_value": bits, "base": base, "deltas": deltas}
    return pb.CompressiveEncoding(delta=delta)


def decode_constant(encoding: pb.Constant, run: ChunkRun) -> Fixed:
    """Repeat the value for every value of the run. Raises CorruptPage."""
    width, count = len(encoding.value), run.num_values
    if width == 0 and count:
        raise CorruptPage("L.codec.constant.width", run.place(), "no value", "one")
    return Fixed(8 * width, count, np.tile(np.frombuffer(encoding.value, np.uint8), count))


def decode_range(encoding: pb.Range, run: ChunkRun) -> Fixed:
    """Count from `start` by `step` in every chunk. Raises CorruptPage."""
    bits = encoding.uncompressed_bits_per_value
    last = encoding.start + encoding.step * max(0, int(run.counts.max(initial=0)) - 1)
    values = _within(run.counts).astype(np.uint64) * np.uint64(encoding.step)
    return _fixed(run, "L.codec.range.overflow", values + np.uint64(encoding.start), bits, last)


def decode_delta(encoding: pb.Delta, deltas: NDArray[np.uint64], run: ChunkRun) -> Fixed:
    """Add up the differences after the base in every chunk: one fewer than it has values.

    `deltas` (sum of counts less one each,). Raises CorruptPage.
    """
    bits, within = encoding.uncompressed_bits_per_value, _within(run.counts)
    steps = np.zeros(len(within), np.uint64)
    steps[within > 0] = deltas
    sums = np.cumsum(steps, dtype=np.uint64)
    before = np.repeat(sums[within == 0], run.counts[run.counts > 0])
    values = sums - before + np.uint64(encoding.base)
    wrapped = ((values[1:] < values[:-1]) & (within[1:] > 0)).any()
    last = 2**64 if wrapped else int(values.max(initial=0))
    return _fixed(run, "L.codec.delta.overflow", values, bits, last)


def _within(counts: Ints) -> Ints:
    """Return the number of every value inside its chunk."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _fixed(run: ChunkRun, clause: str, values: NDArray[np.uint64], bits: int, last: int) -> Fixed:
    """Return values of `bits` bits; the largest is `last`."""
    if last >> bits:
        raise CorruptPage(clause, run.place(), last, f"values of {bits} bits")
    return Fixed(bits, len(values), values.astype(f"<u{bits // 8}").view(np.uint8))


def _sizes(run: ChunkRun, parts: int, clause: str) -> tuple[NDArray[np.uint64], Ints]:
    """Return the u64 sizes of `parts` that begin every chunk's buffer 0, and the bytes left.

    They are (chunks, parts) and (chunks,). Raises CorruptPage.
    """
    room = run.sizes[0] - 8 * parts
    run.check(clause, room < 0, run.sizes[0], f"{8 * parts} bytes of sizes")
    words = np.ascontiguousarray(gather_rows(run.data, run.starts[0], 8 * parts))
    return words.view("<u8"), room


def _own_sizes(
    run: ChunkRun, names: tuple[str, ...], clause: str, words: NDArray[np.uint64]
) -> None:
    """Own the sizes of named parts, `words` (chunks, names), which fit."""
    if run.ctx.spans is None or not run.in_file(0):
        return
    for start, sizes in zip((run.base + run.starts[0]).tolist(), words.tolist()):
        for at, (name, size) in enumerate(zip(names, sizes)):
            begin = start + 8 * at
            run.ctx.leaf(begin, begin + 8, f"size of {name}", "u64", clause, size)


def split_dictionary(run: ChunkRun, num_items: int) -> tuple[ChunkRun, ChunkRun]:
    """Return the runs of the indices and of the items of every chunk. Raises CorruptPage."""
    clause = "L.codec.dictionary.frame"
    heads, room = _sizes(run, 2, clause)
    rest = room.astype(np.uint64)
    wrong = (heads[:, 0] > rest) | (heads[:, 1] != rest - heads[:, 0])
    run.check(clause, wrong, heads, rest)
    _own_sizes(run, ("indices", "items"), clause, heads)
    parts = np.ascontiguousarray(heads.astype(np.int64).T)
    starts = run.starts[0] + 16
    indices = replace(run, starts=starts[None], sizes=parts[:1])
    items = replace(run, starts=(starts + parts[0])[None], sizes=parts[1:])
    return indices, items.counting(np.full(run.num_chunks, num_items, np.int64))


def look_up(run: ChunkRun, indices: NDArray[np.uint64], items: Fixed, num_items: int) -> Fixed:
    """Return the items that the indices of every chunk name. Raises CorruptPage.

    `indices` (values,).
    """
    largest, clause = int(indices.max(initial=0)), "L.codec.dictionary.index-range"
    if len(indices) and largest >= num_items:
        raise CorruptPage(clause, run.place(), largest, f"indices below {num_items}")
    first = np.repeat(np.arange(run.num_chunks) * num_items, run.counts)
    table = items.data.reshape(items.count, items.bits // 8)
    cells = table[first + indices.astype(np.int64)]
    return Fixed(items.bits, len(indices), cells.reshape(-1))


RUNS_HEADER_BYTES = 8
"""Bytes before the runs of a block."""

MAX_RUN = 255
"""Longest run of one byte."""

NO_CUTS: Ints = np.zeros(0, np.int64)
"""No places where runs must be cut."""


def expand_runs(run: ChunkRun, runs: Ints, values: Fixed, lengths: NDArray[np.uint64]) -> Fixed:
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


def split_runs(run: ChunkRun) -> ChunkRun:
    """Return the two buffers inside the frame of every chunk's buffer 0. Raises CorruptPage."""
    heads, room = _sizes(run, 1, "L.codec.rle.frame")
    run.check("L.codec.rle.frame", heads[:, 0] > room.astype(np.uint64), heads[:, 0], room)
    _own_sizes(run, ("values",), "L.codec.rle.frame", heads)
    sizes, starts = heads[:, 0].astype(np.int64), run.starts[0] + RUNS_HEADER_BYTES
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
    most = int(run.counts.max(initial=0))
    numbers = np.arange(most // max(1, first) + 1)
    sizes = np.minimum(min(first, most + 1) + min(step, most + 1) * numbers, most + 1)
    ends = np.append(0, np.cumsum(sizes))
    runs = np.searchsorted(ends, run.counts)
    totals = ends[np.minimum(runs, len(numbers))]
    run.check("L.codec.rle.sum", totals != run.counts, totals, run.counts, "values in all runs")
    return runs


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
    rle = {"values": flat_encoding(bits), "run_lengths": flat_encoding(8)}
    return pb.CompressiveEncoding(rle=rle)


def encode_runs(values: Unsigned, counts: Ints, cuts: Ints = NO_CUTS) -> MiniBlocks:
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


def encode_run_blocks(values: Unsigned, counts: Ints) -> Part:
    """Encode chunks of `counts` values: size of the run values, run values, lengths.

    `values` (n,), `counts` (chunks,).
    """
    stored, lengths = encode_runs(values, counts).buffers
    header = stored[1].astype("<u8").view(np.uint8), np.full(len(counts), RUNS_HEADER_BYTES)
    return weave([header, stored, lengths])

"""Sequences of 2.3 that need few bytes or none: constant, range, delta, dictionary.

They stand for positions, counts, offsets and runs. A constant, a range, and what is made of them
alone lies wholly in the description: it has no buffer. The dictionary is not that of a mini-block
page, which is a buffer of the page.

Layout: `constant` holds its value in the description (none: an empty sequence); `range` its start
and step; `delta` its first value, and a child holds the differences.
Layout of a dictionary: u64 size of the indices, u64 size of the items, the indices, the items; each
a block of its own, without bytes when its codec needs none.

Clauses: L.codec.constant.width, L.codec.range.overflow, L.codec.delta.overflow,
L.codec.dictionary.frame, L.codec.dictionary.index-range
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed, Ints
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_1_pb2 as pb

WIDTHS = (32, 64)
"""Bits of a value of a range or a delta."""

CONSTANT_BYTES = (0, 4, 8)
"""Sizes of a constant; none for an empty sequence."""

HEADER_BYTES = 16
"""Size of the two sizes in front of a dictionary."""


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


def split_dictionary(run: ChunkRun, num_items: int) -> tuple[ChunkRun, ChunkRun]:
    """Return the runs of the indices and of the items of every chunk. Raises CorruptPage."""
    clause, room = "L.codec.dictionary.frame", run.sizes[0] - HEADER_BYTES
    run.check(clause, room < 0, run.sizes[0], "two sizes")
    words = np.ascontiguousarray(run.rows(0, np.arange(run.num_chunks), HEADER_BYTES))
    heads, rest = words.view("<u8"), room.astype(np.uint64)
    wrong = (heads[:, 0] > rest) | (heads[:, 1] != rest - heads[:, 0])
    run.check(clause, wrong, heads, rest)
    if run.ctx.spans is not None and run.in_file(0):
        for start, sizes in zip((run.base + run.starts[0]).tolist(), heads.tolist()):
            run.ctx.leaf(start, start + 8, "size of indices", "u64", clause, sizes[0])
            run.ctx.leaf(start + 8, start + 16, "size of items", "u64", clause, sizes[1])
    parts = np.ascontiguousarray(heads.astype(np.int64).T)
    starts = run.starts[0] + HEADER_BYTES
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

"""Bit-packing: FastLanes blocks of 1 024 values, each after its own width.

A block of T-bit values at width W is `W * L` words of T bits, L = 1024 / T lanes. Lane l owns the
words k * L + l, which form one little-endian bit stream of T values of W bits; row r of lane l is
value number `ORDER[r // 8] * 16 + (r % 8) * 128 + l`.

Layout, inline: one word of T bits with the width, then a block; always one block a chunk.

Clauses: L.codec.bitpack.width, L.codec.bitpack.payload, L.codec.bitpack.count,
L.codec.bitpack.tail
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunk_run import ChunkRun, gather_rows
from lanceref.codecs.mini_blocks import MiniBlocks, Part, even_counts
from lanceref.codecs.values import Fixed, Ints, join_ranges
from lanceref.core.context import specified
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

BLOCK = 1024
"""Values of one block."""

ORDER = (0, 4, 2, 6, 1, 5, 3, 7)
"""Order of the groups of eight rows."""

ROW_STARTS = tuple(ORDER[row // 8] * 16 + (row % 8) * 128 for row in range(64))
"""The number of the value in lane 0 of each row."""

WIDTHS = (8, 16, 32, 64)
"""Value widths T that can be packed."""

POWERS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
"""Powers of two: a number below the n-th, but no lower one, has n bits."""

Unsigned = NDArray[np.unsignedinteger]


def check_packed(bits: int, width: int, place: Place) -> None:
    """Check the widths of values and of packed ones. Raises UnknownEncoding, CorruptPage."""
    clause = "L.codec.bitpack.types"
    if bits not in WIDTHS:
        raise UnknownEncoding(clause, place, f"{bits} bits", "8, 16, 32 or 64")
    if width > bits:
        raise CorruptPage("L.codec.bitpack.width", place, width, f"at most {bits}")


@specified
def unpack(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack blocks: `packed` (blocks, width * 1024 / T), `out` (blocks, 1024), unsigned T bits."""
    word, bits = out.dtype.type, out.dtype.itemsize * 8
    lanes, mask = BLOCK // bits, out.dtype.type((1 << width) - 1)
    if width == 0:
        out[:] = 0
        return
    words = packed.reshape(len(packed), width, lanes)
    for row in range(bits):
        k, shift = divmod(row * width, bits)
        values = words[:, k] >> word(shift)
        if shift + width > bits:  # the upper bits lie in the next word of the lane
            values |= words[:, k + 1] << word(bits - shift)
        out[:, ROW_STARTS[row] : ROW_STARTS[row] + lanes] = values & mask


def decode_inline(run: ChunkRun, bits: int) -> Fixed:
    """Decode one block per chunk, each with its own width."""
    word_bytes = bits // 8
    widths = inline_widths(run, bits)
    if run.ctx.spans is not None and run.in_file(0):
        starts, sizes = (run.base + run.starts[0]).tolist(), run.sizes[0].tolist()
        for start, size, width in zip(starts, sizes, widths.tolist()):
            clause, middle = "L.codec.bitpack.width", start + word_bytes
            run.ctx.leaf(start, middle, "width", f"u{bits}", clause, width)
            run.ctx.leaf(middle, start + size, "block", f"bitpacked u{bits}", clause)
    out = np.empty((run.num_chunks, BLOCK), f"<u{word_bytes}")
    unpack_chunks(run, widths, out)
    lint_unused(run, np.arange(run.num_chunks), out, run.counts)
    return Fixed(bits, run.num_values, join_rows(out, run.counts).view(np.uint8))


def join_rows(rows: NDArray[np.generic], counts: Ints) -> NDArray[np.generic]:
    """Return the first `counts` values of every row of `rows` (n, width), joined."""
    if (counts[:-1] == rows.shape[1]).all():
        return rows.reshape(-1)[: int(counts.sum())]
    starts = np.arange(len(rows)) * rows.shape[1]
    return join_ranges(rows.reshape(-1), starts, starts + counts)


@specified
def unpack_chunks(run: ChunkRun, widths: Ints, out: Unsigned) -> None:
    """Unpack the inline block of each chunk, after its width (L.codec.bitpack.width).

    `widths` (chunks,) int64, in bits and at most those of a word, as `inline_widths` has checked;
    `out` (chunks, 1024), unsigned words.
    """
    for width, chunks in run.groups(widths):
        starts = run.starts[0][chunks] + out.itemsize
        packed = gather_rows(run.data, starts, width * BLOCK // 8).view(out.dtype)
        target = out[int(chunks[0]) : int(chunks[-1]) + 1]
        if len(target) == len(chunks):
            unpack(packed, width, target)
        else:
            target = np.empty((len(chunks), BLOCK), out.dtype)
            unpack(packed, width, target)
            out[chunks] = target


def inline_widths(run: ChunkRun, bits: int) -> Ints:
    """Return the width of every chunk's block (num_chunks,), at most `bits`. Raises CorruptPage."""
    counts, sizes, word_bytes = run.counts, run.sizes[0], bits // 8
    run.check("L.codec.bitpack.count", counts > BLOCK, counts, f"at most {BLOCK}", "values")
    run.check("L.codec.bitpack.payload", sizes < word_bytes, sizes, "a width")
    words = np.ascontiguousarray(gather_rows(run.data, run.starts[0], word_bytes))
    widths = words.view(f"<u{word_bytes}").reshape(-1)
    run.check("L.codec.bitpack.width", widths > bits, widths, f"at most {bits}", "bits")
    widths = widths.astype(np.int64)
    run.want_sizes(0, word_bytes + widths * (BLOCK // 8), "L.codec.bitpack.payload")
    return widths


def lint_unused(run: ChunkRun, chunks: Ints, blocks: NDArray[np.generic], used: Ints) -> None:
    """Report values other than 0 after the `used` ones of the last block of each of `chunks`.

    `chunks` and `used` are (n,), `blocks` (n, 1024).
    """
    if run.ctx.validating:
        unused = (blocks != 0) & (np.arange(BLOCK) >= used[:, None])
        for index in np.flatnonzero(unused.any(axis=1)).tolist():
            place, found = run.place(0, int(chunks[index])), f"{int(unused[index].sum())} values"
            run.ctx.lint("L.codec.bitpack.tail", place, found, "zeros")


def pack(values: Unsigned, width: int) -> Unsigned:
    """Pack blocks of `values` (blocks, 1024) to (blocks, width * 1024 / T); the rest is dropped."""
    word, bits = values.dtype.type, values.dtype.itemsize * 8
    lanes = BLOCK // bits
    packed = np.zeros((len(values), width, lanes), values.dtype)
    for row in range(bits):
        k, shift = divmod(row * width, bits)
        stored = values[:, ROW_STARTS[row] : ROW_STARTS[row] + lanes]
        if k < width:
            packed[:, k] |= stored << word(shift)
        if shift + width > bits:  # the upper bits lie in the next word of the lane
            packed[:, k + 1] |= stored >> word(bits - shift)
    return packed.reshape(len(values), width * lanes)


def block_widths(values: Unsigned) -> Ints:
    """Return the bits that each block of 1 024 values needs, the last may be short: (blocks,)."""
    starts = np.arange(0, len(values), BLOCK)
    if not len(starts):
        return np.zeros(0, np.int64)
    joined = np.bitwise_or.reduceat(values, starts).astype(np.uint64)
    return np.searchsorted(POWERS, joined, "right")


def blocks_of(values: Unsigned) -> Unsigned:
    """Return the values as blocks (blocks, 1024), zeros after the last."""
    count = -(-len(values) // BLOCK)
    if count * BLOCK != len(values):
        values = np.append(values, np.zeros(count * BLOCK - len(values), values.dtype))
    return values.reshape(count, BLOCK)


def encode_inline(values: Unsigned, widths: Ints | None = None) -> MiniBlocks:
    """Pack each block at its own width, which is stored before it.

    `widths` (blocks,) are those that the blocks need unless others, at least as wide, are given.
    """
    bits, blocks = values.dtype.itemsize * 8, blocks_of(values)
    widths = block_widths(values) if widths is None else widths
    words = 1 + widths * (BLOCK // bits)
    starts = np.cumsum(words) - words
    out = np.empty(int(words.sum()), values.dtype)
    out[starts] = widths.astype(values.dtype)
    for width in np.unique(widths).tolist():
        chosen, size = np.flatnonzero(widths == width), 1 + width * (BLOCK // bits)
        first, last = int(chosen[0]), int(chosen[-1]) + 1
        if last - first == len(chosen):  # side by side: at equal distances
            at = int(starts[first])
            rows = out[at : at + len(chosen) * size].reshape(-1, size)
            rows[:, 1:] = pack(blocks[first:last], width)
        else:
            out[starts[chosen][:, None] + np.arange(1, size)] = pack(blocks[chosen], width)
    counts = even_counts(len(values), BLOCK)
    return MiniBlocks(inline_encoding(bits), counts, ((out.view(np.uint8), words * (bits // 8)),))


def inline_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of values of `bits` packed after their width."""
    return CompressiveEncoding(inline_bitpacking={"uncompressed_bits_per_value": bits})


def encode_inline_chunks(values: Unsigned, counts: Ints) -> Part:
    """Pack chunks of at most 1 024 values, a block each; return bytes and sizes.

    `values` (n,), `counts` (chunks,).
    """
    ends = np.cumsum(counts).tolist()
    parts = [encode_inline(values[at:end]).buffers[0][0] for at, end in zip([0, *ends], ends)]
    return np.concatenate(parts), np.array(list(map(len, parts)), np.int64)

"""Bitpacking: FastLanes blocks of 1 024 values.

A block of T-bit values at width W is `W * L` words of T bits, L = 1024 / T lanes. Lane l owns the
words k * L + l, which form one little-endian bit stream of T values of W bits; row r of lane l is
value number `ORDER[r // 8] * 16 + (r % 8) * 128 + l`.

Layout, inline: one word of T bits with the width, then a block; always one block a chunk.
Layout, out of line: whole blocks, then the tail: raw T-bit values, or one padded block; the size
of the buffer tells which.

Clauses: L.codec.bitpack.width, L.codec.bitpack.payload, L.codec.bitpack.count,
L.codec.bitpack.out-of-line, L.codec.bitpack.raw-tail, L.codec.bitpack.tail
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.mini_blocks import MiniBlocks, Part, even_counts, flat_encoding, weave
from lanceref.codecs.values import (
    Bools,
    ChunkRun,
    Fixed,
    Ints,
    gather_rows,
    join_pieces,
    join_ranges,
)
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


def unpack_flags(packed: Unsigned, out: Bools) -> None:
    """Unpack blocks of one-bit values: `packed` u16 (blocks, 64), `out` bool (blocks, 1024)."""
    for row in range(16):
        start = ROW_STARTS[row]
        np.not_equal(packed & np.uint16(1 << row), 0, out=out[:, start : start + BLOCK // 16])


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
    _lint_unused(run, np.arange(run.num_chunks), out, run.counts)
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


def _lint_unused(run: ChunkRun, chunks: Ints, blocks: NDArray[np.generic], used: Ints) -> None:
    """Report values other than 0 after the `used` ones of the last block of each of `chunks`."""
    if run.ctx.validating:
        unused = (blocks != 0) & (np.arange(BLOCK) >= used[:, None])
        for index in np.flatnonzero(unused.any(axis=1)).tolist():
            place, found = run.place(0, int(chunks[index])), f"{int(unused[index].sum())} values"
            run.ctx.lint("L.codec.bitpack.tail", place, found, "zeros")


def decode_out_of_line(run: ChunkRun, bits: int, width: int) -> Fixed:
    """Decode a buffer per chunk: whole blocks of one width, then a raw or padded tail."""
    values = _out_of_line(run, bits, width, np.dtype(f"<u{bits // 8}"))
    return Fixed(bits, run.num_values, values.view(np.uint8))


def decode_flags(run: ChunkRun) -> Bools:
    """Decode 16-bit values of width 1 as booleans: the levels of most pages. Bool (values,)."""
    return _out_of_line(run, 16, 1, np.dtype(np.bool_)).astype(np.bool_, copy=False)


def _out_of_line(
    run: ChunkRun, bits: int, width: int, dtype: np.dtype[np.generic]
) -> NDArray[np.generic]:
    """Decode into `dtype`: unsigned values of `bits` bits, or booleans. Raises CorruptPage."""
    full, tail = np.divmod(run.counts, BLOCK)
    block_bytes, sizes = width * BLOCK // 8, run.sizes[0]
    raw_bytes = full * block_bytes + tail * (bits // 8)
    wrong = (sizes != raw_bytes) & (sizes != (full + (tail > 0)) * block_bytes)
    run.check("L.codec.bitpack.out-of-line", wrong, sizes, raw_bytes)
    is_raw = (sizes == raw_bytes) & (tail > 0)
    run.own(0, "packed values", f"bitpacked u{bits}", "L.codec.bitpack.out-of-line")
    is_padded = (tail > 0) & ~is_raw
    blocks_of = full + is_padded
    ends = np.cumsum(blocks_of)
    out = np.empty((int(blocks_of.sum()), BLOCK), dtype)
    for num_blocks, chunks in run.groups(blocks_of):
        packed = gather_rows(run.data, run.starts[0][chunks], num_blocks * block_bytes)
        rows = ((ends - blocks_of)[chunks][:, None] + np.arange(num_blocks)).reshape(-1)
        packed = np.ascontiguousarray(packed).reshape(-1).view(f"<u{bits // 8}")
        packed = packed.reshape(len(rows), width * BLOCK // bits)
        target = out if len(rows) == len(out) else np.empty((len(rows), BLOCK), dtype)
        if dtype == np.bool_:
            unpack_flags(packed, target.view(np.bool_))
        else:
            unpack(packed, width, target)
        if target is not out:
            out[rows] = target
    padded = np.flatnonzero(is_padded)
    _lint_unused(run, padded, out[ends[padded] - 1], tail[padded])
    raw = np.flatnonzero(is_raw)
    packed_counts = np.where(is_raw, full * BLOCK, run.counts)
    tails = _raw_values(run, raw, tail[raw], bits, width).astype(dtype)
    starts = (ends - blocks_of) * BLOCK
    if not len(tails):
        return join_ranges(out.reshape(-1), starts, starts + packed_counts)
    return interleave(out.reshape(-1), starts, packed_counts, tails, run.counts - packed_counts)


def interleave(
    values: NDArray[np.generic],
    starts: Ints,
    counts: Ints,
    tails: NDArray[np.generic],
    tail_counts: Ints,
) -> NDArray[np.generic]:
    """Join for every piece `counts` values from `starts`, and the next `tail_counts` of `tails`.

    `starts`, `counts` and `tail_counts` (pieces,).
    """
    data, ends = np.concatenate([values, tails]), len(values) + np.cumsum(tail_counts)
    firsts = np.stack([starts, ends - tail_counts], axis=1).reshape(-1)
    lasts = np.stack([starts + counts, ends], axis=1).reshape(-1)
    size = values.dtype.itemsize
    return join_pieces(data.view(np.uint8), firsts * size, lasts * size).view(values.dtype)


def _raw_values(run: ChunkRun, chunks: Ints, tails: Ints, bits: int, width: int) -> Unsigned:
    """Return the raw values at the end of `chunks`, joined; they fit the width too."""
    ends, clause = (run.starts[0] + run.sizes[0])[chunks], "L.codec.bitpack.raw-tail"
    values = join_pieces(run.data, ends - tails * (bits // 8), ends).view(f"<u{bits // 8}")
    if len(values) and int(values.max()) >> width:
        at = int(np.argmax(values >> np.uint64(width).astype(values.dtype) != 0))
        place = run.place(0, int(chunks[np.searchsorted(np.cumsum(tails), at, "right")]))
        raise CorruptPage(clause, place, int(values[at]), f"{width} bits")
    return values


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


def out_of_line_encoding(bits: int, width: int) -> CompressiveEncoding:
    """Return the description of values of `bits` packed to `width` without a header."""
    packed = {"uncompressed_bits_per_value": bits, "values": flat_encoding(width)}
    return CompressiveEncoding(out_of_line_bitpacking=packed)


def encode_inline_chunks(values: Unsigned, counts: Ints) -> Part:
    """Pack chunks of at most 1 024 values, a block each; return bytes and sizes.

    `values` (n,), `counts` (chunks,).
    """
    ends = np.cumsum(counts).tolist()
    parts = [encode_inline(values[at:end]).buffers[0][0] for at, end in zip([0, *ends], ends)]
    return np.concatenate(parts), np.array(list(map(len, parts)), np.int64)


def encode_out_of_line(values: Unsigned, counts: Ints, width: int) -> Part:
    """Pack the whole blocks of chunks of `counts` values at one width; return bytes and sizes.

    The tail of a chunk is packed too when that takes fewer bytes. `values` (n,), `counts` and sizes
    (chunks,).
    """
    bits = values.dtype.itemsize * 8
    whole, tails = np.divmod(counts, BLOCK)
    is_raw = (tails > 0) & (width * (BLOCK - tails) >= (bits - width) * tails)
    blocks = whole + ((tails > 0) & ~is_raw)
    packed = pack(_blocks_of_chunks(values, counts, np.where(is_raw, whole * BLOCK, counts)), width)
    stored, sizes = packed.reshape(-1).view(np.uint8), blocks * (width * BLOCK // 8)
    if not is_raw.any():
        return stored, sizes
    ends, tail_sizes = np.cumsum(counts) * (bits // 8), np.where(is_raw, tails * (bits // 8), 0)
    plain = join_pieces(values.view(np.uint8), ends - tail_sizes, ends)
    return weave([(stored, sizes), (plain, tail_sizes)])


def _blocks_of_chunks(values: Unsigned, counts: Ints, packed: Ints) -> Unsigned:
    """Return the first `packed` values of each chunk as blocks, zeros after the last of each."""
    blocks = -(-packed // BLOCK)
    if (counts[:-1] == blocks[:-1] * BLOCK).all():
        return blocks_of(values[: int(packed.sum())])
    out = np.zeros(int(blocks.sum()) * BLOCK, values.dtype)
    froms, tos = np.cumsum(counts) - counts, (np.cumsum(blocks) - blocks) * BLOCK
    for start, to, size in zip(froms.tolist(), tos.tolist(), packed.tolist(), strict=True):
        out[to : to + size] = values[start : start + size]
    return out.reshape(-1, BLOCK)


def out_of_line_bytes(count: int, bits: int, width: int) -> int:
    """Return the bytes that `encode_out_of_line` takes for one chunk."""
    blocks, tail = divmod(count, BLOCK)
    raw, packed = tail * bits // 8, width * BLOCK // 8
    return blocks * packed + min(raw, packed if tail else 0)

"""Bit-packing: FastLanes blocks of 1 024 values, each after its own width, or all of one width.

A block of T-bit values at width W is `W * L` words of T bits, L = 1024 / T lanes. Lane l owns the
words k * L + l, which form one little-endian bit stream of T values of W bits; row r of lane l is
value number `ORDER[r // 8] * 16 + (r % 8) * 128 + l`.

Layout, inline: one word of T bits with the width, then a block; always one block a chunk.
Layout, out of line: whole blocks of the width that the description says, then the tail: raw T-bit
values, or one padded block; the size of the buffer tells which.

Clauses: L.codec.bitpack.width, L.codec.bitpack.payload, L.codec.bitpack.count,
L.codec.bitpack.tail, L.codec.bitpack.out-of-line, L.codec.bitpack.raw-tail
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.buffers import Buffer, MiniBlocks, Part, even_counts, flat_encoding, weave
from lanceref.codecs.values import Fixed, Ints, join_pieces
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

PLACES = {T: np.array(ROW_STARTS[:T])[:, None] + np.arange(BLOCK // T) for T in WIDTHS}
"""The numbers of the values of each row of blocks of T-bit values: (T, lanes)."""

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
    if width == 0:
        out[:] = 0
        return
    words = packed.reshape(len(packed), width, BLOCK // bits)
    first, shift = np.divmod(np.arange(bits) * width, bits)  # where each row starts in its lanes
    shifts = shift.astype(out.dtype)[:, None]
    rows = words[:, first] >> shifts
    is_split = shift + width > bits  # the upper bits lie in the next word of the lane
    rows[:, is_split] |= words[:, first[is_split] + 1] << (word(bits) - shifts[is_split])
    out[:, PLACES[bits]] = rows & word((1 << width) - 1)


def decode_inline(buffer: Buffer, count: int, bits: int) -> Fixed:
    """Decode the first `count` values of a block after its width. Raises CorruptPage."""
    width, start = inline_width(buffer, count, bits), bits // 8
    buffer.own("width", f"u{bits}", "L.codec.bitpack.width", width, end=start)
    buffer.own("block", f"bitpacked u{bits}", "L.codec.bitpack.width", start=start)
    block = np.empty((1, BLOCK), f"<u{bits // 8}")
    unpack(buffer.data[start:].view(block.dtype)[None], width, block)
    lint_unused(buffer, block[0, count:])
    return Fixed(bits, count, block[0, :count].view(np.uint8))


def inline_width(buffer: Buffer, count: int, bits: int) -> int:
    """Return the width of the block in a buffer, at most `bits`. Raises CorruptPage."""
    word_bytes = bits // 8
    if count > BLOCK:
        clause, wanted = "L.codec.bitpack.count", f"at most {BLOCK}"
        raise CorruptPage(clause, buffer.place, f"{count} values", wanted)
    if buffer.size < word_bytes:
        clause = "L.codec.bitpack.payload"
        raise CorruptPage(clause, buffer.place, f"{buffer.size} bytes", "a width")
    width = int.from_bytes(buffer.data[:word_bytes].tobytes(), "little")
    if width > bits:
        raise CorruptPage("L.codec.bitpack.width", buffer.place, f"{width} bits", f"at most {bits}")
    buffer.want_size(word_bytes + width * BLOCK // 8, "L.codec.bitpack.payload")
    return width


def lint_unused(buffer: Buffer, unused: Unsigned) -> None:
    """Report values other than 0 after those that the last block of a buffer holds. (n,)."""
    if buffer.ctx.validating and unused.any():
        found = f"{np.count_nonzero(unused)} values"
        buffer.ctx.lint("L.codec.bitpack.tail", buffer.place, found, "zeros")


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


def decode_out_of_line(buffer: Buffer, count: int, bits: int, width: int) -> Fixed:
    """Decode whole blocks of one width, then a raw or padded tail. Raises CorruptPage."""
    dtype, block_bytes = np.dtype(f"<u{bits // 8}"), width * BLOCK // 8
    whole, tail = divmod(count, BLOCK)
    raw_size = whole * block_bytes + tail * (bits // 8)
    is_raw = buffer.size == raw_size
    if not is_raw and not (tail and buffer.size == (whole + 1) * block_bytes):
        found, wanted = f"{buffer.size} bytes", f"{raw_size} bytes"
        raise CorruptPage("L.codec.bitpack.out-of-line", buffer.place, found, wanted)
    buffer.own("packed values", f"bitpacked u{bits}", "L.codec.bitpack.out-of-line")
    num_blocks = whole if is_raw else whole + 1
    packed, rest = np.split(buffer.data, [num_blocks * block_bytes])
    blocks = np.empty((num_blocks, BLOCK), dtype)
    unpack(packed.view(dtype).reshape(num_blocks, width * BLOCK // bits), width, blocks)
    values, raw = blocks.reshape(-1), rest.view(dtype)
    lint_unused(buffer, values[count:])
    if len(raw) and int(raw.max()) >> width:
        first, clause = np.argmax(raw >> dtype.type(width) != 0), "L.codec.bitpack.raw-tail"
        raise CorruptPage(clause, buffer.place, int(raw[first]), f"{width} bits")
    values = np.append(values, raw) if len(raw) else values[:count]
    return Fixed(bits, count, values.view(np.uint8))


def out_of_line_encoding(bits: int, width: int) -> CompressiveEncoding:
    """Return the description of values of `bits` packed to `width` without a header."""
    packed = {"uncompressed_bits_per_value": bits, "values": flat_encoding(width)}
    return CompressiveEncoding(out_of_line_bitpacking=packed)


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

"""Bitpacking, encoded: FastLanes blocks of 1 024 values.

Layout: see `bitpack`.

Clauses: L.codec.bitpack.width, L.codec.bitpack.out-of-line
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import BLOCK, Unsigned, row_start
from lanceref.codecs.chunks import interleave, join_pieces
from lanceref.codecs.values import MiniBlocks, even_counts, flat_encoding
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

SLAB = 64
"""Blocks packed at a time: they and what they are packed to stay in the cache."""

POWERS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
"""Powers of two: a number below the n-th, but no lower one, has n bits."""


def pack(values: Unsigned, width: int) -> Unsigned:
    """Pack blocks of `values` (blocks, 1024) to (blocks, width * 1024 / T); the rest is dropped."""
    lanes = BLOCK // (values.dtype.itemsize * 8)
    packed = np.zeros((len(values), width, lanes), values.dtype)
    for at in range(0, len(values), SLAB):
        _pack_slab(values[at : at + SLAB], packed[at : at + SLAB], width)
    return packed.reshape(len(values), width * lanes)


def _pack_slab(values: Unsigned, packed: Unsigned, width: int) -> None:
    """Pack blocks into `packed` (blocks, width, lanes), which is 0."""
    word, bits = values.dtype.type, values.dtype.itemsize * 8
    lanes = BLOCK // bits
    moved = np.empty((len(values), lanes), values.dtype)
    for row in range(bits):
        k, shift = divmod(row * width, bits)
        first = row_start(row)
        source = values[:, first : first + lanes]
        if k < width:
            np.bitwise_or(packed[:, k], np.left_shift(source, word(shift), moved), packed[:, k])
        if shift + width > bits:
            over = np.right_shift(source, word(bits - shift), moved)
            np.bitwise_or(packed[:, k + 1], over, packed[:, k + 1])


def block_widths(values: Unsigned) -> NDArray[np.int64]:
    """Return the bits that each block of 1 024 values needs, the last may be short: (blocks,)."""
    starts = np.arange(0, len(values), BLOCK)
    if not len(starts):
        return np.zeros(0, np.int64)
    joined = np.bitwise_or.reduceat(values, starts).astype(np.uint64)
    return np.searchsorted(POWERS, joined, "right")


def blocks_of(values: Unsigned) -> Unsigned:
    """Return the values as blocks (blocks, 1024), zeros behind the last."""
    count = -(-len(values) // BLOCK)
    if count * BLOCK == len(values):
        return values.reshape(count, BLOCK)
    padded = np.zeros(count * BLOCK, values.dtype)
    padded[: len(values)] = values
    return padded.reshape(count, BLOCK)


def encode_inline(values: Unsigned, widths: NDArray[np.int64] | None = None) -> MiniBlocks:
    """Pack each block at its own width, which stands before it.

    `widths` (blocks,) are those that the blocks need unless others, at least as wide, are given.
    """
    bits = values.dtype.itemsize * 8
    blocks = blocks_of(values)
    widths = block_widths(values) if widths is None else widths
    words = 1 + widths * (BLOCK // bits)
    ends = np.cumsum(words)
    out = np.empty(int(ends[-1]) if len(ends) else 0, values.dtype)
    out[ends - words] = widths.astype(values.dtype)
    for width in np.unique(widths).tolist():
        _pack_into(out, (ends - words) + 1, blocks, np.flatnonzero(widths == width), width)
    counts = even_counts(len(values), BLOCK)
    return MiniBlocks(inline_encoding(bits), counts, ((out.view(np.uint8), words * (bits // 8)),))


def _pack_into(
    out: Unsigned,
    starts: NDArray[np.int64],
    blocks: Unsigned,
    chosen: NDArray[np.int64],
    width: int,
) -> None:
    """Pack the blocks `chosen` at one width to their `starts` in `out`."""
    first, last = int(chosen[0]), int(chosen[-1]) + 1
    if last - first != len(chosen):
        packed = pack(blocks[chosen], width)
        out[starts[chosen][:, None] + np.arange(packed.shape[1])] = packed
        return
    packed = pack(blocks[first:last], width)
    start, size = int(starts[first]), packed.shape[1]
    rows = out[start - 1 : start - 1 + (last - first) * (size + 1)].reshape(-1, size + 1)
    rows[:, 1:] = packed


def inline_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of values of `bits` packed behind their width."""
    encoding = CompressiveEncoding()
    encoding.inline_bitpacking.uncompressed_bits_per_value = bits
    return encoding


def encode_inline_block(values: Unsigned) -> NDArray[np.uint8]:
    """Pack at most 1 024 values."""
    return encode_inline(values).buffers[0][0]


def out_of_line_encoding(bits: int, width: int) -> CompressiveEncoding:
    """Return the description of values of `bits` packed to `width` without a header."""
    encoding = CompressiveEncoding()
    encoding.out_of_line_bitpacking.uncompressed_bits_per_value = bits
    encoding.out_of_line_bitpacking.values.CopyFrom(flat_encoding(width))
    return encoding


def encode_out_of_line(
    values: Unsigned, width: int, *, packs_tail: bool | None = None
) -> NDArray[np.uint8]:
    """Pack whole blocks at one width; the tail is packed when that takes fewer bytes.

    `packs_tail` says so otherwise. It must be so when raw values would take as many bytes.
    """
    bits = values.dtype.itemsize * 8
    whole = len(values) // BLOCK * BLOCK
    tail = len(values) - whole
    if packs_tail is None:
        packs_tail = tail_is_packed(tail, bits, width)
    if tail and packs_tail:
        return pack(blocks_of(values), width).reshape(-1).view(np.uint8)
    packed = pack(values[:whole].reshape(-1, BLOCK), width).reshape(-1)
    return np.concatenate([packed, values[whole:]]).view(np.uint8)


def encode_out_of_line_chunks(
    values: Unsigned, counts: NDArray[np.int64], width: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack chunks of `counts` values, each as `encode_out_of_line` does; return bytes and sizes."""
    bits = values.dtype.itemsize * 8
    whole, tails = np.divmod(counts, BLOCK)
    raw = [tail > 0 and not tail_is_packed(tail, bits, width) for tail in tails.tolist()]
    is_raw = np.array(raw, np.bool_)
    blocks = whole + ((tails > 0) & ~is_raw)
    packed = pack(_blocks_of_chunks(values, counts, np.where(is_raw, whole * BLOCK, counts)), width)
    stored, sizes = packed.reshape(-1).view(np.uint8), blocks * (width * BLOCK // 8)
    if not any(raw):
        return stored, sizes
    ends, tail_sizes = np.cumsum(counts) * (bits // 8), np.where(is_raw, tails * (bits // 8), 0)
    plain = join_pieces(values.view(np.uint8), ends - tail_sizes, ends)
    joined = interleave(stored, np.cumsum(sizes) - sizes, sizes, plain, tail_sizes)
    return joined.view(np.uint8), sizes + tail_sizes


def _blocks_of_chunks(
    values: Unsigned, counts: NDArray[np.int64], packed: NDArray[np.int64]
) -> Unsigned:
    """Return the first `packed` values of each chunk as blocks, zeros behind the last of each."""
    blocks = -(-packed // BLOCK)
    if (counts[:-1] == blocks[:-1] * BLOCK).all():
        return blocks_of(values[: int(packed.sum())])
    out = np.zeros(int(blocks.sum()) * BLOCK, values.dtype)
    froms, tos = np.cumsum(counts) - counts, (np.cumsum(blocks) - blocks) * BLOCK
    for start, to, size in zip(froms.tolist(), tos.tolist(), packed.tolist(), strict=True):
        out[to : to + size] = values[start : start + size]
    return out.reshape(-1, BLOCK)


def tail_is_packed(tail: int, bits: int, width: int) -> bool:
    """Whether a padded block takes fewer bytes than `tail` raw values."""
    return width * (BLOCK - tail) < (bits - width) * tail


def out_of_line_bytes(values: Unsigned, width: int) -> int:
    """Return the bytes that `encode_out_of_line` takes."""
    bits, (blocks, tail) = values.dtype.itemsize * 8, divmod(len(values), BLOCK)
    if tail and tail_is_packed(tail, bits, width):
        blocks, tail = blocks + 1, 0
    return blocks * BLOCK * width // 8 + tail * bits // 8

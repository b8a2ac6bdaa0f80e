"""Bit-packed blocks for speed: in runs that fit the cache, a few of any widths, or compiled.

The specification is `codecs.bitpack`.
"""

from __future__ import annotations

import math

import numpy as np

from lanceref.codecs import bitpack
from lanceref.codecs.bitpack import BLOCK, ORDER, Unsigned
from lanceref.codecs.values import ChunkRun, Ints, gather_rows
from lanceref.fast.codecs import KERNEL_USE

SLAB_BYTES = 2**19
"""Output of the blocks unpacked at a time: with their temporaries it stays in the cache."""

FEW_BLOCKS = 12
"""Blocks of each width below which rows are found one by one: groups cost their calls."""

LANE_ROW = np.dtype("V128")
"""One value of every lane, 1 024 bits whatever T is: they lie together in a block."""


@bitpack.unpack.replaced_by
def unpack(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack blocks: those of values that are cut, by operations over many blocks.

    `packed` (blocks, width * 1024 / T), `out` (blocks, 1024).
    """
    bits, blocks = out.dtype.itemsize * 8, len(packed)
    if KERNEL_USE.use(out.nbytes) and packed.flags.c_contiguous:
        from lanceref.fast import compiled as kernel

        starts, widths = np.arange(blocks) * (width * BLOCK // 8), np.full(blocks, width)
        data = packed.reshape(-1).view(np.uint8)
        words = out.view(np.uint64)
        kernel.unpack_blocks(data, starts, widths, bits, words)
    elif 1 < width < bits:
        _unpack_planar(packed, width, out)
    else:
        bitpack.unpack.plain(packed, width, out)


@bitpack.unpack_chunks.replaced_by
def unpack_chunks(run: ChunkRun, widths: Ints, out: Unsigned) -> None:
    """Unpack one inline block per chunk from the bytes of the run, without groups by width.

    `widths` (chunks,), `out` (chunks, 1024).
    """
    if not KERNEL_USE.is_ready(out.nbytes):  # then `unpack` counts the bytes
        groups = len(np.unique(widths))
        if groups > 1 and len(out) < FEW_BLOCKS * groups:
            _unpack_few(run, widths, out)
        else:
            bitpack.unpack_chunks.plain(run, widths, out)
        return
    from lanceref.fast import compiled as kernel

    starts = run.starts[0] + out.itemsize
    bits, words = 8 * out.itemsize, out.view(np.uint64)
    kernel.unpack_blocks(run.data, starts, widths, bits, words)


def _unpack_few(run: ChunkRun, widths: Ints, out: Unsigned) -> None:
    """Unpack blocks by operations over the rows of all, whatever their widths.

    Each row begins in a word of each lane, which lie together, and may end in the next of these.
    """
    size, bits, row_bytes = out.itemsize, 8 * out.itemsize, LANE_ROW.itemsize
    order = np.array(bitpack.ROW_STARTS[:bits]) * size // row_bytes
    word, shift = np.divmod(widths[:, None] * np.arange(bits), bits)
    places = (run.starts[0] + size)[:, None] + word * row_bytes
    is_held = np.broadcast_to(widths[:, None] > 0, places.shape)
    is_split = shift + widths[:, None] > bits
    rows = np.zeros((len(out), bits, row_bytes // size), out.dtype)
    rows[is_held] = gather_rows(run.data, places[is_held], row_bytes).view(out.dtype)
    rows >>= shift.astype(out.dtype)[:, :, None]
    high = gather_rows(run.data, places[is_split] + row_bytes, row_bytes).view(out.dtype)
    rows[is_split] |= high << (bits - shift[is_split]).astype(out.dtype)[:, None]
    rows &= np.array([(1 << width) - 1 for width in widths.tolist()], out.dtype)[:, None, None]
    out.view(LANE_ROW).reshape(len(out), bits)[:, order] = rows.view(LANE_ROW)[:, :, 0]


def _unpack_planar(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack with operations over all blocks of a slab: faster for wide values.

    Rows are first written one after the other, then put in their places, a lane row as one item.
    """
    bits, slab = (
        out.dtype.itemsize * 8,
        max(1, min(len(out), SLAB_BYTES // (BLOCK * out.dtype.itemsize))),
    )
    lanes, groups = BLOCK // bits, bits // 8
    rank = np.argsort(np.argsort(ORDER[:groups])).tolist()
    mask = out.dtype.type((1 << width) - 1)
    planes = np.empty(width * slab * lanes, out.dtype)
    rows = np.empty(bits * slab * lanes, out.dtype)
    for at in range(0, len(packed), slab):
        source, target = packed[at : at + slab], out[at : at + slab]
        n = len(source)
        words, values = planes[: width * n * lanes], rows[: bits * n * lanes]
        words.view(LANE_ROW).reshape(width, n)[:] = source.view(LANE_ROW).T
        _unpack_rows(words.reshape(width, n * lanes), values.reshape(bits, n * lanes))
        np.bitwise_and(values, mask, out=values)
        unpacked = values.view(LANE_ROW).reshape(groups, 8, n)
        placed = target.view(LANE_ROW).reshape(n, 8, groups)
        for group in range(groups):
            placed[:, :, rank[group]] = unpacked[group].T


def _unpack_rows(words: Unsigned, rows: Unsigned) -> None:
    """Unpack `words` (width, n) to `rows` (T, n); the bits above the width are not cleared.

    Rows whose values begin at the same bit of a word come at equal distances.
    """
    word, bits, width = rows.dtype.type, len(rows), len(words)
    alike = math.gcd(width, bits)
    words, rows = words.reshape(alike, width // alike, -1), rows.reshape(alike, bits // alike, -1)
    for row in range(bits // alike):
        k, shift = divmod(row * width, bits)
        values = rows[:, row]
        np.right_shift(words[:, k], word(shift), out=values)
        if shift + width > bits:
            values |= words[:, k + 1] << word(bits - shift)

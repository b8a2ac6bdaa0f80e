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

import math

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun, interleave, join_ranges, join_rows
from lanceref.codecs.values import Fixed
from lanceref.core.errors import CorruptPage

BLOCK = 1024
"""Values of one block."""

ORDER = (0, 4, 2, 6, 1, 5, 3, 7)
"""Order of the groups of eight rows."""

SLAB_BYTES = 2**19
"""Output of the blocks unpacked at a time: with their temporaries it stays in the cache."""

LANE_ROW = np.dtype("V128")
"""One value of every lane, 1 024 bits whatever T is: they lie together in a block."""

FLAG_LANES = np.dtype("V64")
"""One boolean of every lane of 16-bit words."""

WIDTHS = (8, 16, 32, 64)
"""Value widths T that can be packed."""

Unsigned = NDArray[np.unsignedinteger]


def row_start(row: int) -> int:
    """Return the number of the value in lane 0 of `row`."""
    return ORDER[row // 8] * 16 + (row % 8) * 128


def unpack(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack blocks: `packed` (blocks, width * 1024 / T), `out` (blocks, 1024), unsigned T bits."""
    bits = out.dtype.itemsize * 8
    if width == 0:
        out[:] = 0
    elif 1 < width < bits:
        _unpack_planar(packed, width, out)
    else:
        unpack_direct(packed, width, out)


def unpack_direct(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack row by row: the specification, and the fast form for narrow widths."""
    word, bits = out.dtype.type, out.dtype.itemsize * 8
    lanes, slab = BLOCK // bits, _slab(out)
    blocks = packed.reshape(len(packed), width, lanes)
    carry = np.empty((slab, lanes), out.dtype)
    for at in range(0, len(packed), slab):
        source, target = blocks[at : at + slab], out[at : at + slab]
        high = carry[: len(source)]
        for row in range(bits):
            k, shift = divmod(row * width, bits)
            values = target[:, row_start(row) : row_start(row) + lanes]
            np.right_shift(source[:, k], word(shift), out=values)
            if shift + width > bits:
                np.left_shift(source[:, k + 1], word(bits - shift), out=high)
                np.bitwise_or(values, high, out=values)
        if width < bits:
            np.bitwise_and(target, word((1 << width) - 1), out=target)


def _unpack_planar(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack with operations over all blocks of a slab: faster for wide values.

    Rows come to lie one behind the other, and are then put in their places, a lane row as one item.
    """
    bits, slab = out.dtype.itemsize * 8, _slab(out)
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


def _slab(out: Unsigned) -> int:
    """Return how many of the blocks `out` are unpacked at a time."""
    return max(1, min(len(out), SLAB_BYTES // (BLOCK * out.dtype.itemsize)))


def unpack_flags(packed: Unsigned, out: NDArray[np.bool_]) -> None:
    """Unpack one-bit blocks to booleans: `packed` (blocks, 64), `out` (blocks, 1024).

    Row r of a word's low byte stands at 128 r, and row 8 + r, of its high byte, behind it.
    """
    count = len(packed)
    halves = np.ascontiguousarray(packed).view(np.uint8).reshape(-1, 2).T.copy()
    flags = np.empty((8, 2, count * FLAG_LANES.itemsize), np.bool_)
    for bit in range(8):
        np.not_equal(halves & np.uint8(1 << bit), 0, out=flags[bit])
    rows = flags.view(FLAG_LANES).reshape(8, 2, count)
    out.view(FLAG_LANES).reshape(count, 8, 2)[:] = rows.transpose(2, 0, 1)


def decode_inline(run: ChunkRun, bits: int) -> Fixed:
    """Decode one block per chunk, each with its own width."""
    word_bytes = bits // 8
    widths = inline_widths(run, bits)
    run.want_sizes(0, word_bytes + widths * (BLOCK // 8), "L.codec.bitpack.payload")
    _own_inline(run, widths, bits)
    out = np.empty((run.num_chunks, BLOCK), f"<u{word_bytes}")
    for width, chunks in run.groups(widths):
        packed = run.rows(0, chunks, width * BLOCK // 8, word_bytes)
        target = out[int(chunks[0]) : int(chunks[-1]) + 1]
        if len(target) == len(chunks):
            unpack(packed.view(out.dtype), width, target)
        else:
            target = np.empty((len(chunks), BLOCK), out.dtype)
            unpack(packed.view(out.dtype), width, target)
            out[chunks] = target
    _lint_unused(run, np.arange(run.num_chunks), out, run.counts)
    return Fixed(bits, run.num_values, join_rows(out, run.counts).view(np.uint8))


def inline_widths(run: ChunkRun, bits: int) -> NDArray[np.int64]:
    """Return the width of every chunk's block, at most `bits`."""
    word_bytes = bits // 8
    if (run.counts > BLOCK).any():
        chunk = int(np.flatnonzero(run.counts > BLOCK)[0])
        raise CorruptPage(
            "L.codec.bitpack.count",
            run.place(0, chunk),
            found=f"{int(run.counts[chunk])} values in one block",
            wanted=f"at most {BLOCK}",
        )
    if (run.sizes[0] < word_bytes).any():
        chunk = int(np.flatnonzero(run.sizes[0] < word_bytes)[0])
        raise CorruptPage(
            "L.codec.bitpack.payload",
            run.place(0, chunk),
            found=f"{int(run.sizes[0, chunk])} bytes",
            wanted=f"a width of {word_bytes} bytes",
        )
    words = np.ascontiguousarray(run.rows(0, np.arange(run.num_chunks), word_bytes))
    widths = words.view(f"<u{word_bytes}").reshape(-1)
    if (widths > bits).any():
        chunk = int(np.flatnonzero(widths > bits)[0])
        raise CorruptPage(
            "L.codec.bitpack.width",
            run.place(0, chunk),
            found=f"width {int(widths[chunk])}",
            wanted=f"at most {bits} bits",
        )
    return widths.astype(np.int64)


def _lint_unused(
    run: ChunkRun, chunks: NDArray[np.int64], blocks: NDArray[np.generic], used: NDArray[np.int64]
) -> None:
    """Report what stands behind the `used` values of the last block of each of `chunks`."""
    if not run.ctx.validating:
        return
    behind = (blocks != 0) & (np.arange(BLOCK) >= used[:, None])
    for index in np.flatnonzero(behind.any(axis=1)).tolist():
        run.ctx.lint(
            "L.codec.bitpack.tail",
            run.place(0, int(chunks[index])),
            found=f"{int(behind[index].sum())} values behind the {int(used[index])} of the block",
            wanted="zeros",
        )


def _own_inline(run: ChunkRun, widths: NDArray[np.int64], bits: int) -> None:
    if run.ctx.spans is None or not run.in_file(0):
        return
    starts, sizes = (run.base + run.starts[0]).tolist(), run.sizes[0].tolist()
    for start, size, width in zip(starts, sizes, widths.tolist()):
        clause, middle = "L.codec.bitpack.width", start + bits // 8
        run.ctx.leaf(start, middle, "width", f"u{bits}", clause, width)
        run.ctx.leaf(middle, start + size, "block", f"bitpacked u{bits}", clause)


def decode_out_of_line(run: ChunkRun, bits: int, width: int) -> Fixed:
    """Decode a buffer per chunk: whole blocks of one width, then a raw or padded tail."""
    values = _out_of_line(run, bits, width, np.dtype(f"<u{bits // 8}"))
    return Fixed(bits, run.num_values, values.view(np.uint8))


def decode_flags(run: ChunkRun) -> NDArray[np.bool_]:
    """Decode 16-bit values of width 1 as booleans: the levels of most pages."""
    return _out_of_line(run, 16, 1, np.dtype(np.bool_)).astype(np.bool_, copy=False)


def _out_of_line(
    run: ChunkRun, bits: int, width: int, dtype: np.dtype[np.generic]
) -> NDArray[np.generic]:
    """Decode into `dtype`: unsigned values of `bits` bits, or booleans."""
    full, tail = np.divmod(run.counts, BLOCK)
    is_raw = _raw_tails(run, bits, width)
    run.own(0, "packed values", f"bitpacked u{bits}", "L.codec.bitpack.out-of-line")
    is_padded = (tail > 0) & ~is_raw
    blocks_of = full + is_padded
    ends = np.cumsum(blocks_of)
    out = np.empty((int(blocks_of.sum()), BLOCK), dtype)
    for num_blocks, chunks in run.groups(blocks_of):
        packed = run.rows(0, chunks, num_blocks * width * BLOCK // 8)
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


def _raw_tails(run: ChunkRun, bits: int, width: int) -> NDArray[np.bool_]:
    """Say whose tail is raw; refuse sizes that are neither that nor a padded block."""
    full, tail = np.divmod(run.counts, BLOCK)
    block_bytes, sizes = width * BLOCK // 8, run.sizes[0]
    raw = full * block_bytes + tail * (bits // 8)
    padded = (full + (tail > 0)) * block_bytes
    wrong = np.flatnonzero((sizes != raw) & (sizes != padded))
    if len(wrong):
        chunk = int(wrong[0])
        raise CorruptPage(
            "L.codec.bitpack.out-of-line",
            run.place(0, chunk),
            found=f"{int(sizes[chunk])} bytes for {int(run.counts[chunk])} values at {width} bits",
            wanted=f"{int(raw[chunk])} or {int(padded[chunk])} bytes",
        )
    is_raw: NDArray[np.bool_] = (sizes == raw) & (tail > 0)
    return is_raw


def _raw_values(
    run: ChunkRun, chunks: NDArray[np.int64], tails: NDArray[np.int64], bits: int, width: int
) -> Unsigned:
    """Return the raw values at the end of `chunks`, joined; they fit the width too."""
    ends = (run.starts[0] + run.sizes[0])[chunks]
    values = run.slices(ends - tails * (bits // 8), ends).view(f"<u{bits // 8}")
    if len(values) and int(values.max()) >> width:
        at = int(np.argmax(values >> np.uint64(width).astype(values.dtype) != 0))
        chunk = int(chunks[np.searchsorted(np.cumsum(tails), at, "right")])
        raise CorruptPage(
            "L.codec.bitpack.raw-tail",
            run.place(0, chunk),
            found=f"a raw value {int(values[at])}",
            wanted=f"values of {width} bits",
        )
    return values

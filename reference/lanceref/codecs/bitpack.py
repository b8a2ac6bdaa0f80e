"""Bitpacking: FastLanes blocks of 1 024 values.

A block of T-bit values at width W is `W * L` words of T bits, L = 1024 / T lanes. Lane l owns the
words k * L + l, which form one little-endian bit stream of T values of W bits; row r of lane l is
value number `ORDER[r // 8] * 16 + (r % 8) * 128 + l`.

Layout, inline: one word of T bits with the width, then a block; always one block a chunk.
Layout, out of line: whole blocks, then the tail: raw T-bit values, or one padded block; the size of
the buffer tells which.

Clauses: L.codec.bitpack.width, L.codec.bitpack.payload, L.codec.bitpack.count,
L.codec.bitpack.out-of-line
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed
from lanceref.errors import CorruptPage, Place

BLOCK = 1024
"""Values of one block."""

ORDER = (0, 4, 2, 6, 1, 5, 3, 7)
"""Order of the groups of eight rows."""

SLAB = 512
"""Blocks unpacked at a time: their output stays in the cache."""

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
    elif width > 4 and bits >= 16 and width < bits:
        _unpack_planar(packed, width, out)
    else:
        unpack_direct(packed, width, out)


def unpack_direct(packed: Unsigned, width: int, out: Unsigned) -> None:
    """Unpack row by row: the specification, and the fast form for narrow widths."""
    word, bits = out.dtype.type, out.dtype.itemsize * 8
    lanes = BLOCK // bits
    blocks = packed.reshape(len(packed), width, lanes)
    carry = np.empty((SLAB, lanes), out.dtype)
    for at in range(0, len(packed), SLAB):
        source, target = blocks[at : at + SLAB], out[at : at + SLAB]
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
    """Unpack with one-dimensional operations over all blocks of a slab: faster for wide values."""
    word, bits = out.dtype.type, out.dtype.itemsize * 8
    lanes, groups, mask = BLOCK // bits, bits // 8, word((1 << width) - 1)
    rank = np.argsort(np.argsort(ORDER[:groups]))
    for at in range(0, len(packed), SLAB):
        source, target = packed[at : at + SLAB], out[at : at + SLAB]
        n = len(source)
        planes = np.ascontiguousarray(source.reshape(n, width, lanes).transpose(1, 0, 2))
        planes = planes.reshape(width, n * lanes)
        rows = np.empty((bits, n * lanes), out.dtype)
        high = np.empty(n * lanes, out.dtype)
        for row in range(bits):
            k, shift = divmod(row * width, bits)
            np.right_shift(planes[k], word(shift), out=rows[row])
            if shift + width > bits:
                np.left_shift(planes[k + 1], word(bits - shift), out=high)
                np.bitwise_or(rows[row], high, out=rows[row])
            np.bitwise_and(rows[row], mask, out=rows[row])
        placed = target.reshape(n, 8, groups, lanes)
        for group in range(groups):
            part = rows[8 * group : 8 * group + 8].reshape(8, n, lanes)
            placed[:, :, rank[group], :] = part.transpose(1, 0, 2)


def decode_inline(run: ChunkRun, bits: int) -> Fixed:
    """Decode one block per chunk, each with its own width."""
    word_bytes = bits // 8
    over = np.flatnonzero((run.counts > BLOCK) | (run.sizes[0] < word_bytes))
    if len(over):
        raise _corrupt("count", run.place(0, int(over[0])), "more than one block", "1024 values")
    everything = np.arange(run.num_chunks)
    words = np.ascontiguousarray(run.rows(0, everything, word_bytes)).view(f"<u{word_bytes}")
    widths = words.reshape(-1).astype(np.uint64)
    wide = np.flatnonzero(widths > bits)
    if len(wide):
        chunk = int(wide[0])
        found = f"width {int(widths[chunk])}"
        raise _corrupt("width", run.place(0, chunk), found, f"at most {bits} bits")
    width_of = widths.astype(np.int64)
    run.want_sizes(0, word_bytes + width_of * (BLOCK // 8), "L.codec.bitpack.payload")
    _own_inline(run, word_bytes, bits)
    out = np.empty((run.num_chunks, BLOCK), f"<u{word_bytes}")
    for width, chunks in run.groups(width_of):
        packed = np.ascontiguousarray(run.rows(0, chunks, width * BLOCK // 8, word_bytes))
        whole = len(chunks) == run.num_chunks
        target = out if whole else np.empty((len(chunks), BLOCK), out.dtype)
        unpack(packed.view(out.dtype), width, target)
        if not whole:
            out[chunks] = target
    return Fixed(bits, run.num_values, _trim(out, run.counts).view(np.uint8))


def _own_inline(run: ChunkRun, word_bytes: int, bits: int) -> None:
    if run.ctx.spans is None or run.origin is not None:
        return
    for start, size in zip((run.base + run.starts[0]).tolist(), run.sizes[0].tolist()):
        clause, middle = "L.codec.bitpack.width", start + word_bytes
        run.ctx.leaf(start, middle, "width", f"u{bits}", clause)
        run.ctx.leaf(middle, start + size, "block", f"bitpacked u{bits}", clause)


def _trim(blocks: Unsigned, counts: NDArray[np.int64]) -> Unsigned:
    """Return the first `counts` values of every block, joined."""
    if np.all(counts[:-1] == BLOCK):
        return blocks.reshape(-1)[: int(counts.sum())]
    return blocks[np.arange(BLOCK) < counts[:, None]]


def decode_out_of_line(run: ChunkRun, bits: int, width: int) -> Fixed:
    """Decode a buffer per chunk: whole blocks of one width, then a raw or padded tail."""
    word_bytes, block_bytes = bits // 8, width * BLOCK // 8
    full, tail = np.divmod(run.counts, BLOCK)
    raw = full * block_bytes + tail * word_bytes
    padded = (full + (tail > 0)) * block_bytes
    sizes = run.sizes[0]
    wrong = np.flatnonzero((sizes != raw) & (sizes != padded))
    if len(wrong):
        chunk = int(wrong[0])
        found = f"{int(sizes[chunk])} bytes for {int(run.counts[chunk])} values at {width} bits"
        wanted = f"{int(raw[chunk])} or {int(padded[chunk])} bytes"
        raise _corrupt("out-of-line", run.place(0, chunk), found, wanted)
    run.own(0, "packed values", f"bitpacked u{bits}", "L.codec.bitpack.out-of-line")
    is_raw = (sizes == raw) & (tail > 0)
    blocks_of = full + ((tail > 0) & ~is_raw)
    first = np.cumsum(full + (tail > 0)) - (full + (tail > 0))
    out = np.empty((int((full + (tail > 0)).sum()), BLOCK), f"<u{word_bytes}")
    _unpack_blocks(run, blocks_of, first, block_bytes, width, out)
    for chunk in np.flatnonzero(is_raw).tolist():
        at = int(full[chunk]) * block_bytes
        values = run.bytes_of(0, chunk)[at:].view(out.dtype)
        out[int(first[chunk] + full[chunk]), : len(values)] = values
    valid = np.full(len(out), BLOCK, np.int64)
    valid[(first + full)[tail > 0]] = tail[tail > 0]
    return Fixed(bits, run.num_values, _trim(out, valid).view(np.uint8))


def _unpack_blocks(
    run: ChunkRun,
    blocks_of: NDArray[np.int64],
    first: NDArray[np.int64],
    block_bytes: int,
    width: int,
    out: Unsigned,
) -> None:
    """Unpack `blocks_of` blocks of every chunk into the rows of `out` from `first` on."""
    total = int(blocks_of.sum())
    within = np.arange(total) - np.repeat(np.cumsum(blocks_of) - blocks_of, blocks_of)
    starts = np.repeat(run.starts[0], blocks_of) + within * block_bytes
    rows = np.repeat(first, blocks_of) + within
    for at in range(0, total, SLAB):
        packed = run.data[starts[at : at + SLAB, None] + np.arange(block_bytes)]
        target = np.empty((len(packed), BLOCK), out.dtype)
        unpack(packed.view(out.dtype), width, target)
        out[rows[at : at + SLAB]] = target


def _corrupt(detail: str, place: Place, found: object, wanted: object) -> CorruptPage:
    clause = {
        "count": "L.codec.bitpack.count",
        "width": "L.codec.bitpack.width",
        "out-of-line": "L.codec.bitpack.out-of-line",
    }[detail]
    return CorruptPage(clause, place, found=found, wanted=wanted)

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

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed
from lanceref.errors import CorruptPage

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


def unpack_flags(packed: Unsigned, out: NDArray[np.bool_]) -> None:
    """Unpack one-bit blocks to booleans: `packed` (blocks, lanes), `out` (blocks, 1024)."""
    word, bits = packed.dtype.type, packed.dtype.itemsize * 8
    lanes = BLOCK // bits
    for row in range(bits):
        flags = out[:, row_start(row) : row_start(row) + lanes]
        np.not_equal(packed & word(1 << row), 0, out=flags)


def decode_inline(run: ChunkRun, bits: int) -> Fixed:
    """Decode one block per chunk, each with its own width."""
    word_bytes = bits // 8
    widths = _inline_widths(run, bits)
    run.want_sizes(0, word_bytes + widths * (BLOCK // 8), "L.codec.bitpack.payload")
    _own_inline(run, word_bytes, bits)
    out = np.empty((run.num_chunks, BLOCK), f"<u{word_bytes}")
    for width, chunks in run.groups(widths):
        packed = np.ascontiguousarray(run.rows(0, chunks, width * BLOCK // 8, word_bytes))
        whole = len(chunks) == run.num_chunks
        target = out if whole else np.empty((len(chunks), BLOCK), out.dtype)
        unpack(packed.view(out.dtype), width, target)
        if not whole:
            out[chunks] = target
    _lint_unused(run, np.arange(run.num_chunks), out, run.counts)
    return Fixed(bits, run.num_values, _trim(out, run.counts).view(np.uint8))


def _inline_widths(run: ChunkRun, bits: int) -> NDArray[np.int64]:
    """Return the width of every chunk's block, at most `bits`."""
    word_bytes = bits // 8
    large = np.flatnonzero(run.counts > BLOCK)
    if len(large):
        chunk = int(large[0])
        raise CorruptPage(
            "L.codec.bitpack.count",
            run.place(0, chunk),
            found=f"{int(run.counts[chunk])} values in one block",
            wanted=f"at most {BLOCK}",
        )
    short = np.flatnonzero(run.sizes[0] < word_bytes)
    if len(short):
        chunk = int(short[0])
        raise CorruptPage(
            "L.codec.bitpack.payload",
            run.place(0, chunk),
            found=f"{int(run.sizes[0, chunk])} bytes",
            wanted=f"a width of {word_bytes} bytes",
        )
    words = np.ascontiguousarray(run.rows(0, np.arange(run.num_chunks), word_bytes))
    widths = words.view(f"<u{word_bytes}").reshape(-1)
    wide = np.flatnonzero(widths > bits)
    if len(wide):
        chunk = int(wide[0])
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


def _own_inline(run: ChunkRun, word_bytes: int, bits: int) -> None:
    if run.ctx.spans is None or not run.in_file(0):
        return
    for start, size in zip((run.base + run.starts[0]).tolist(), run.sizes[0].tolist()):
        clause, middle = "L.codec.bitpack.width", start + word_bytes
        run.ctx.leaf(start, middle, "width", f"u{bits}", clause)
        run.ctx.leaf(middle, start + size, "block", f"bitpacked u{bits}", clause)


def _trim(blocks: NDArray[np.generic], counts: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return the first `counts` values of every block, joined."""
    if np.all(counts[:-1] == BLOCK):
        return blocks.reshape(-1)[: int(counts.sum())]
    return blocks[np.arange(BLOCK) < counts[:, None]]


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
    blocks_of, packed_of = full + (tail > 0), full + ((tail > 0) & ~is_raw)
    first = np.cumsum(blocks_of) - blocks_of
    out = np.empty((int(blocks_of.sum()), BLOCK), dtype)
    for num_blocks, chunks in run.groups(packed_of):
        packed = np.ascontiguousarray(run.rows(0, chunks, num_blocks * width * BLOCK // 8))
        rows = (first[chunks][:, None] + np.arange(num_blocks)).reshape(-1)
        packed = packed.reshape(-1).view(f"<u{bits // 8}").reshape(len(rows), width * BLOCK // bits)
        target = out if len(rows) == len(out) else np.empty((len(rows), BLOCK), dtype)
        if dtype == np.bool_:
            unpack_flags(packed, target.view(np.bool_))
        else:
            unpack(packed, width, target)
        if target is not out:
            out[rows] = target
    for chunk in np.flatnonzero(is_raw).tolist():
        values = _raw_tail(run, chunk, int(tail[chunk]), bits, width)
        out[int(first[chunk] + full[chunk]), : len(values)] = values
    padded = np.flatnonzero((tail > 0) & ~is_raw)
    _lint_unused(run, padded, out[(first + full)[padded]], tail[padded])
    valid = np.full(len(out), BLOCK, np.int64)
    valid[(first + full)[tail > 0]] = tail[tail > 0]
    return _trim(out, valid)


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


def _raw_tail(run: ChunkRun, chunk: int, tail: int, bits: int, width: int) -> Unsigned:
    """Return the raw values at the end of a chunk; they fit the width too."""
    buffer = run.bytes_of(0, chunk)
    values = buffer[len(buffer) - tail * (bits // 8) :].view(f"<u{bits // 8}")
    if int(values.max()) >> width:
        raise CorruptPage(
            "L.codec.bitpack.raw-tail",
            run.place(0, chunk),
            found=f"a raw value {int(values.max())}",
            wanted=f"values of {width} bits",
        )
    return values

"""Bit-packing out of line: blocks of one width, which the description says, and a tail.

Layout: whole blocks (see `bitpack`), then the tail: raw T-bit values, or one padded block; the size
of the buffer tells which.

Clauses: L.codec.bitpack.out-of-line, L.codec.bitpack.raw-tail, L.codec.bitpack.tail
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import (
    BLOCK,
    ROW_STARTS,
    Unsigned,
    blocks_of,
    lint_unused,
    pack,
    unpack,
)
from lanceref.codecs.chunk_run import ChunkRun, gather_rows
from lanceref.codecs.mini_blocks import Part, flat_encoding, weave
from lanceref.codecs.values import Bools, Fixed, Ints, join_pieces, join_ranges
from lanceref.core.errors import CorruptPage
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def unpack_flags(packed: Unsigned, out: Bools) -> None:
    """Unpack blocks of one-bit values: `packed` u16 (blocks, 64), `out` bool (blocks, 1024)."""
    for row in range(16):
        start = ROW_STARTS[row]
        np.not_equal(packed & np.uint16(1 << row), 0, out=out[:, start : start + BLOCK // 16])


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
    lint_unused(run, padded, out[ends[padded] - 1], tail[padded])
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

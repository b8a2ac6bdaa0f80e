"""Bit-packing out of line: blocks of one width, which the description says, and a tail.

Layout: whole blocks (see `bitpack`), then the tail: raw T-bit values, or one padded block; the size
of the buffer tells which.

Clauses: L.codec.bitpack.out-of-line, L.codec.bitpack.raw-tail, L.codec.bitpack.tail
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.bitpack import (
    BLOCK,
    Unsigned,
    blocks_of,
    lint_unused,
    pack,
    unpack,
)
from lanceref.codecs.buffers import Buffer
from lanceref.codecs.mini_blocks import Part, flat_encoding, weave
from lanceref.codecs.values import Fixed, Ints, join_pieces
from lanceref.core.errors import CorruptPage
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


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

"""Strings with offsets of their own codec, and strings as one block.

Layout in a chunk of 2.3 whose offsets are not flat: buffer 0 the offsets from 0, as their own codec
stores them (no buffer when it needs no bytes), then a buffer of the bytes.
Layout as a block: u32 32, u32 start of the bytes, `count + 1` u32 offsets from 0, the bytes; or the
same with u64 64 and u64 offsets. An old header is u8 bits, then count and start, u32 or u64.

A writer of 2.3 stores the offsets of strings of one length as a range, or a constant when they are
all empty; others as a delta, whose differences are the lengths: a range themselves, or packed bits.

Clauses: L.codec.variable.offsets, L.codec.variable.header, L.codec.variable.end,
L.codec.range.step, L.codec.delta.width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import block_widths, encode_out_of_line, out_of_line_encoding
from lanceref.codecs.buffers import Buffer, MiniBlocks, Part, flat_encoding
from lanceref.codecs.sequence import delta_encoding, range_encoding
from lanceref.codecs.values import Ints, Variable
from lanceref.codecs.variable import ALIGNMENT, variable_encoding
from lanceref.core.errors import CorruptPage
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def decode_separate(buffer: Buffer, offsets: NDArray[np.uint64], kind: str = "bytes[]") -> Variable:
    """Decode bytes that decoded `offsets` (values + 1,) cut. Raises CorruptPage."""
    size, last, clause = buffer.size, int(offsets[-1]), "L.codec.variable.offsets"
    if offsets[0] != 0 or last > size or (offsets[1:] < offsets[:-1]).any():
        wanted = "offsets from 0 on that never fall"
        raise CorruptPage(clause, buffer.place, f"{last} bytes", wanted)
    if last != size:
        found, wanted = f"{last} bytes", f"{size} bytes"
        raise CorruptPage("L.codec.variable.end", buffer.place, found, wanted)
    buffer.own("bytes", kind, clause)
    return Variable(offsets.astype(np.int64), buffer.data)


def decode_strings(buffer: Buffer, count: int, kind: str = "bytes[]") -> Variable:
    """Decode a block: a header, `count + 1` offsets, bytes. Raises CorruptPage."""
    place, header_clause = buffer.place, "L.codec.variable.header"
    header, width, start = _header(buffer)
    end = header + (count + 1) * width
    if start != end or end > buffer.size:
        found = f"bytes from {start} in {buffer.size}"
        raise CorruptPage(header_clause, place, found, f"from {end}")
    table = buffer.data[header:end].view(f"<u{width}")
    data, clause = buffer.data[end:], "L.codec.variable.offsets"
    if table[0] != 0 or (table[1:] < table[:-1]).any() or table[-1] > len(data):
        found = f"offsets {table[:4].tolist()} to {int(table[-1])}"
        raise CorruptPage(clause, place, found, f"0 to at most {len(data)}")
    buffer.own("header", "header", header_clause, end=header)
    buffer.own("offsets", f"offsets u{8 * width}[]", start=header, end=end)
    buffer.own("bytes", kind, clause, start=end)
    return Variable(table.astype(np.int64), data)


def _header(buffer: Buffer) -> tuple[int, int, int]:
    """Return (size of the header, offset width in bytes, start of the bytes)."""
    head = buffer.data[:17].tobytes()
    if len(head) > 4 and any(head[1:4]):
        wide = head[0] == 64 and not any(head[5:9])
        size, bits, start = (17, 64, head[9:17]) if wide else (9, head[0], head[5:9])
    elif head[:1] == b"\x40":
        size, bits, start = 16, int.from_bytes(head[:8], "little"), head[8:16]
    else:
        size, bits, start = 8, int.from_bytes(head[:4], "little"), head[4:8]
    if len(head) < size or bits not in (32, 64):
        found, wanted = head.hex() or "no bytes", "offsets of 32 or 64 bits"
        raise CorruptPage("L.codec.variable.header", buffer.place, found, wanted)
    return size, bits // 8, int.from_bytes(start, "little")


def encode_block(values: Variable, bits: int) -> bytes:
    """Encode one buffer: bits, position of the bytes, offsets, bytes."""
    word = f"<u{bits // 8}"
    start = (values.count + 3) * (bits // 8)
    header = np.array([bits, start], word)
    return header.tobytes() + values.offsets.astype(word).tobytes() + values.data.tobytes()


def encode_short_offsets(values: Variable, bits: int, counts: Ints) -> MiniBlocks | None:
    """Encode chunks of `counts` values; None where plain offsets of `bits` take fewer bytes.

    `counts` (chunks,).
    """
    lengths, ends = np.diff(values.offsets), np.cumsum(counts)
    described = _without_bytes(lengths, bits, one_chunk=len(counts) == 1)
    stored: Part | None = None
    if described is None:
        numbers = lengths.astype(f"<u{bits // 8}")
        width = int(block_widths(numbers).max())
        stored = encode_out_of_line(numbers, counts, width)
        described = delta_encoding(bits, 0, out_of_line_encoding(bits, width))
    sizes = values.offsets[ends] - values.offsets[ends - counts]
    parts = [sizes] if stored is None else [stored[1], sizes]
    taken = described.ByteSize() + _chunk_bytes(parts)
    if taken > flat_encoding(bits).ByteSize() + _chunk_bytes([(counts + 1) * (bits // 8) + sizes]):
        return None
    data: Part = values.data[int(values.offsets[0]) : int(values.offsets[-1])], sizes
    buffers = (data,) if stored is None else (stored, data)
    return MiniBlocks(variable_encoding(described), counts, buffers)


def _chunk_bytes(parts: Sequence[Ints]) -> int:
    """Return the bytes of chunks without levels whose buffers have these sizes."""
    header = ALIGNMENT * -(-(2 + 4 * len(parts)) // ALIGNMENT)
    padded = sum(int((-(-sizes // ALIGNMENT)).sum()) for sizes in parts)
    return header * len(parts[0]) + ALIGNMENT * padded


def _without_bytes(lengths: Ints, bits: int, *, one_chunk: bool) -> CompressiveEncoding | None:
    """Return the description that holds all of the offsets, None where none can."""
    first, steps = int(lengths[0]), np.diff(lengths)
    if steps.any():
        if not one_chunk or steps[0] <= 0 or not (steps == steps[0]).all():
            return None
        return delta_encoding(bits, 0, range_encoding(bits, first, int(steps[0])))
    if first:
        return range_encoding(bits, 0, first)
    return CompressiveEncoding(constant={"value": bytes(bits // 8)})

"""Strings with offsets of their own codec, and strings as one block.

Layout in a chunk of 2.3 whose offsets are not flat: buffer 0 the offsets from 0, as their own codec
stores them (no buffer when it needs no bytes), then a buffer of the bytes.
Layout as a block: u32 32, u32 start of the bytes, `count + 1` u32 offsets from 0, the bytes; or the
same with u64 64 and u64 offsets. An old header is u8 bits, u32 count, u32 start.

A writer of 2.3 stores the offsets of strings of one length as a range, or a constant when they are
all empty; others as a delta, whose differences are the lengths: a range themselves, or packed bits.

Clauses: L.codec.variable.offsets, L.codec.variable.header, L.codec.variable.end,
L.codec.range.step, L.codec.delta.width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import block_widths
from lanceref.codecs.bitpack_out_of_line import encode_out_of_line, out_of_line_encoding
from lanceref.codecs.chunk_run import ChunkRun
from lanceref.codecs.mini_blocks import MiniBlocks, Part, flat_encoding
from lanceref.codecs.sequence import delta_encoding, range_encoding
from lanceref.codecs.values import Ints, Variable, join_pieces
from lanceref.codecs.variable import ALIGNMENT, variable_encoding
from lanceref.core.errors import CorruptPage
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def decode_separate(run: ChunkRun, offsets: NDArray[np.uint64], kind: str = "bytes[]") -> Variable:
    """Decode the last buffer of every chunk: bytes, cut by `offsets` (count + 1 a chunk).

    `offsets` (values + chunks,). Raises CorruptPage.
    """
    buffer, ends = len(run.starts) - 1, np.cumsum(run.counts + 1)
    sizes = run.sizes[buffer].astype(np.uint64)
    begin, last = offsets[ends - run.counts - 1], offsets[ends - 1]
    inner = np.ones(len(offsets), np.bool_)
    inner[ends - 1] = False
    falls = np.append(offsets[1:] < offsets[:-1], False) & inner
    wrong = (begin != 0) | (last > sizes)
    wrong[np.searchsorted(ends, np.flatnonzero(falls), "right")] = True
    clause, wanted = "L.codec.variable.offsets", "offsets from 0 on that never fall"
    run.check(clause, wrong, last, wanted, "bytes", buffer)
    run.check("L.codec.variable.end", last != sizes, last, sizes, "bytes", buffer)
    run.own(buffer, "bytes", kind, clause)
    signed = np.append(offsets.astype(np.int64), 0)
    cuts = np.zeros(len(offsets) - run.num_chunks + 1, np.int64)
    np.cumsum(np.diff(signed)[inner], out=cuts[1:])
    starts = run.starts[buffer]
    return Variable(cuts, join_pieces(run.data, starts, starts + last.astype(np.int64)))


def decode_block(run: ChunkRun, kind: str = "bytes[]") -> Variable:
    """Decode the buffer of a run of one chunk. Raises CorruptPage."""
    count, buffer, place = int(run.counts[0]), run.bytes_of(0, 0), run.place()
    header, width, start = _header(run, buffer[:16].tobytes())
    end = header + (count + 1) * width
    if start != end or end > len(buffer):
        found = f"bytes from {start} in {len(buffer)}"
        raise CorruptPage("L.codec.variable.header", place, found, f"from {end}")
    table = buffer[header:end].view(f"<u{width}").astype(np.uint64)
    data, clause = buffer[end:], "L.codec.variable.offsets"
    if table[0] != 0 or np.any(table[1:] < table[:-1]) or int(table[-1]) > len(data):
        found = f"offsets {table[:4].tolist()} to {int(table[-1])}"
        raise CorruptPage(clause, place, found, f"0 to at most {len(data)}")
    if run.in_file(0):
        at = run.base + int(run.starts[0, 0])
        run.ctx.leaf(at, at + header, "header", "header", "L.codec.variable.header")
        run.ctx.leaf(at + header, at + end, "offsets", f"offsets u{8 * width}[]")
        run.ctx.leaf(at + end, at + len(buffer), "bytes", kind, clause)
    return Variable(table.astype(np.int64), data)


def _header(run: ChunkRun, head: bytes) -> tuple[int, int, int]:
    """Return (size of the header, offset width in bytes, start of the bytes)."""
    if len(head) > 4 and any(head[1:4]):
        size, bits, start = 9, head[0], head[5:9]
    elif head[:1] == b"\x40":
        size, bits, start = 16, int.from_bytes(head[:8], "little"), head[8:16]
    else:
        size, bits, start = 8, int.from_bytes(head[:4], "little"), head[4:8]
    if len(head) < size or bits not in (32, 64):
        found, wanted = head.hex() or "no bytes", "offsets of 32 or 64 bits"
        raise CorruptPage("L.codec.variable.header", run.place(), found, wanted)
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

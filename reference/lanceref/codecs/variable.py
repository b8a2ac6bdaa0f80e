"""Variable: byte strings with an offset table.

Layout in a chunk: `count + 1` offsets of 4 or 8 bytes, relative to the start of the buffer (so the
first is the size of the table), then the bytes, then padding with 0x48.
Layout in a chunk of 2.3 whose offsets are not flat: buffer 0 the offsets from 0, as their own codec
stores them (no buffer when it needs no bytes), then a buffer of the bytes.
Layout as a block: u32 32, u32 start of the bytes, `count + 1` u32 offsets from 0, the bytes; or the
same with u64 64 and u64 offsets. An old header is u8 bits, u32 count, u32 start.

Clauses: L.codec.variable.offsets, L.codec.variable.table, L.codec.variable.header,
L.codec.variable.padding

Variable-width values, encoded: offsets and bytes.

Layout: see `variable`.

Clauses: L.codec.variable.offsets

Offsets of 2.3, encoded: those of strings in a chunk, in fewer bytes than as they are.

They count from 0 in every chunk. Strings of one length make a range, or a constant when they are
all empty; others a delta, whose differences are the lengths: a range themselves, or packed bits.
That is taken where chunks and description need no more bytes than with offsets as they are.

Layout: see `variable` and `sequence`.

Clauses: L.codec.variable.offsets, L.codec.range.step, L.codec.delta.width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack_encode import (
    block_widths,
    encode_out_of_line_chunks,
    out_of_line_encoding,
)
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import MiniBlocks, Part, Variable, flat_encoding
from lanceref.core.errors import CorruptPage
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

PADDING_BYTE = 0x48
"""What the oracle fills a chunk's buffer up with: `H`."""


def decode_mini(run: ChunkRun, bits: int, kind: str = "bytes[]") -> Variable:
    """Decode buffer 0 of every chunk: offsets of `bits` bits, then bytes (`kind` for explain)."""
    width = bits // 8
    short = np.flatnonzero(run.sizes[0] < (run.counts + 1) * width)
    if len(short):
        chunk = int(short[0])
        raise CorruptPage(
            "L.codec.variable.table",
            run.place(0, chunk),
            found=f"{int(run.sizes[0, chunk])} bytes",
            wanted=f"a table of {int(run.counts[chunk]) + 1} offsets of {width} bytes",
        )
    first, last = np.empty(run.num_chunks, np.int64), np.empty(run.num_chunks, np.int64)
    tables = []
    for count, chunks in run.groups(run.counts):
        table = np.ascontiguousarray(run.rows(0, chunks, (count + 1) * width))
        offsets = table.view(f"<u{width}")
        _check_tables(run, chunks, offsets, width)
        first[chunks], last[chunks] = offsets[:, 0], offsets[:, -1]
        tables.append((chunks, offsets[:, 1:].view("<i8") if width == 8 else offsets[:, 1:]))
    _own(run, width, last, kind)
    return Variable(_join_tables(run, tables, first, last), _join(run, 0, first, last))


def _join_tables(
    run: ChunkRun,
    tables: list[tuple[NDArray[np.int64], NDArray[np.integer]]],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the offsets of the joined bytes: `tables` are the ends in some chunks, by value."""
    joined, ends = np.zeros(run.num_values + 1, np.int64), np.cumsum(run.counts)
    moved = np.cumsum(last - first) - last
    for chunks, table in tables:
        low, high, count = int(chunks[0]), int(chunks[-1]), table.shape[1]
        by = moved[chunks, None]
        if high - low + 1 == len(chunks):
            start = 1 + int(ends[low]) - count
            part = joined[start : start + table.size].reshape(table.shape)
            np.add(table, by, out=part)
        else:
            joined[(1 + ends[chunks] - count)[:, None] + np.arange(count)] = table + by
    return joined


def decode_separate(run: ChunkRun, offsets: NDArray[np.uint64], kind: str = "bytes[]") -> Variable:
    """Decode the last buffer of every chunk: bytes, cut by `offsets` (count + 1 a chunk)."""
    buffer, ends = len(run.starts) - 1, np.cumsum(run.counts + 1)
    begin, last = offsets[ends - run.counts - 1], offsets[ends - 1]
    inner = np.ones(len(offsets), np.bool_)
    inner[ends - 1] = False
    falls = np.append(offsets[1:] < offsets[:-1], False) & inner
    bad = (begin != 0) | (last > run.sizes[buffer].astype(np.uint64))
    bad[np.searchsorted(ends, np.flatnonzero(falls), "right")] = True
    if bad.any():
        chunk = int(np.flatnonzero(bad)[0])
        raise CorruptPage(
            "L.codec.variable.offsets",
            run.place(buffer, chunk),
            found=f"offsets {int(begin[chunk])} to {int(last[chunk])}",
            wanted=f"0, never falling, at most {int(run.sizes[buffer, chunk])}",
        )
    run.own(buffer, "bytes", kind, "L.codec.variable.offsets")
    signed = np.append(offsets.astype(np.int64), 0)
    ends = np.zeros(len(offsets) - run.num_chunks + 1, np.int64)
    np.cumsum(np.diff(signed)[inner], out=ends[1:])
    joined = _join(run, buffer, begin.astype(np.int64), last.astype(np.int64))
    return Variable(ends, joined)


def _join(
    run: ChunkRun, buffer: int, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Join bytes first..last of one buffer of every chunk."""
    starts = run.starts[buffer]
    return run.slices(starts + first, starts + last)


def _check_tables(
    run: ChunkRun,
    chunks: NDArray[np.int64],
    offsets: NDArray[np.unsignedinteger],
    width: int,
) -> None:
    """Refuse tables that do not start behind themselves, go backwards or leave the buffer."""
    table_bytes = offsets.shape[1] * width
    bad = (
        (offsets[:, 0] != table_bytes)
        | np.any(offsets[:, 1:] < offsets[:, :-1], axis=1)
        | (offsets[:, -1] > run.sizes[0][chunks].astype(np.uint64))
    )
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        chunk = int(chunks[at])
        raise CorruptPage(
            "L.codec.variable.offsets",
            run.place(0, chunk),
            found=f"offsets {offsets[at, :4].tolist()} to {int(offsets[at, -1])}",
            wanted=f"{table_bytes}, never falling, at most {int(run.sizes[0, chunk])}",
        )


def _own(run: ChunkRun, width: int, last: NDArray[np.int64], kind: str) -> None:
    """Own table, bytes and padding of every chunk, and lint the padding."""
    ctx = run.ctx
    if not run.in_file(0) or (ctx.spans is None and not ctx.validating):
        return
    for chunk in range(run.num_chunks):
        start, size = run.base + int(run.starts[0, chunk]), int(run.sizes[0, chunk])
        bytes_at = start + (int(run.counts[chunk]) + 1) * width
        end = start + int(last[chunk])
        ctx.leaf(start, bytes_at, "offsets", f"offsets u{8 * width}[]", "L.codec.variable.table")
        ctx.leaf(bytes_at, end, "bytes", kind, "L.codec.variable.offsets")
        ctx.leaf(end, start + size, "padding", "padding", "L.codec.variable.padding")
        padding = run.bytes_of(0, chunk)[int(last[chunk]) :]
        if np.any(padding != PADDING_BYTE):
            ctx.lint(
                "L.codec.variable.padding",
                ctx.at(end, len(padding)),
                found=padding[:8].tobytes().hex(),
                wanted=f"bytes {PADDING_BYTE:02x}",
            )


def decode_block(run: ChunkRun, kind: str = "bytes[]") -> Variable:
    """Decode the buffer of a run of one chunk."""
    count, buffer = int(run.counts[0]), run.bytes_of(0, 0)
    header, width, start = _header(run, buffer[:16].tobytes())
    end = header + (count + 1) * width
    if start != end or end > len(buffer):
        raise CorruptPage(
            "L.codec.variable.header",
            run.place(),
            found=f"bytes from {start} in {len(buffer)}",
            wanted=f"bytes from {end}, behind {count + 1} offsets",
        )
    table = buffer[header:end].view(f"<u{width}").astype(np.uint64)
    data = buffer[end:]
    if table[0] != 0 or np.any(table[1:] < table[:-1]) or int(table[-1]) > len(data):
        raise CorruptPage(
            "L.codec.variable.offsets",
            run.place(),
            found=f"offsets {table[:4].tolist()} to {int(table[-1])}",
            wanted=f"0, never falling, at most {len(data)}",
        )
    if run.in_file(0):
        at = run.base + int(run.starts[0, 0])
        run.ctx.leaf(at, at + header, "header", "header", "L.codec.variable.header")
        run.ctx.leaf(at + header, at + end, "offsets", f"offsets u{8 * width}[]")
        run.ctx.leaf(at + end, at + len(buffer), "bytes", kind, "L.codec.variable.offsets")
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
        raise CorruptPage(
            "L.codec.variable.header",
            run.place(),
            found=f"{len(head)} bytes: {head.hex()}",
            wanted="offsets of 32 or 64 bits, and where the bytes start",
        )
    return size, bits // 8, int.from_bytes(start, "little")


CHUNK_BYTES = 4096
"""Bytes that offsets and values of a chunk aim at."""


def variable_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of values with plain offsets of 32 or 64 bits."""
    encoding = CompressiveEncoding()
    encoding.variable.offsets.CopyFrom(flat_encoding(bits))
    return encoding


def chunk_counts(values: Variable, bits: int, chunk_bytes: int, most: int) -> NDArray[np.int64]:
    """Return the values of each chunk: 2, 4, 8, … while the next step keeps to `chunk_bytes`.

    The rest of the values is one chunk when it fits; `most` bounds the values of a chunk.
    """
    offsets, width, total = values.offsets, bits // 8, values.count
    counts, at = [], 0
    while at < total:
        count = 2
        while count < most and at + 2 * count <= total:
            size = int(offsets[at + 2 * count] - offsets[at]) + (2 * count + 1) * width
            if size > chunk_bytes:
                break
            count *= 2
        rest = total - at
        rest_bytes = int(offsets[-1] - offsets[at]) + (rest + 1) * width
        if rest <= most and (rest <= count or (2 * count > rest and rest_bytes <= chunk_bytes)):
            count = rest
        counts.append(count)
        at += count
    return np.array(counts, np.int64)


def encode_mini(values: Variable, bits: int, counts: NDArray[np.int64]) -> MiniBlocks:
    """Encode chunks of `counts` values: offsets from the buffer's start, bytes, padding."""
    width = bits // 8
    ends = np.cumsum(counts)
    first = ends - counts
    tables = (counts + 1) * width
    sizes = tables + values.offsets[ends] - values.offsets[first]
    padded = -(-sizes // width) * width
    at = np.cumsum(padded) - padded
    out = np.full(int(padded.sum()), PADDING_BYTE, np.uint8)
    view, source = out.data, np.ascontiguousarray(values.data).data
    offsets = values.offsets
    for start, table, a, b in zip(at.tolist(), tables.tolist(), first.tolist(), ends.tolist()):
        low, high = int(offsets[a]), int(offsets[b])
        stored = offsets[a : b + 1] - (low - table)
        view[start : start + table] = stored.astype(f"<u{width}").data.cast("B")
        view[start + table : start + table + high - low] = source[low:high]
    return MiniBlocks(variable_encoding(bits), counts, ((out, padded),))


def encode_block(values: Variable, bits: int) -> bytes:
    """Encode one buffer: bits, position of the bytes, offsets, bytes."""
    word = f"<u{bits // 8}"
    start = (values.count + 3) * (bits // 8)
    header = np.array([bits, start], word)
    return header.tobytes() + values.offsets.astype(word).tobytes() + values.data.tobytes()


ALIGNMENT = 8
"""The header of a chunk and each buffer in it are padded to a multiple of this many bytes."""


def encode_short_offsets(
    values: Variable, bits: int, counts: NDArray[np.int64]
) -> MiniBlocks | None:
    """Encode chunks of `counts` values; None where plain offsets of `bits` take fewer bytes."""
    lengths, ends = np.diff(values.offsets), np.cumsum(counts)
    described = _without_bytes(lengths, bits, one_chunk=len(counts) == 1)
    stored: Part | None = None
    if described is None:
        numbers = lengths.astype(f"<u{bits // 8}")
        width = int(block_widths(numbers).max())
        stored = encode_out_of_line_chunks(numbers, counts, width)
        described = _delta(bits, 0, out_of_line_encoding(bits, width))
    sizes = values.offsets[ends] - values.offsets[ends - counts]
    parts = [sizes] if stored is None else [stored[1], sizes]
    taken = described.ByteSize() + _chunk_bytes(parts)
    if taken > flat_encoding(bits).ByteSize() + _chunk_bytes([(counts + 1) * (bits // 8) + sizes]):
        return None
    encoding = CompressiveEncoding()
    encoding.variable.offsets.CopyFrom(described)
    data: Part = values.data[int(values.offsets[0]) : int(values.offsets[-1])], sizes
    return MiniBlocks(encoding, counts, (data,) if stored is None else (stored, data))


def _chunk_bytes(parts: Sequence[NDArray[np.int64]]) -> int:
    """Return the bytes of chunks without levels whose buffers have these sizes."""
    header = ALIGNMENT * -(-(2 + 4 * len(parts)) // ALIGNMENT)
    padded = sum(int((-(-sizes // ALIGNMENT)).sum()) for sizes in parts)
    return header * len(parts[0]) + ALIGNMENT * padded


def _without_bytes(
    lengths: NDArray[np.int64], bits: int, *, one_chunk: bool
) -> CompressiveEncoding | None:
    """Return the description that says all of the offsets, None where there is none."""
    encoding, steps = CompressiveEncoding(), np.diff(lengths)
    if steps.any():
        if not one_chunk or steps[0] <= 0 or not (steps == steps[0]).all():
            return None
        return _delta(bits, 0, _range(bits, int(lengths[0]), int(steps[0])))
    if lengths[0]:
        return _range(bits, 0, int(lengths[0]))
    encoding.constant.value = bytes(bits // 8)
    return encoding


def _range(bits: int, start: int, step: int) -> CompressiveEncoding:
    encoding = CompressiveEncoding()
    encoding.range.uncompressed_bits_per_value = bits
    encoding.range.start, encoding.range.step = start, step
    return encoding


def _delta(bits: int, base: int, deltas: CompressiveEncoding) -> CompressiveEncoding:
    encoding = CompressiveEncoding()
    encoding.delta.uncompressed_bits_per_value = bits
    encoding.delta.base = base
    encoding.delta.deltas.CopyFrom(deltas)
    return encoding

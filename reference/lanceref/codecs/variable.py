"""Variable: byte strings with an offset table.

Layout in a chunk: `count + 1` offsets of 4 or 8 bytes, relative to the start of the buffer (so the
first is the size of the table), then the bytes, then padding with 0x48.
Layout as a block: u32 32, u32 start of the bytes, `count + 1` u32 offsets from 0, the bytes; or the
same with u64 64 and u64 offsets. An old header is u8 bits, u32 count, u32 start.

Clauses: L.codec.variable.offsets, L.codec.variable.table, L.codec.variable.header,
L.codec.variable.padding
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Variable
from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage, Place

PADDING_BYTE = 0x48
"""What the oracle fills a chunk's buffer up with: `H`."""


def decode_mini(run: ChunkRun, bits: int) -> Variable:
    """Decode buffer 0 of every chunk: offsets of `bits` bits, then bytes."""
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
    lengths = np.empty(run.num_values, np.int64)
    first, last = np.empty(run.num_chunks, np.int64), np.empty(run.num_chunks, np.int64)
    ends = np.cumsum(run.counts)
    for count, chunks in run.groups(run.counts):
        table = np.ascontiguousarray(run.rows(0, chunks, (count + 1) * width))
        offsets = table.view(f"<u{width}")
        _check_tables(run, chunks, offsets, width)
        signed = offsets.astype(np.int64)
        at = (ends[chunks] - count)[:, None] + np.arange(count)
        lengths[at] = np.diff(signed, axis=1)
        first[chunks], last[chunks] = signed[:, 0], signed[:, -1]
    _own(run, width, last)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    view, starts = run.data.data, run.starts[0]
    parts = zip((starts + first).tolist(), (starts + last).tolist())
    joined = b"".join([view[start:end] for start, end in parts])
    return Variable(offsets, np.frombuffer(joined, np.uint8))


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


def _own(run: ChunkRun, width: int, last: NDArray[np.int64]) -> None:
    """Own table, bytes and padding of every chunk, and lint the padding."""
    ctx = run.ctx
    if run.origin is not None or (ctx.spans is None and not ctx.validating):
        return
    clause = "L.codec.variable.padding"
    for chunk in range(run.num_chunks):
        start, size = run.base + int(run.starts[0, chunk]), int(run.sizes[0, chunk])
        table_bytes, used = (int(run.counts[chunk]) + 1) * width, int(last[chunk])
        ctx.leaf(
            start,
            start + table_bytes,
            "offsets",
            f"offsets u{8 * width}[]",
            "L.codec.variable.table",
        )
        ctx.leaf(start + table_bytes, start + used, "bytes", "bytes[]", "L.codec.variable.offsets")
        ctx.leaf(start + used, start + size, "padding", "padding", clause)
        padding = run.bytes_of(0, chunk)[used:]
        if np.any(padding != PADDING_BYTE):
            ctx.lint(
                clause,
                ctx.at(start + used, size - used),
                found=padding[:8].tobytes().hex(),
                wanted=f"bytes {PADDING_BYTE:02x}",
            )


def decode_block(cursor: Cursor, count: int) -> Variable:
    """Decode a block of `count` values that fills the cursor."""
    width, start, position = _header(cursor)
    table = cursor.array(f"<u{width}", count + 1, "offsets", "L.codec.variable.table")
    place = cursor.ctx.at(cursor.offset, cursor.remaining)
    if start != position + (count + 1) * width:
        raise CorruptPage(
            "L.codec.variable.header",
            place,
            found=f"bytes from {start}",
            wanted=f"bytes from {position + (count + 1) * width}",
        )
    check_offsets(table, cursor.remaining, "L.codec.variable.offsets", place)
    data = cursor.take(cursor.remaining, "bytes", "L.codec.variable.offsets", "bytes[]")
    return Variable(table.astype(np.int64), np.frombuffer(data, np.uint8))


def _header(cursor: Cursor) -> tuple[int, int, int]:
    """Return (offset width in bytes, start of the bytes, size of the header)."""
    clause = "L.codec.variable.header"
    place = cursor.ctx.at(cursor.offset, min(cursor.remaining, 16))
    cursor.require(4, "header", clause)
    word = bytes(cursor.data[cursor.position : cursor.position + 4])
    if any(word[1:]):
        bits = cursor.u8("bits", clause)
        cursor.u32("count", clause)
        start, size = cursor.u32("start of bytes", clause), 9
    elif word[0] == 64:
        bits = cursor.u64("bits", clause)
        start, size = cursor.u64("start of bytes", clause), 16
    else:
        bits = cursor.u32("bits", clause)
        start, size = cursor.u32("start of bytes", clause), 8
    if bits not in (32, 64):
        raise CorruptPage(clause, place, found=f"{bits} bits", wanted="32 or 64")
    return bits // 8, start, size


def check_offsets(offsets: NDArray[np.generic], size: int, clause: str, place: Place) -> None:
    """Refuse offsets that do not start at 0, fall, or pass `size`."""
    wide = offsets.astype(np.uint64)
    if len(wide) and (wide[0] != 0 or np.any(wide[1:] < wide[:-1]) or int(wide[-1]) > size):
        raise CorruptPage(
            clause,
            place,
            found=f"offsets {wide[:4].tolist()} to {int(wide[-1])}",
            wanted=f"0, never falling, at most {size}",
        )

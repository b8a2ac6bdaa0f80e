"""Arrow file: who owns which byte of an Arrow IPC file.

Values come from the library; this walk says where they lie. It runs for `explain` and
`validate`, after the library has accepted the file by its footer: it follows the messages from the
start of the file, and reads no more of them than where the buffers lie.

Layout: `ARROW1`, zeros to the first message; messages of {u32 continuation, u32 length, metadata,
body}; an end-of-stream message without metadata; the footer, its u32 length, `ARROW1`. A compressed
buffer starts with its plain size as i64, or -1 where the plain bytes follow.

Clauses: L.table.deletions.arrow
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import pyarrow as pa

from lanceref.core.context import Context

CLAUSE = "L.table.deletions.arrow"

MAGIC = b"ARROW1"
"""First and last bytes of an Arrow IPC file."""

STORED = 2**64 - 1
"""Plain size (-1) of an uncompressed buffer in a compressed body."""

BLOCKS = {0: "lz4 frame", 1: "zstd block"}
"""Kind of a compressed buffer by the codec of the body."""

_BATCHES_SLOT = 3
"""Slot of the record batches in the footer."""

_BLOCK_BYTES = 24
"""Size of the footer's entry of one batch: i64 position, i32 size of the metadata, i64 body."""
_HEADER_SLOT, _BUFFERS_SLOT, _COMPRESSION_SLOT, _CODEC_SLOT = 2, 2, 3, 0

Body = tuple[list[tuple[int, int]], str | None]
"""Buffers of a record batch as (start in the body, size), and the kind of its blocks."""


def expanded_bytes(data: pa.Buffer) -> int:
    """Return the bytes that the batches of a file take once read, as they claim it.

    Called when the library has accepted the footer; each message passes the library before it is
    looked into. Raises ValueError where the footer lists something else than a batch.
    """
    whole, total = bytes(data), 0
    end = len(whole) - len(MAGIC) - 4
    footer = whole[end - _unsigned(whole, end, 4) : end]
    root = _unsigned(footer, 0, 4)
    if not _slot(footer, root, _BATCHES_SLOT):
        return 0
    blocks = _child(footer, root, _BATCHES_SLOT)
    for number in range(_unsigned(footer, blocks, 4)):
        at = _unsigned(footer, blocks + 4 + number * _BLOCK_BYTES, 8)
        if at >= len(whole):
            raise ValueError(f"a batch at {at} of {len(whole)} bytes")
        message = pa.ipc.read_message(data.slice(at))
        if message.type != "record batch":
            raise ValueError(f"a {message.type} message where a batch is listed")
        total += _claimed(message)
    return total


def expanded_stream_bytes(data: pa.Buffer) -> int:
    """Return the same of a stream. Raises ValueError where a batch has no body."""
    messages = list(pa.ipc.MessageReader.open_stream(data))
    return sum(_claimed(one) for one in messages if one.type == "record batch")


def _claimed(message: pa.ipc.Message) -> int:
    """Return the bytes that a batch claims to take once read."""
    buffers, block = _parse_body(bytes(message.metadata))
    stored, total = b"" if message.body is None else bytes(message.body), 0
    for start, size in buffers:
        plain = _unsigned(stored, start, 8) if block and size else STORED
        total += size if plain == STORED else plain
    return total


def own_arrow_file(ctx: Context, data: pa.Buffer, names: tuple[tuple[str, str], ...]) -> None:
    """Own every byte of a valid Arrow file; `names` are the name and kind of each buffer."""
    size, whole = data.size, bytes(data)
    at = size - len(whole[len(MAGIC) :].lstrip(b"\0"))
    ctx.leaf(0, len(MAGIC), "magic", "magic", CLAUSE, MAGIC)
    ctx.leaf(len(MAGIC), at, "padding", "padding", CLAUSE)
    at = _own_messages(ctx, data, at, names, CLAUSE)
    ctx.leaf(at, at + 8, "end of stream", "message prefix", CLAUSE)
    end = size - len(MAGIC) - 4
    footer = max(at + 8, end - _unsigned(whole, end, 4))
    ctx.leaf(at + 8, footer, "padding", "padding", CLAUSE)
    ctx.leaf(footer, end, "footer", "arrow message", CLAUSE)
    ctx.leaf(end, end + 4, "footer length", "u32", CLAUSE, end - footer)
    ctx.leaf(end + 4, size, "magic", "magic", CLAUSE, MAGIC)


def own_arrow_stream(ctx: Context, data: pa.Buffer, clause: str) -> None:
    """Own every byte of a valid Arrow stream, whose buffers are numbered."""
    names = ((f"buffer {number}", "arrow buffer") for number in count())
    at = _own_messages(ctx, data, 0, names, clause)
    ctx.leaf(at, data.size, "end of stream", "message prefix", clause)


def _own_messages(
    ctx: Context, data: pa.Buffer, at: int, names: Iterable[tuple[str, str]], clause: str
) -> int:
    """Own the messages from a place on, and return where they end."""
    first, whole = data.address, bytes(data)
    for message in pa.ipc.MessageReader.open_stream(data.slice(at)):
        meta = message.metadata.address - first
        ctx.leaf(at, meta, "continuation and length", "message prefix", clause)
        at = meta + message.metadata.size
        ctx.leaf(meta, at, f"{message.type} message", "arrow message", clause)
        if message.body is None or not message.body.size:
            continue
        body = message.body.address - first
        buffers, block = _parse_body(bytes(message.metadata))
        ctx.leaf(at, body, "padding", "padding", clause)
        at = body
        for (delta, size), (name, kind) in zip(buffers, names, strict=False):
            start, end = body + delta, body + delta + size
            ctx.leaf(at, start, "padding", "padding", clause)
            if block is not None and size:
                plain = _unsigned(whole, start, 8)
                ctx.leaf(start, start + 8, f"plain size of {name}", "i64", clause)
                ctx.leaf(start + 8, end, name, kind if plain == STORED else block, clause)
            else:
                ctx.leaf(start, end, name, kind, clause)
            at = end
        ctx.leaf(at, body + message.body.size, "padding", "padding", clause)
        at = body + message.body.size
    return at


def _parse_body(metadata: bytes) -> Body:
    """Return where the buffers of a record batch message lie."""
    batch = _child(metadata, _unsigned(metadata, 0, 4), _HEADER_SLOT)
    vector = _child(metadata, batch, _BUFFERS_SLOT)
    starts = range(vector + 4, vector + 4 + 16 * _unsigned(metadata, vector, 4), 16)
    buffers = [(_unsigned(metadata, s, 8), _unsigned(metadata, s + 8, 8)) for s in starts]
    if not _slot(metadata, batch, _COMPRESSION_SLOT):
        return buffers, None
    compression = _child(metadata, batch, _COMPRESSION_SLOT)
    codec = _slot(metadata, compression, _CODEC_SLOT)
    return buffers, BLOCKS[metadata[codec] if codec else 0]


def _child(data: bytes, table: int, slot: int) -> int:
    place = _slot(data, table, slot)
    return place + _unsigned(data, place, 4)


def _slot(data: bytes, table: int, slot: int) -> int:
    """Return the place of a field of a table; 0 when the table does not have it."""
    entries = table - int.from_bytes(data[table : table + 4], "little", signed=True)
    if 4 + 2 * slot >= _unsigned(data, entries, 2):
        return 0
    delta = _unsigned(data, entries + 4 + 2 * slot, 2)
    return table + delta if delta else 0


def _unsigned(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "little")

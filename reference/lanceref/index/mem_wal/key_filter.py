"""Key filter: which primary keys a flushed generation may have, a split-block Bloom filter.

It only spares a look at the keys themselves, in `_pk_index`; a reader need not ask it.

Layout: `_mem_wal/{shard}/{generation}/bloom_filter.bin`: blocks of eight u32 words.

Clauses: L.index.mem-wal.key-filter

Key hashes: by which the filter of a flushed generation knows a primary key.

The hash is SipHash-1-3 with a key of zeros, over the columns of the primary key one after the
other, each a zero byte and then its value: integers of 32 and 64 bits little-endian, text and a
byte 0xff, bytes behind their number (u64).

How values of other types are hashed is not known here.

Clauses: L.index.mem-wal.key-filter
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.index.bloom import BLOCK_BYTES, WORDS, Blocks, Hashes, fill
from lanceref.storage import Source

MASK = 2**64 - 1
START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
"""State of SipHash before the first word."""

VALUES: dict[pa.DataType, Callable[..., bytes]] = {
    pa.int32(): lambda value: pack("<xi", value),
    pa.int64(): lambda value: pack("<xq", value),
    pa.string(): lambda value: b"\0" + value.encode() + b"\xff",
    pa.binary(): lambda value: pack("<xQ", len(value)) + value,
}
"""What is hashed of a value, by type."""


def key_hashes(columns: Sequence[pa.ChunkedArray]) -> Hashes | None:
    """Return the hash of the key of each row, uint64, None where a type is of others."""
    if not all(column.type in VALUES for column in columns):
        return None
    parts = [map(VALUES[column.type], column.to_pylist()) for column in columns]
    return np.fromiter((sip_hash(b"".join(key)) for key in zip(*parts, strict=True)), np.uint64)


def sip_hash(data: bytes) -> int:
    """Return SipHash-1-3 of bytes: one round a word of 64 bits, three at the end."""
    state = START
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for word in (int.from_bytes(padded[at : at + 8], "little") for at in range(0, len(padded), 8)):
        first, second, third, fourth = state
        first, second, third, fourth = _round(first, second, third, fourth ^ word)
        state = first ^ word, second, third, fourth
    first, second, third, fourth = state
    state = first, second, third ^ 0xFF, fourth
    for _ in range(3):
        state = _round(*state)
    first, second, third, fourth = state
    return first ^ second ^ third ^ fourth


def _round(first: int, second: int, third: int, fourth: int) -> tuple[int, int, int, int]:
    first = (first + second) & MASK
    second = _turned(second, 13) ^ first
    first = _turned(first, 32)
    third = (third + fourth) & MASK
    fourth = _turned(fourth, 16) ^ third
    first = (first + fourth) & MASK
    fourth = _turned(fourth, 21) ^ first
    third = (third + second) & MASK
    second = _turned(second, 17) ^ third
    return first, second, _turned(third, 32), fourth


def _turned(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & MASK


FILE = "bloom_filter.bin"
CLAUSE = "L.index.mem-wal.key-filter"

SIZE_BYTES = 2**15
"""Size of a filter that is written."""


def parse_key_filter(source: Source, ctx: Context) -> Blocks:
    """Return the blocks of a filter, [blocks, 8]. Raises CorruptPage."""
    size = source.size
    blocks, rest = divmod(size, BLOCK_BYTES)
    if rest or not blocks:
        raise CorruptPage(
            CLAUSE, ctx.at(0, size), found=f"{size} bytes", wanted=f"a multiple of {BLOCK_BYTES}"
        )
    cursor = FileBytes(source, ctx).cursor(Extent(0, size), "key filter", CLAUSE)
    words = cursor.array("<u4", blocks * WORDS, "words", CLAUSE)
    return words.reshape(blocks, WORDS).astype(np.uint32, copy=False)


def key_filter(columns: Sequence[pa.ChunkedArray]) -> bytes:
    """Return a filter that has the keys of rows; every key, where their hash is not known."""
    hashes = key_hashes(columns)
    return b"\xff" * SIZE_BYTES if hashes is None else fill(hashes, SIZE_BYTES).tobytes()


def check_key_filter(source: Source, ctx: Context) -> None:
    """Parse a filter for `explain`."""
    with ctx.piece():
        parse_key_filter(source, ctx)

"""Key filter: which primary keys a flushed generation may have, a split-block Bloom filter.

It only saves a look at the keys themselves, in `_pk_index`; a reader need not use it. The hash of a
key is SipHash-1-3 with a key of zeros, over the columns of the primary key one after the other,
each a zero byte and then its value: integers of 32 and 64 bits little-endian, text and a byte 0xff,
bytes after their number (u64). How values of other types are hashed is not known.

Layout: `_mem_wal/{shard}/{generation}/bloom_filter.bin`: blocks of eight u32 words.

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
from lanceref.index.bloom import BLOCK_BYTES, WORDS, Blocks, Hashes
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
    """Return the hash of the key of each row, uint64, None where a type is of others: (rows,)."""
    if not all(column.type in VALUES for column in columns):
        return None
    parts = [map(VALUES[column.type], column.to_pylist()) for column in columns]
    return np.fromiter((sip_hash(b"".join(key)) for key in zip(*parts, strict=True)), np.uint64)


def sip_hash(data: bytes) -> int:
    """Return SipHash-1-3 of bytes: one round a word of 64 bits, three at the end."""
    state = START
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        first, second, third, fourth = _round(*state[:3], state[3] ^ word)
        state = first ^ word, second, third, fourth
    state = state[0], state[1], state[2] ^ 0xFF, state[3]
    for _ in range(3):
        state = _round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _round(first: int, second: int, third: int, fourth: int) -> tuple[int, int, int, int]:
    first = (first + second) & MASK
    second = _rotated(second, 13) ^ first
    first = _rotated(first, 32)
    third = (third + fourth) & MASK
    fourth = _rotated(fourth, 16) ^ third
    first = (first + fourth) & MASK
    fourth = _rotated(fourth, 21) ^ first
    third = (third + second) & MASK
    second = _rotated(second, 17) ^ third
    return first, second, _rotated(third, 32), fourth


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & MASK


FILE = "bloom_filter.bin"
CLAUSE = "L.index.mem-wal.key-filter"


def parse_key_filter(source: Source, ctx: Context) -> Blocks:
    """Return the blocks of a filter, [blocks, 8]. Raises CorruptPage."""
    size = source.size
    blocks, rest = divmod(size, BLOCK_BYTES)
    if rest or not blocks:
        wanted = f"a multiple of {BLOCK_BYTES}"
        raise CorruptPage(CLAUSE, ctx.at(0, size), f"{size} bytes", wanted)
    cursor = FileBytes(source, ctx).cursor(Extent(0, size), "key filter", CLAUSE)
    words = cursor.array("<u4", blocks * WORDS, "words", CLAUSE)
    return words.reshape(blocks, WORDS).astype(np.uint32, copy=False)


def check_key_filter(source: Source, ctx: Context) -> None:
    """Parse a filter of primary keys, as `explain` and `validate` need."""
    with ctx.piece():
        parse_key_filter(source, ctx)

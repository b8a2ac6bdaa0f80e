"""Key filter: which primary keys a flushed generation may have, a split-block Bloom filter.

It only spares a look at the keys themselves, in `_pk_index`; a reader need not ask it.

Layout: `_mem_wal/{shard}/{generation}/bloom_filter.bin`: blocks of eight u32 words.

Clauses: L.index.mem-wal.key-filter
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.index.bloom import BLOCK_BYTES, WORDS, Blocks, fill
from lanceref.index.mem_wal.key_hash import key_hashes
from lanceref.storage import Source

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

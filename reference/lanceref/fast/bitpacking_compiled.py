"""Bit unpacking, compiled: every block goes from the bytes that were read to its place in one pass.

The specification is `codecs.bitpack`. Blocks of different widths are unpacked in turn, so chunks
are not grouped by width. All blocks have been checked to lie inside the data, and widths to be at
most those of a word.
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.bitpack import BLOCK, Unsigned, row_start
from lanceref.codecs.values import Bytes, Ints
from lanceref.fast.fsst_compiled import compiled

ROW_STARTS = np.array([row_start(row) for row in range(64)])
"""Where the rows of a block lie, for words of up to 64 bits."""


@compiled
def unpack_block(words: Unsigned, width: int, row_starts: Ints, out: Unsigned) -> None:
    """Unpack one block of `width` bits, less than a word has: `words` (width * L,), `out` (1024,).

    Rows are cut out and each term is cast to the type of the words: that gives vector instructions.
    """
    word, bits = out.dtype.type, 8 * out.itemsize
    lanes, mask = BLOCK // bits, word((word(1) << word(width)) - word(1))
    for row in range(bits):
        k, shift = (row * width) // bits, (row * width) % bits
        low, to = words[k * lanes : k * lanes + lanes], row_starts[row]
        values, down = out[to : to + lanes], word(shift)
        if shift + width > bits:
            high = words[(k + 1) * lanes : (k + 1) * lanes + lanes]
            up = word(bits - shift)
            for lane in range(lanes):
                values[lane] = (word(low[lane] >> down) | word(high[lane] << up)) & mask
        else:
            for lane in range(lanes):
                values[lane] = word(low[lane] >> down) & mask


@compiled
def unpack_blocks(data: Bytes, starts: Ints, widths: Ints, row_starts: Ints, out: Unsigned) -> None:
    """Unpack a block from each of `starts` in `data`.

    `data` (bytes,) uint8, contiguous; `starts` (blocks,) int64, offsets in bytes; `widths`
    (blocks,) int64, in bits; `row_starts` (64,) int64; `out` (blocks, 1024), unsigned words.
    """
    bits = 8 * out.itemsize
    lanes = BLOCK // bits
    for block in range(len(starts)):
        width, target = widths[block], out[block]
        if width == 0:
            target[:] = 0
            continue
        start = starts[block]
        words = data[start : start + width * (BLOCK // 8)].view(out.dtype)
        if width < bits:
            unpack_block(words, width, row_starts, target)
            continue
        for row in range(bits):
            to = row_starts[row]
            target[to : to + lanes] = words[row * lanes : row * lanes + lanes]

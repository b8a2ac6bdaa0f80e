"""Posting blocks of 128 parsed many at a time, and the numbers in them.

What is wrong in any of them is found by parsing them one by one. The specifications are
`index.full_text.posting_blocks.parse_full_blocks` and those of `index.full_text.packed_integers`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.index.full_text import packed_integers, posting_blocks
from lanceref.index.full_text.packed_integers import MOST_BYTES, PER_LANE, Counts, Numbers
from lanceref.index.full_text.posting_blocks import SMALL, Blobs, BlockLayout, Postings

RUN = 1024
"""Blocks of 128 that are unpacked together."""

HEAD_BYTES = 8
"""Score and first document."""

SHORT = MOST_BYTES - 1
"""Bytes of a number that cannot have too many bits."""

FEW = 8
"""Varints from which on parsing all at once pays."""


@posting_blocks.parse_full_blocks.replaced_by
def parse_full_blocks(blocks: Blobs, num_documents: int, layout: BlockLayout) -> list[Postings]:
    """Parse the full blocks of a token. Raises FormatError."""
    if len(blocks) and layout.size == SMALL and blocks.ctx.spans is None:
        together = full_postings(blocks, num_documents)
        if together is not None:
            return [Postings(*np.empty((2, 0), np.uint32)), together]
    return posting_blocks.parse_full_blocks.plain(blocks, num_documents, layout)


def full_postings(blocks: Blobs, num_documents: int) -> Postings | None:
    """Return the postings of full blocks of 128, many at a time; None when anything is wrong."""
    parts = [Postings(*np.empty((2, 0), np.uint32))]
    for first in range(0, len(blocks), RUN):
        before = int(parts[-1].documents[-1]) if first else -1
        part = _parse_full(blocks.part(first, first + RUN), before, num_documents)
        if part is None:
            return None
        parts.append(part)
    return Postings(
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.frequencies for part in parts]),
    )


def _parse_full(blocks: Blobs, before: int, num_documents: int) -> Postings | None:
    data, starts, sizes = blocks.data, blocks.ends[:-1], np.diff(blocks.ends)
    if np.any(sizes < HEAD_BYTES + 2):
        return None
    widths = data[starts + HEAD_BYTES].astype(np.int64)
    counted = starts + HEAD_BYTES + 1 + SMALL // 8 * widths
    if np.any(counted >= starts + sizes):
        return None
    second = data[counted].astype(np.int64)
    ends = counted + 1 + SMALL // 8 * second
    if max(widths.max(), second.max()) > PER_LANE or np.any(ends != starts + sizes):
        return None
    firsts = data[starts[:, None] + np.arange(4, HEAD_BYTES)].view("<u4").astype(np.uint64)
    steps = _unpacked(data, starts + HEAD_BYTES + 1, widths)
    documents = (np.cumsum(steps, axis=1, dtype=np.uint64) + firsts).reshape(-1)
    frequencies = _unpacked(data, counted + 1, second).reshape(-1)
    rising = documents[0] > before and not np.any(documents[1:] <= documents[:-1])
    if not rising or documents[-1] >= num_documents or not frequencies.all():
        return None
    return Postings(documents.astype(np.uint32), frequencies)


def _unpacked(data: NDArray[np.uint8], starts: Counts, widths: Counts) -> Numbers:
    """Return the numbers of groups that begin at some places: [groups, 128]."""
    numbers = np.zeros((len(starts), SMALL), np.uint32)
    for width in np.unique(widths[widths > 0]).tolist():
        own = np.flatnonzero(widths == width)
        rows = data[starts[own][:, None] + np.arange(SMALL // 8 * width)]
        numbers[own] = unpack_rows(rows, width, SMALL // PER_LANE)
    return numbers


def unpack_rows(rows: NDArray[np.uint8], width_bits: int, lanes: int) -> Numbers:
    """Return the numbers of groups with 1 bit or more: [groups, bytes] to [groups, 32 x lanes]."""
    words = rows.view("<u4").reshape(len(rows), width_bits, lanes)
    word, bit = np.divmod(np.arange(PER_LANE) * width_bits, 32)
    numbers = words.take(word, axis=1)
    numbers >>= bit.astype(np.uint32)[:, np.newaxis]
    split = np.flatnonzero(bit + width_bits > 32)  # these go on in the next word
    rest = words.take(word[split] + 1, axis=1)
    rest <<= (32 - bit[split]).astype(np.uint32)[:, np.newaxis]
    numbers[:, split] |= rest
    numbers &= np.uint32((1 << width_bits) - 1)
    return numbers.reshape(len(rows), PER_LANE * lanes)


@packed_integers.parse_varints.replaced_by
def parse_varints(cursor: Cursor, count: int, name: str) -> Numbers:
    """Parse so many numbers, at least a byte each: (count,). Raises FormatError."""
    cursor.require(count, name, "L.index.fts.varint")
    if count >= FEW and cursor.ctx.spans is None:
        octets = np.frombuffer(cursor.data, np.uint8)[cursor.position :][: MOST_BYTES * count]
        ends = np.flatnonzero(octets < 0x80)[:count]
        starts = np.append(0, ends[:-1] + 1)
        if len(ends) == count and int((ends - starts).max()) < SHORT:
            cursor.skip(int(ends[-1]) + 1, name, "L.index.fts.varint")
            values = np.zeros(count, np.uint32)
            for number in range(int((ends - starts).max()) + 1):
                there = starts + number <= ends
                bits = (octets[starts[there] + number] & 0x7F).astype(np.uint32)
                values[there] |= bits << 7 * number
            return values
    return packed_integers.parse_varints.plain(cursor, count, name)

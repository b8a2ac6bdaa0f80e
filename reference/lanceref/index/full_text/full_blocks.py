"""Full blocks: postings of 128 documents each, many blocks parsed at a time.

What is not as it should be is left to who parses block by block, and says where it is.

Layout of a block (little-endian): f32 highest score; u32 first document; u8 width and packed steps
from document to document; u8 width and packed frequencies.

Clauses: L.index.fts.posting.width, L.index.fts.posting.end, L.index.fts.posting.documents,
L.index.fts.posting.frequency
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.index.full_text.bit_packer import PER_LANE, Numbers, unpack_rows
from lanceref.index.full_text.blobs import Blobs

LANES = 4
SIZE = LANES * PER_LANE
"""Documents of a block."""

HEAD_BYTES = 8
"""Score and first document."""

RUN = 1024
"""Blocks that are unpacked together."""

Places = NDArray[np.int64]


def full_postings(blocks: Blobs, num_documents: int) -> tuple[Numbers, Numbers] | None:
    """Return documents and frequencies of blocks, None when anything is wrong with them.

    Documents have to rise, and to be below `num_documents`.
    """
    before = -1
    documents: list[Numbers] = [np.empty(0, np.uint32)]
    frequencies: list[Numbers] = [np.empty(0, np.uint32)]
    for first in range(0, len(blocks), RUN):
        part = _parse(blocks[first : first + RUN], before, num_documents)
        if part is None:
            return None
        documents.append(part[0])
        frequencies.append(part[1])
        before = int(part[0][-1])
    return np.concatenate(documents), np.concatenate(frequencies)


def _parse(blocks: Blobs, before: int, num_documents: int) -> tuple[Numbers, Numbers] | None:
    data, starts, sizes = blocks.data, blocks.ends[:-1], np.diff(blocks.ends)
    if np.any(sizes < HEAD_BYTES + 2):
        return None
    widths = data[starts + HEAD_BYTES].astype(np.int64)
    counted = starts + HEAD_BYTES + 1 + 4 * LANES * widths
    if np.any(counted >= starts + sizes):
        return None
    second = data[counted].astype(np.int64)
    ends = counted + 1 + 4 * LANES * second
    if max(widths.max(), second.max()) > PER_LANE or np.any(ends != starts + sizes):
        return None
    firsts = data[starts[:, None] + np.arange(4, HEAD_BYTES)].view("<u4").astype(np.uint64)
    steps = _unpacked(data, starts + HEAD_BYTES + 1, widths)
    documents = (np.cumsum(steps, axis=1, dtype=np.uint64) + firsts).reshape(-1)
    frequencies = _unpacked(data, counted + 1, second).reshape(-1)
    rising = documents[0] > before and not np.any(documents[1:] <= documents[:-1])
    if not rising or documents[-1] >= num_documents or not frequencies.all():
        return None
    return documents.astype(np.uint32), frequencies


def _unpacked(data: NDArray[np.uint8], starts: Places, widths: Places) -> Numbers:
    """Return the numbers of groups that begin at some places: [groups, 128]."""
    found = np.zeros((len(starts), SIZE), np.uint32)
    for width in np.unique(widths[widths > 0]).tolist():
        own = np.flatnonzero(widths == width)
        rows = data[starts[own][:, None] + np.arange(4 * LANES * width)]
        found[own] = unpack_rows(rows, width, LANES)
    return found

"""Bitmaps cut out of bitmaps, moved together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.encodings_2_0.rows import RowRanges


def joined(
    data: NDArray[np.uint8], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return `counts` (n,) bits from each piece, packed from bit 0.

    `data` holds, one piece after another, the bytes that the bits `starts`..`starts + counts` of
    some bitmap touch.
    """
    skipped = starts % 8
    behind = -(skipped + counts) % 8
    runs = np.stack((skipped, counts, behind), 1).reshape(-1)
    wanted = np.repeat(np.tile([False, True, False], len(starts)), runs)
    return np.packbits(np.unpackbits(data, bitorder="little")[wanted], bitorder="little")


def cut(data: NDArray[np.uint8], start: int, count: int) -> NDArray[np.uint8]:
    """Return `count` bits from bit `start` on, packed from bit 0, with zeros behind the last."""
    first, skipped = divmod(start, 8)
    if skipped:
        bits = np.unpackbits(data[first:], count=skipped + count, bitorder="little")
        return np.packbits(bits[skipped:], bitorder="little")
    bits = data[first : first + -(-count // 8)]
    if count % 8 == 0 or not len(bits) or not bits[-1] >> (count % 8):
        return bits
    return np.append(bits[:-1], np.uint8(bits[-1] & ((1 << count % 8) - 1)))


def gather(cuts: list[memoryview], rows: RowRanges, bits: int) -> NDArray[np.uint8]:
    """Join the bytes cut for each range; bitmaps are moved so that they start at bit 0."""
    data = np.frombuffer(cuts[0] if len(cuts) == 1 else b"".join(cuts), np.uint8)
    if bits != 1 or (len(cuts) == 1 and rows.bounds[0][0] % 8 == 0):
        return data
    bounds = np.array(rows.bounds, np.int64).reshape(-1, 2)
    return joined(data, bounds[:, 0], bounds[:, 1] - bounds[:, 0])

"""Bitmaps cut out of bitmaps, moved together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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

"""Sequences of 2.3 that need few bytes or none: constant, range, delta.

Layout: `constant` holds its value in the description (none: an empty sequence); `range` its start
and step; `delta` its first value, the differences being coded by a child.

Clauses: L.codec.constant.width, L.codec.range.overflow, L.codec.delta.overflow
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Fixed
from lanceref.errors import CorruptPage, Place
from lanceref.proto import encodings_v2_1_pb2 as pb

WIDTHS = (32, 64)
"""Bits of a value of a sequence."""


def constant(encoding: pb.Constant, count: int, place: Place) -> Fixed:
    """Repeat the value `count` times."""
    width = len(encoding.value)
    if (width == 0 and count) or width not in (0, 1, 2, 4, 8):
        raise CorruptPage(
            "L.codec.constant.width", place, found=f"{width} bytes", wanted="1, 2, 4 or 8 bytes"
        )
    return Fixed(8 * width, count, np.frombuffer(encoding.value * count, np.uint8))


def range_of(encoding: pb.Range, count: int, place: Place) -> Fixed:
    """Count from `start` by `step`."""
    bits = encoding.uncompressed_bits_per_value
    last = encoding.start + encoding.step * max(0, count - 1)
    if bits not in WIDTHS or last >= 2 ** min(bits, 64):
        raise CorruptPage(
            "L.codec.range.overflow",
            place,
            found=f"{last} in {bits} bits",
            wanted="a last value that fits 32 or 64 bits",
        )
    values = np.arange(count, dtype=np.uint64) * np.uint64(encoding.step)
    return _fixed(values + np.uint64(encoding.start), bits, count)


def delta(encoding: pb.Delta, deltas: NDArray[np.uint64], count: int, place: Place) -> Fixed:
    """Add up `count - 1` differences behind the base."""
    bits = encoding.uncompressed_bits_per_value
    total = encoding.base + sum(deltas.tolist())
    if bits not in WIDTHS or total >= 2 ** min(bits, 64):
        raise CorruptPage(
            "L.codec.delta.overflow",
            place,
            found=f"{total} in {bits} bits",
            wanted="a last value that fits 32 or 64 bits",
        )
    values = np.cumsum(np.append(np.uint64(encoding.base), deltas), dtype=np.uint64)[:count]
    return _fixed(values, bits, count)


def _fixed(values: NDArray[np.uint64], bits: int, count: int) -> Fixed:
    return Fixed(bits, count, values.astype(f"<u{bits // 8}").view(np.uint8))

"""Encoded values: what the encoders give to the page layouts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

Part = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""One buffer of all chunks: their bytes joined, and its size in each chunk."""


@dataclass(frozen=True, slots=True)
class MiniBlocks:
    """Values cut into chunks: `counts` values in each, and the value buffers of all of them.

    All counts but the last are powers of two. The last chunk's word says nothing of its count,
    unless `last_says_count`.
    """

    encoding: CompressiveEncoding
    counts: NDArray[np.int64]
    buffers: tuple[Part, ...]
    last_says_count: bool = False


def flat_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of plain values."""
    encoding = CompressiveEncoding()
    encoding.flat.bits_per_value = bits
    return encoding


def even_counts(count: int, per_chunk: int) -> NDArray[np.int64]:
    """Return the values of each chunk when all but the last have `per_chunk`."""
    counts = np.full(-(-count // per_chunk), per_chunk, np.int64)
    counts[-1:] = count - per_chunk * (len(counts) - 1)
    return counts

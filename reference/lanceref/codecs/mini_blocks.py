"""Chunks that are written: values cut into chunks, the buffers of all of them, and plain ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bytes, Ints, join_pieces
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

Part = tuple[Bytes, Ints]
"""One buffer of all chunks: their bytes joined, and its size in each chunk."""


@dataclass(frozen=True, slots=True)
class MiniBlocks:
    """Values cut into chunks: `counts` values in each, and the value buffers of all of them.

    All counts but the last are powers of two. The last chunk's word leaves out its count,
    unless `last_says_count`.
    """

    encoding: CompressiveEncoding
    counts: Ints
    buffers: tuple[Part, ...]
    last_says_count: bool = False


def flat_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of values stored one after the other."""
    return CompressiveEncoding(flat={"bits_per_value": bits})


def flat_blocks(values: NDArray[np.unsignedinteger], counts: Ints) -> Part:
    """Encode chunks of `counts` integers one after the other; return bytes and sizes.

    `values` (n,), `counts` (chunks,).
    """
    return values.view(np.uint8), counts * values.dtype.itemsize


def even_counts(count: int, per_chunk: int) -> Ints:
    """Return the values of each chunk when all but the last have `per_chunk`.

    The result is (chunks,).
    """
    counts = np.full(-(-count // per_chunk), per_chunk, np.int64)
    counts[-1:] = count - per_chunk * (len(counts) - 1)
    return counts


def weave(columns: Sequence[Part]) -> Part:
    """Join for every row the next bytes of each column, in their order; return bytes and sizes.

    A column has the bytes of all rows, joined, and how many each has: (rows,).
    """
    sizes = np.stack([counts for _, counts in columns], axis=1)
    filled = [(data, counts) for data, counts in columns if len(data)]
    if len(filled) < 2:
        data = filled[0][0] if filled else np.zeros(0, np.uint8)
        return data[: int(sizes.sum())], sizes.sum(axis=1)
    taken = np.stack([counts for _, counts in filled], axis=1)
    firsts = np.cumsum([0, *(len(data) for data, _ in filled)])[:-1]
    starts = firsts + np.cumsum(taken, axis=0) - taken
    joined = np.concatenate([data for data, _ in filled])
    return join_pieces(joined, starts.reshape(-1), (starts + taken).reshape(-1)), sizes.sum(axis=1)

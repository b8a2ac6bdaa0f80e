"""Variable-width values, encoded: offsets and bytes.

Layout: see `variable`.

Clauses: L.codec.variable.offsets
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.encoded import MiniBlocks, flat_encoding
from lanceref.codecs.values import Variable
from lanceref.codecs.variable import PADDING_BYTE
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

CHUNK_BYTES = 4096
"""Bytes that offsets and values of a chunk aim at."""


def variable_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of values with plain offsets of 32 or 64 bits."""
    encoding = CompressiveEncoding()
    encoding.variable.offsets.CopyFrom(flat_encoding(bits))
    return encoding


def chunk_counts(values: Variable, bits: int, chunk_bytes: int, most: int) -> NDArray[np.int64]:
    """Return the values of each chunk: 2, 4, 8, … while the next step keeps to `chunk_bytes`.

    The rest of the values is one chunk when it fits; `most` bounds the values of a chunk.
    """
    offsets, width, total = values.offsets, bits // 8, values.count
    counts, at = [], 0
    while at < total:
        count = 2
        while count < most and at + 2 * count <= total:
            size = int(offsets[at + 2 * count] - offsets[at]) + (2 * count + 1) * width
            if size > chunk_bytes:
                break
            count *= 2
        rest = total - at
        rest_bytes = int(offsets[-1] - offsets[at]) + (rest + 1) * width
        if rest <= most and (rest <= count or (2 * count > rest and rest_bytes <= chunk_bytes)):
            count = rest
        counts.append(count)
        at += count
    return np.array(counts, np.int64)


def encode_mini(values: Variable, bits: int, counts: NDArray[np.int64]) -> MiniBlocks:
    """Encode chunks of `counts` values: offsets from the buffer's start, bytes, padding."""
    width = bits // 8
    ends = np.cumsum(counts)
    first = ends - counts
    tables = (counts + 1) * width
    sizes = tables + values.offsets[ends] - values.offsets[first]
    padded = -(-sizes // width) * width
    at = np.cumsum(padded) - padded
    out = np.full(int(padded.sum()), PADDING_BYTE, np.uint8)
    view, source = out.data, np.ascontiguousarray(values.data).data
    offsets = values.offsets
    for start, table, a, b in zip(at.tolist(), tables.tolist(), first.tolist(), ends.tolist()):
        low, high = int(offsets[a]), int(offsets[b])
        stored = offsets[a : b + 1] - (low - table)
        view[start : start + table] = stored.astype(f"<u{width}").data.cast("B")
        view[start + table : start + table + high - low] = source[low:high]
    return MiniBlocks(variable_encoding(bits), counts, ((out, padded),))


def encode_block(values: Variable, bits: int) -> bytes:
    """Encode one buffer: bits, position of the bytes, offsets, bytes."""
    word = f"<u{bits // 8}"
    start = (values.count + 3) * (bits // 8)
    header = np.array([bits, start], word)
    return header.tobytes() + values.offsets.astype(word).tobytes() + values.data.tobytes()

"""Byte stream split, encoded: the bytes of values sorted by their position.

Layout: see `byte_stream_split`.

Clauses: L.codec.byte-stream-split.size
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.chunk_sizes import flat_chunk
from lanceref.codecs.encoded import MiniBlocks, even_counts, flat_encoding
from lanceref.codecs.values import Fixed
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def encode_mini(values: Fixed, per_chunk: int | None = None) -> MiniBlocks:
    """Split the bytes of values of 32 or 64 bits in chunks of `per_chunk` values."""
    width = values.bits // 8
    counts = even_counts(values.count, per_chunk or flat_chunk(width, 1))
    cells = values.data.reshape(values.count, width)
    ends = np.cumsum(counts).tolist()
    parts = [cells[start:end].T.ravel() for start, end in zip([0, *ends], ends)]
    encoding = CompressiveEncoding()
    encoding.byte_stream_split.values.CopyFrom(flat_encoding(values.bits))
    return MiniBlocks(encoding, counts, ((np.concatenate(parts), counts * width),))

"""General compression, encoded: zstd or lz4 over what another codec made.

Layout: see `general`.

Clauses: L.codec.general.scheme, L.codec.general.size
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lanceref.codecs.encoded import MiniBlocks
from lanceref.codecs.general import PREFIX_BYTES
from lanceref.codecs.values import Variable
from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_LZ4,
    COMPRESSION_ALGORITHM_ZSTD,
    CompressiveEncoding,
)

SMALLEST = 4096
"""Bytes of value buffers below which a page is left as it is."""

ZSTD_LEVEL = 3
"""Level of zstd when none is named, or 0."""

SCHEMES = {"lz4": COMPRESSION_ALGORITHM_LZ4, "zstd": COMPRESSION_ALGORITHM_ZSTD}
_CODECS = {"lz4": "lz4_raw", "zstd": "zstd"}


def check_scheme(name: str) -> None:
    """Refuse the name of a scheme that does not exist. Raises ValueError."""
    if name not in SCHEMES:
        raise ValueError(f"Unknown compression scheme: {name}")


def compress(scheme: str, level: int | None, data: bytes | memoryview) -> bytes:
    """Return the size of the data and its frame or block."""
    name = _CODECS[scheme]
    codec = pa.Codec(name)
    if scheme == "zstd":
        codec = pa.Codec(name, compression_level=level or ZSTD_LEVEL)
    prefix = len(data).to_bytes(PREFIX_BYTES[name], "little")
    return prefix + (codec.compress(data, asbytes=True) if len(data) else _nothing(scheme))


def _nothing(scheme: str) -> bytes:
    """Return what compressing no bytes gives."""
    return b"\x00" if scheme == "lz4" else bytes.fromhex("28b52ffd2000010000")


def general_encoding(
    scheme: str, level: int | None, inner: CompressiveEncoding
) -> CompressiveEncoding:
    """Return the description of what another codec made, compressed."""
    encoding = CompressiveEncoding()
    encoding.general.compression.scheme = SCHEMES[scheme]
    if level is not None:
        encoding.general.compression.level = level
    encoding.general.values.CopyFrom(inner)
    return encoding


def compress_mini(blocks: MiniBlocks, scheme: str, level: int | None) -> MiniBlocks:
    """Compress value buffer 0 of every chunk, when the page is large enough and shrinks."""
    data, sizes = blocks.buffers[0]
    if len(data) < SMALLEST:
        return blocks
    view, frames, at = np.ascontiguousarray(data).data, [], 0
    for size in sizes.tolist():
        frames.append(compress(scheme, level, view[at : at + size]))
        at += size
    joined = np.frombuffer(b"".join(frames), np.uint8)
    if len(joined) >= len(data):
        return blocks
    stored = (joined, np.array([len(frame) for frame in frames], np.int64))
    encoding = general_encoding(scheme, level, blocks.encoding)
    return MiniBlocks(encoding, blocks.counts, (stored, *blocks.buffers[1:]))


def compress_each(values: Variable, scheme: str, level: int | None) -> Variable:
    """Compress every value on its own."""
    view = np.ascontiguousarray(values.data).data
    bounds = zip(values.offsets[:-1].tolist(), values.offsets[1:].tolist(), strict=True)
    frames = [compress(scheme, level, view[start:end]) for start, end in bounds]
    offsets = np.cumsum([0, *map(len, frames)], dtype=np.int64)
    return Variable(offsets, np.frombuffer(b"".join(frames), np.uint8))

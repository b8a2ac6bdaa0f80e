"""General compression: zstd frames and lz4 blocks, and byte-stream split, which helps them.

Layout: zstd: u64 uncompressed size, then a frame (or, from old writers, a bare frame); lz4: u32
uncompressed size, then a raw block. In a chunk only buffer 0 is compressed; a full-zip page
compresses each value on its own. The stored size is not trusted: it is held against what the
compressed bytes can hold and against the caller's limits before anything is allocated. Where the
bytes of values are split by their rank, a general codec finds them alike.

Layout, byte-stream split of n values of w bytes: w streams of n bytes; byte i of value j is at
i * n + j.

Clauses: L.codec.general.size, L.codec.general.scheme, L.codec.general.frame,
L.codec.byte-stream-split.size
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from lanceref.codecs.buffers import Buffer, MiniBlocks, even_counts, flat_encoding
from lanceref.codecs.values import Bytes, Fixed, Ints, Variable
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, DataRefused, LimitExceeded, Place, UnknownEncoding
from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_LZ4,
    COMPRESSION_ALGORITHM_ZSTD,
    CompressiveEncoding,
    General,
)

ZSTD_MAGIC = bytes.fromhex("28b52ffd")
"""First bytes of a zstd frame."""

LZ4_FACTOR = 255
"""Most bytes one byte of an lz4 block can stand for."""

STREAM_BYTES = 2**20
"""Bytes taken at a time from a frame without its uncompressed size."""

SCHEMES = {"lz4": COMPRESSION_ALGORITHM_LZ4, "zstd": COMPRESSION_ALGORITHM_ZSTD}
"""Compression schemes by the names that fields and environment use."""

NAMES = {COMPRESSION_ALGORITHM_LZ4: "lz4_raw", COMPRESSION_ALGORITHM_ZSTD: "zstd"}
"""Codec by compression scheme."""

PREFIX_BYTES = {"lz4_raw": 4, "zstd": 8}
"""Size of the uncompressed size by codec."""

SMALLEST = 4096
"""Bytes of value buffers below which a page is not compressed."""

ZSTD_LEVEL = 3
"""Level of zstd when none is named, or 0."""

NOTHING = {"lz4_raw": b"\x00", "zstd": bytes.fromhex("28b52ffd2000010000")}
"""What compressing no bytes gives, by codec."""

_SIZE = "L.codec.general.size"
_FRAME = "L.codec.general.frame"


def codec_name(encoding: General, place: Place) -> str:
    """Return the name of the codec. Raises UnknownEncoding."""
    scheme = encoding.compression.scheme
    if scheme not in NAMES:
        raise UnknownEncoding("L.codec.general.scheme", place, f"scheme {scheme}", "lz4 or zstd")
    return NAMES[scheme]


def decompress(name: str, stored: memoryview, place: Place, budget: int) -> bytes | pa.Buffer:
    """Decompress what one buffer or value holds, to at most `budget` bytes.

    Raises CorruptPage, LimitExceeded.
    """
    prefix = PREFIX_BYTES[name]
    if name == "zstd" and stored[:4] == ZSTD_MAGIC:
        return _bare_frame(bytes(stored), place, budget)
    if len(stored) < prefix:
        raise CorruptPage(_FRAME, place, len(stored), f"{prefix} bytes")
    size = int.from_bytes(stored[:prefix], "little")
    if name == "lz4_raw" and size > LZ4_FACTOR * len(stored):
        found = f"{size} bytes from {len(stored)}"
        raise CorruptPage(_SIZE, place, found, "255 times as many at most")
    if size > budget:
        wanted = f"at most {budget} bytes; limits=Limits(expansion_bytes=...) allows more"
        raise LimitExceeded(_SIZE, place, size, wanted)
    if not size and len(stored) == prefix:
        return b""
    return decompress_block(name, stored[prefix:], size, _SIZE, place)


def decompress_block(
    name: str, block: memoryview, size: int, clause: str, place: Place
) -> pa.Buffer:
    """Decompress one frame or block that must give `size` bytes. Raises CorruptPage."""
    codec = pa.Codec(name)
    try:
        plain = codec.decompress(block, size)
    except (OSError, pa.ArrowException) as error:
        raise CorruptPage(clause, place, f"{name}: {error}", f"{size} bytes") from error
    if name == "lz4_raw" and size and is_too_short(codec, block, size):
        raise CorruptPage(clause, place, "a block that ends early", f"{size} bytes")
    return plain


def is_too_short(lz4: pa.Codec, block: memoryview, size_bytes: int) -> bool:
    """Return whether a block that can be decoded gives less than `size_bytes`.

    The codec does not report it, and room that it does not fill keeps its former content; but one
    byte less of room must be too little.
    """
    try:
        lz4.decompress(block, size_bytes - 1)
    except (OSError, pa.ArrowException):
        return False
    return True


def _bare_frame(raw: bytes, place: Place, budget: int) -> bytes:
    """Decompress a frame without a size before it: as a stream, up to `budget` bytes."""
    parts, left = [b""], budget
    try:
        with pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
            while part := stream.read(STREAM_BYTES):
                parts.append(part)
                left -= len(part)
                if left < 0:
                    raise LimitExceeded(_SIZE, place, "more", f"{budget} bytes")
    except (OSError, pa.ArrowException) as error:
        raise CorruptPage(_FRAME, place, f"zstd: {error}", "a frame") from error
    return b"".join(parts)


def decompress_buffer(name: str, buffer: Buffer) -> Buffer:
    """Return a buffer with its bytes decompressed. Raises CorruptPage, LimitExceeded."""
    place, budget = buffer.place, buffer.ctx.limits.expanded(buffer.size)
    stored = buffer.data.data
    middle = 0 if stored[:4] == ZSTD_MAGIC else min(buffer.size, PREFIX_BYTES[name])
    buffer.own("uncompressed size", f"u{8 * middle}", _FRAME, end=middle)
    kind = {"lz4_raw": "lz4 block", "zstd": "zstd frame"}[name]
    buffer.own("compressed", kind, _FRAME, start=middle)
    data = np.frombuffer(decompress(name, stored, place, budget), np.uint8)
    return Buffer(buffer.ctx, data, buffer.offset, place)


def decompress_values(general: General, values: Variable, ctx: Context, place: Place) -> Variable:
    """Return values that were compressed each on its own, at `place`.

    Raises CorruptPage, and LimitExceeded for all of them together.
    """
    name, budget = codec_name(general, place), ctx.limits.expanded(len(values.data))
    view, parts = values.data.data, list[bytes | pa.Buffer]()
    for start, end in pairwise(values.offsets.tolist()):
        parts.append(decompress(name, view[start:end], place, budget))
        budget -= len(parts[-1])
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Variable(offsets, np.frombuffer(b"".join(parts), np.uint8))


def compress(scheme: str, level: int | None, data: bytes | memoryview) -> bytes:
    """Return the size of the data and its frame or block. Raises DataRefused for the scheme."""
    if scheme not in SCHEMES:
        raise DataRefused(f"Unknown compression scheme: {scheme}")
    name = NAMES[SCHEMES[scheme]]
    codec = pa.Codec(name, compression_level=(level or ZSTD_LEVEL) if scheme == "zstd" else None)
    prefix = len(data).to_bytes(PREFIX_BYTES[name], "little")
    return prefix + (codec.compress(data, asbytes=True) if len(data) else NOTHING[name])


def general_encoding(
    scheme: str, level: int | None, inner: CompressiveEncoding
) -> CompressiveEncoding:
    """Return the description of what another codec made, compressed."""
    compression = {"scheme": SCHEMES[scheme], "level": level}
    return CompressiveEncoding(general={"compression": compression, "values": inner})


def compress_mini(blocks: MiniBlocks, scheme: str, level: int | None) -> MiniBlocks:
    """Compress value buffer 0 of every chunk, when the page is large enough and shrinks.

    Raises DataRefused for an unknown scheme.
    """
    compress(scheme, level, b"")
    data, sizes = blocks.buffers[0]
    if len(data) < SMALLEST:
        return blocks
    stored, ends = compress_each(data, np.append(0, np.cumsum(sizes)), scheme, level)
    if len(stored) >= len(data):
        return blocks
    encoding = general_encoding(scheme, level, blocks.encoding)
    return MiniBlocks(encoding, blocks.counts, ((stored, np.diff(ends)), *blocks.buffers[1:]))


def compress_each(data: Bytes, offsets: Ints, scheme: str, level: int | None) -> tuple[Bytes, Ints]:
    """Compress what lies between `offsets` (n + 1,); return bytes and the new offsets."""
    view, cuts = np.ascontiguousarray(data).data, offsets.tolist()
    frames = [compress(scheme, level, view[at:end]) for at, end in pairwise(cuts)]
    joined = np.frombuffer(b"".join(frames), np.uint8)
    return joined, np.cumsum([0, *map(len, frames)], dtype=np.int64)


def decode_streams(buffer: Buffer, count: int, bits: int) -> Fixed:
    """Decode values of `bits` bits whose bytes lie in streams by their rank. Raises CorruptPage."""
    width, clause = bits // 8, "L.codec.byte-stream-split.size"
    buffer.want_size(count * width, clause)
    buffer.own("byte streams", "byte streams", clause)
    return Fixed(bits, count, buffer.data.reshape(width, count).T.reshape(-1))


def encode_streams(values: Fixed, per_chunk: int) -> MiniBlocks:
    """Split the bytes of values of 32 or 64 bits in chunks of `per_chunk` values."""
    width, counts = values.bits // 8, even_counts(values.count, per_chunk)
    cells = values.data.reshape(values.count, width)
    ends = np.cumsum(counts).tolist()
    parts = [cells[start:end].T.ravel() for start, end in zip([0, *ends], ends)]
    encoding = CompressiveEncoding(byte_stream_split={"values": flat_encoding(values.bits)})
    return MiniBlocks(encoding, counts, ((np.concatenate(parts), counts * width),))

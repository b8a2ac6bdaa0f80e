"""General compression: zstd frames and lz4 blocks behind their uncompressed size.

Layout: zstd: u64 uncompressed size, then a frame (or, from old writers, a bare frame); lz4: u32
uncompressed size, then a raw block. In a chunk only buffer 0 is compressed; a full-zip page
compresses each value on its own. The stored size is not trusted: it is held against what the
compressed bytes can hold and against the caller's limits before anything is allocated.

Clauses: L.codec.general.size, L.codec.general.scheme, L.codec.general.frame
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.context import Context
from lanceref.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding
from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_LZ4,
    COMPRESSION_ALGORITHM_ZSTD,
    General,
)

ZSTD_MAGIC = bytes.fromhex("28b52ffd")
"""First bytes of a zstd frame."""

LZ4_FACTOR = 255
"""Most bytes one byte of an lz4 block can stand for."""

NAMES = {COMPRESSION_ALGORITHM_LZ4: "lz4_raw", COMPRESSION_ALGORITHM_ZSTD: "zstd"}
"""Codec by compression scheme."""


def codec_name(encoding: General, place: Place) -> str:
    """Return the name of the codec. Raises UnknownEncoding."""
    scheme = encoding.compression.scheme
    if scheme not in NAMES:
        raise UnknownEncoding(
            "L.codec.general.scheme", place, found=f"scheme {scheme}", wanted="lz4 or zstd"
        )
    return NAMES[scheme]


def decompress(
    name: str, data: NDArray[np.uint8], ctx: Context, place: Place, budget: int
) -> NDArray[np.uint8]:
    """Decompress one buffer into at most `budget` bytes."""
    raw = data.tobytes()
    prefix = 4 if name == "lz4_raw" else 8
    if name == "zstd" and raw[:4] == ZSTD_MAGIC:
        return _bare_frame(raw, place, budget)
    if len(raw) < prefix:
        raise CorruptPage(
            "L.codec.general.frame", place, found=f"{len(raw)} bytes", wanted=f"{prefix} or more"
        )
    size = int.from_bytes(raw[:prefix], "little")
    if name == "lz4_raw" and size > LZ4_FACTOR * len(raw):
        raise CorruptPage(
            "L.codec.general.size",
            place,
            found=f"{size} bytes from {len(raw)}",
            wanted=f"at most {LZ4_FACTOR} times as many",
        )
    if size > budget:
        raise LimitExceeded(
            "L.codec.general.size", place, found=f"{size} bytes", wanted=f"at most {budget}"
        )
    if size == 0 and len(raw) == prefix:
        return np.empty(0, np.uint8)
    try:
        out = pa.Codec(name).decompress(raw[prefix:], size)
    except (OSError, pa.ArrowException) as error:
        raise CorruptPage(
            "L.codec.general.size", place, found=f"{name}: {error}", wanted=f"{size} bytes"
        ) from error
    return np.frombuffer(out, np.uint8)


def _bare_frame(raw: bytes, place: Place, budget: int) -> NDArray[np.uint8]:
    """Decompress a frame without a size before it: as a stream, up to `budget` bytes."""
    try:
        with pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
            out = stream.read(budget + 1)
    except (OSError, pa.ArrowException) as error:
        raise CorruptPage(
            "L.codec.general.frame", place, found=f"zstd: {error}", wanted="a zstd frame"
        ) from error
    if len(out) > budget:
        raise LimitExceeded(
            "L.codec.general.size", place, found="more bytes", wanted=f"at most {budget}"
        )
    return np.frombuffer(out, np.uint8)


def decompress_run(name: str, run: ChunkRun) -> ChunkRun:
    """Return the run with buffer 0 of every chunk decompressed; the other buffers stay."""
    ctx, budget, parts = run.ctx, run.ctx.limits.expanded(len(run.data)), []
    run.own(0, f"{name} data", f"{name.partition('_')[0]} block", "L.codec.general.frame")
    for chunk in range(run.num_chunks):
        part = decompress(name, run.bytes_of(0, chunk), ctx, run.place(0, chunk), budget)
        budget -= len(part)
        parts.append(part)
    for buffer in range(1, len(run.starts)):
        run.own(buffer, "values", "bytes", "L.codec.general.frame")
        parts += [run.bytes_of(buffer, chunk) for chunk in range(run.num_chunks)]
    sizes = np.array([len(part) for part in parts], np.int64)
    ends = np.cumsum(sizes)
    shape = run.starts.shape
    return replace(
        run,
        ctx=replace(ctx, spans=None),
        data=np.concatenate(parts) if parts else run.data[:0],
        starts=(ends - sizes).reshape(shape),
        sizes=sizes.reshape(shape),
        origin=run.origin or run,
    )

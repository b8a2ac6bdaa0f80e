"""General compression: zstd frames and lz4 blocks behind their uncompressed size.

Layout: zstd: u64 uncompressed size, then a frame (or, from old writers, a bare frame); lz4: u32
uncompressed size, then a raw block. In a chunk only buffer 0 is compressed; a full-zip page
compresses each value on its own. The stored size is not trusted: it is held against what the
compressed bytes can hold and against the caller's limits before anything is allocated.

Clauses: L.codec.general.size, L.codec.general.scheme, L.codec.general.frame
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Variable
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

LZ4_LITERALS = 5
"""Bytes at the end of an lz4 block that stand for themselves."""

STREAM_BYTES = 2**20
"""Bytes taken at a time from a frame that does not say how many it holds."""

NAMES = {COMPRESSION_ALGORITHM_LZ4: "lz4_raw", COMPRESSION_ALGORITHM_ZSTD: "zstd"}
"""Codec by compression scheme."""

PREFIX_BYTES = {"lz4_raw": 4, "zstd": 8}
"""Size of the uncompressed size by codec."""


def codec_name(encoding: General, place: Place) -> str:
    """Return the name of the codec. Raises UnknownEncoding."""
    scheme = encoding.compression.scheme
    if scheme not in NAMES:
        raise UnknownEncoding(
            "L.codec.general.scheme", place, found=f"scheme {scheme}", wanted="lz4 or zstd"
        )
    return NAMES[scheme]


def decompress(name: str, raw: bytes, place: Place, budget: int) -> NDArray[np.uint8]:
    """Decompress one buffer into at most `budget` bytes."""
    prefix = PREFIX_BYTES[name]
    if name == "zstd" and raw[:4] == ZSTD_MAGIC:
        return _bare_frame(raw, place, budget)
    if len(raw) < prefix:
        raise CorruptPage(
            "L.codec.general.frame", place, found=f"{len(raw)} bytes", wanted=f"{prefix} or more"
        )
    size = int.from_bytes(raw[:prefix], "little")
    if name == "lz4_raw" and size > LZ4_FACTOR * len(raw):
        raise _wrong_size(f"{size} bytes from {len(raw)}", "255 times as many at most", place)
    if size > budget:
        raise LimitExceeded(
            "L.codec.general.size", place, found=f"{size} bytes", wanted=f"at most {budget}"
        )
    if size == 0 and len(raw) == prefix:
        return np.empty(0, np.uint8)
    out = _expand(name, raw[prefix:], size, place)
    if name == "lz4_raw" and not _fills(raw[prefix:], out):
        raise _wrong_size("a block that ends early", f"{size} bytes", place)
    return np.frombuffer(out, np.uint8)


def _expand(name: str, block: bytes, size: int, place: Place) -> pa.Buffer:
    """Call the codec. Raises CorruptPage."""
    try:
        return pa.Codec(name).decompress(block, size)
    except (OSError, pa.ArrowException) as error:
        raise _wrong_size(f"{name}: {error}", f"{size} bytes", place) from error


def _fills(block: bytes, out: pa.Buffer) -> bool:
    """Whether an lz4 block decodes to all of `out`: the codec does not say when it falls short.

    A block ends with literals, so its last bytes are those of its output. Where that does not
    tell (room never written is zeros), one byte less of room must be too little.
    """
    tail = min(LZ4_LITERALS, out.size, len(block) - 1)
    end = out.slice(out.size - tail).to_pybytes()
    if out.size == 0 or (any(end) and end == block[len(block) - tail :]):
        return True
    try:
        pa.Codec("lz4_raw").decompress(block, out.size - 1)
    except (OSError, pa.ArrowException):
        return True
    return False


def _bare_frame(raw: bytes, place: Place, budget: int) -> NDArray[np.uint8]:
    """Decompress a frame without a size before it: as a stream, up to `budget` bytes."""
    parts, left = [b""], budget
    try:
        with pa.CompressedInputStream(pa.BufferReader(raw), "zstd") as stream:
            while part := stream.read(STREAM_BYTES):
                parts.append(part)
                left -= len(part)
                if left < 0:
                    raise LimitExceeded(
                        "L.codec.general.size", place, found="more", wanted=f"{budget} bytes"
                    )
    except (OSError, pa.ArrowException) as error:
        raise CorruptPage(
            "L.codec.general.frame", place, found=f"zstd: {error}", wanted="a zstd frame"
        ) from error
    return np.frombuffer(b"".join(parts), np.uint8)


def _wrong_size(found: str, wanted: str, place: Place) -> CorruptPage:
    return CorruptPage("L.codec.general.size", place, found=found, wanted=wanted)


def decompress_run(name: str, run: ChunkRun) -> ChunkRun:
    """Return the run with buffer 0 of every chunk decompressed; the other buffers stay."""
    _own(name, run)
    budget, parts = run.ctx.limits.expanded(len(run.data)), []
    for chunk in range(run.num_chunks):
        raw = run.bytes_of(0, chunk).tobytes()
        part = decompress(name, raw, run.place(0, chunk), budget)
        budget -= len(part)
        parts.append(part)
    kept = run.data if len(run.starts) > 1 else run.data[:0]
    sizes = np.array([len(part) for part in parts], np.int64)
    starts = len(kept) + np.cumsum(sizes) - sizes
    in_file = len(kept) if run.origin is None else min(len(kept), run.file_bytes)
    return replace(
        run,
        data=np.concatenate([kept, *parts]),
        starts=np.concatenate([starts[None], run.starts[1:]]),
        sizes=np.concatenate([sizes[None], run.sizes[1:]]),
        origin=run,
        file_bytes=in_file,
    )


def _own(name: str, run: ChunkRun) -> None:
    """Own the compressed buffers of every chunk: size and frame."""
    if run.ctx.spans is None or not run.in_file(0):
        return
    kind, clause = {"lz4_raw": "lz4 block", "zstd": "zstd frame"}[name], "L.codec.general.frame"
    for chunk in range(run.num_chunks):
        start, size = run.base + int(run.starts[0, chunk]), int(run.sizes[0, chunk])
        bare = run.bytes_of(0, chunk)[:4].tobytes() == ZSTD_MAGIC
        middle = start + (0 if bare else min(size, PREFIX_BYTES[name]))
        run.ctx.leaf(start, middle, "uncompressed size", f"u{8 * (middle - start)}", clause)
        run.ctx.leaf(middle, start + size, "compressed", kind, clause)


def decompress_each(name: str, values: Variable, ctx: Context, place: Place) -> Variable:
    """Decompress every value on its own."""
    budget, parts = ctx.limits.expanded(len(values.data)), [np.empty(0, np.uint8)]
    raw, offsets = values.data.tobytes(), values.offsets.tolist()
    for start, end in pairwise(offsets):
        part = decompress(name, raw[start:end], place, budget)
        budget -= len(part)
        parts.append(part)
    ends = np.cumsum([len(part) for part in parts])
    return Variable(ends.astype(np.int64), np.concatenate(parts))

"""General compression: zstd frames and lz4 blocks behind their uncompressed size.

Layout: zstd: u64 uncompressed size, then a frame (or, from old writers, a bare frame); lz4: u32
uncompressed size, then a raw block. In a chunk only buffer 0 is compressed; a full-zip page
compresses each value on its own. The stored size is not trusted: it is held against what the
compressed bytes can hold and against the caller's limits before anything is allocated.

Clauses: L.codec.general.size, L.codec.general.scheme, L.codec.general.frame

General compression, encoded: zstd or lz4 over what another codec made.

Layout: see `general`.

Clauses: L.codec.general.scheme, L.codec.general.size
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import MiniBlocks, Variable
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding
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


@dataclass(frozen=True, slots=True)
class Frames:
    """Compressed buffers in `data`: where each starts and ends, and how errors name its place."""

    name: str
    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    place: Callable[[int], Place]

    @property
    def prefix(self) -> int:
        """Bytes of the uncompressed size in front of each."""
        return PREFIX_BYTES[self.name]

    def heads(self, size: int) -> NDArray[np.uint8]:
        """Return the first bytes of every buffer: uint8 (buffers, size); zeros behind the end."""
        at = self.starts[:, None] + np.arange(size)
        inside = at < self.ends[:, None]
        padded = np.append(self.data, np.uint8(0)) if not inside.all() else self.data
        return np.where(inside, padded[np.minimum(at, len(padded) - 1)], 0).astype(np.uint8)


def decompress(frames: Frames, budget: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Decompress all buffers into at most `budget` bytes: (bytes joined, size of each)."""
    bare = np.zeros(len(frames.starts), np.bool_)
    if frames.name == "zstd":
        bare = (frames.heads(4) == np.frombuffer(ZSTD_MAGIC, np.uint8)).all(axis=1)
    sizes = _stored_sizes(frames, bare, budget)
    budget -= int(sizes.sum())
    codec, view, parts = pa.Codec(frames.name), frames.data.data, list[pa.Buffer | bytes]()
    starts = np.where(bare, frames.starts, frames.starts + frames.prefix).tolist()
    for index, (start, end, size) in enumerate(zip(starts, frames.ends.tolist(), sizes.tolist())):
        if bare[index]:
            frame = _bare_frame(bytes(view[start:end]), frames.place(index), budget)
            sizes[index], budget = len(frame), budget - len(frame)
            parts.append(frame)
        elif size or start < end:
            try:
                parts.append(codec.decompress(view[start:end], size))
            except (OSError, pa.ArrowException) as error:
                found, wanted = f"{frames.name}: {error}", f"{size} bytes"
                raise _wrong_size(found, wanted, frames.place(index)) from error
    if frames.name == "lz4_raw":
        _check_filled(frames, sizes)
    return np.frombuffer(b"".join(parts), np.uint8), sizes


def _stored_sizes(frames: Frames, bare: NDArray[np.bool_], budget: int) -> NDArray[np.int64]:
    """Return the sizes the buffers claim (0 for bare frames), within reason and budget."""
    stored = frames.ends - frames.starts
    short = np.flatnonzero(~bare & (stored < frames.prefix))
    if len(short):
        index = int(short[0])
        raise CorruptPage(
            "L.codec.general.frame",
            frames.place(index),
            found=f"{int(stored[index])} bytes",
            wanted=f"{frames.prefix} or more",
        )
    heads = np.ascontiguousarray(frames.heads(frames.prefix)).view(f"<u{frames.prefix}")
    claimed = np.where(bare, 0, heads.reshape(-1))
    if frames.name == "lz4_raw":
        large = np.flatnonzero(claimed > LZ4_FACTOR * stored)
        if len(large):
            index = int(large[0])
            found = f"{int(claimed[index])} bytes from {int(stored[index])}"
            raise _wrong_size(found, "255 times as many at most", frames.place(index))
    together = np.cumsum(np.minimum(claimed, budget + 1).astype(np.int64))
    over = np.flatnonzero(together > budget)
    if len(over):
        index = int(over[0])
        raise LimitExceeded(
            "L.codec.general.size",
            frames.place(index),
            found=f"{int(claimed[index])} bytes",
            wanted=f"at most {budget} for all buffers",
        )
    return claimed.astype(np.int64)


def _check_filled(frames: Frames, sizes: NDArray[np.int64]) -> None:
    """Refuse lz4 blocks that decode to less than their size."""
    starts, ends = (frames.starts + frames.prefix).tolist(), frames.ends.tolist()
    codec, view = pa.Codec(frames.name), frames.data.data
    for index in np.flatnonzero(sizes).tolist():
        if falls_short(codec, view[starts[index] : ends[index]], int(sizes[index])):
            wanted = f"{int(sizes[index])} bytes"
            raise _wrong_size("a block that ends early", wanted, frames.place(index))


def falls_short(lz4: pa.Codec, block: memoryview, size_bytes: int) -> bool:
    """Whether a block that can be decoded gives less than `size_bytes`: the codec does not say so.

    Room it does not fill keeps what was there before, so nothing in it tells; but one byte less of
    room must be too little.
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
                    raise LimitExceeded(
                        "L.codec.general.size", place, found="more", wanted=f"{budget} bytes"
                    )
    except (OSError, pa.ArrowException) as error:
        raise CorruptPage(
            "L.codec.general.frame", place, found=f"zstd: {error}", wanted="a zstd frame"
        ) from error
    return b"".join(parts)


def _wrong_size(found: str, wanted: str, place: Place) -> CorruptPage:
    return CorruptPage("L.codec.general.size", place, found=found, wanted=wanted)


def decompress_run(name: str, run: ChunkRun) -> ChunkRun:
    """Return the run with buffer 0 of every chunk decompressed; the other buffers stay."""
    _own(name, run)
    starts, ctx = run.starts[0], run.ctx
    frames = Frames(name, run.data, starts, starts + run.sizes[0], lambda i: run.place(0, i))
    data, sizes = decompress(frames, ctx.limits.expanded(len(run.data)))
    kept = run.data if len(run.starts) > 1 else run.data[:0]
    starts = len(kept) + np.cumsum(sizes) - sizes
    in_file = len(kept) if run.origin is None else min(len(kept), run.file_bytes)
    return replace(
        run,
        data=np.concatenate([kept, data]) if len(kept) else data,
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
    starts, ends = values.offsets[:-1], values.offsets[1:]
    frames = Frames(name, values.data, starts, ends, lambda _: place)
    data, sizes = decompress(frames, ctx.limits.expanded(len(values.data)))
    return Variable(np.append(0, np.cumsum(sizes)).astype(np.int64), data)


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

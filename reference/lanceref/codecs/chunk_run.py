"""Runs of chunks that are decoded together, the plainest codec, flat, and what descriptions say.

The buffers of all chunks of a run are described by arrays of positions in one block of bytes, so
that a codec works on whole groups of chunks of equal layout at once. What a description says of the
values it stands for, and the errors for one in the wrong place, are at the end.

Layout, flat: `bits_per_value` bits a value, little-endian; one-bit values are packed, least
significant bit first, and every chunk starts at a byte.

Clauses: L.codec.flat.size, L.codec.encoding.context
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lanceref.codecs.values import Bools, Bytes, Fixed, Ints, join_pieces
from lanceref.core.context import Context, specified
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.core.packed_values import concat_bits
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Chunks that are decoded together.

    `data` uint8, the bytes of the run, `base` the absolute offset of its first byte; `starts` and
    `sizes` int64 (num_buffers, num_chunks), positions in `data`, already checked to lie inside it;
    `counts` int64 (num_chunks,), values (for level buffers: levels) in each chunk. When buffer 0
    was decompressed, `origin` is the run it came from, and only the first `file_bytes` of `data`
    are bytes of the file.
    """

    ctx: Context
    data: Bytes
    base: int
    starts: Ints
    sizes: Ints
    counts: Ints
    origin: ChunkRun | None = None
    file_bytes: int = 0

    @property
    def num_chunks(self) -> int:
        """Number of chunks that the run decodes together."""
        return len(self.counts)

    @property
    def num_values(self) -> int:
        """Values in all chunks of the run."""
        return int(self.counts.sum())

    def in_file(self, buffer: int) -> bool:
        """Whether the buffer's bytes are those of the file, not decompressed ones."""
        return self.origin is None or bool(np.all(self.starts[buffer] < self.file_bytes))

    def place(self, buffer: int = 0, chunk: int = 0) -> Place:
        """Where a buffer of a chunk lies in the file (or what it was decompressed from)."""
        if chunk >= self.num_chunks:
            return self.ctx.at(self.base, len(self.data))
        start, size = int(self.starts[buffer, chunk]), int(self.sizes[buffer, chunk])
        if self.origin is not None and start >= self.file_bytes:
            return self.origin.place(0, chunk)
        return self.ctx.at(self.base + start, size)

    def bytes_of(self, buffer: int, chunk: int) -> Bytes:
        """The bytes of one buffer of one chunk, as a view: (size,)."""
        start = int(self.starts[buffer, chunk])
        return self.data[start : start + int(self.sizes[buffer, chunk])]

    def counting(self, counts: Ints) -> ChunkRun:
        """The same chunks with other numbers of values. `counts` (num_chunks,)."""
        return replace(self, counts=counts)

    def without_bytes(self, num_buffers: int) -> ChunkRun:
        """The same chunks with empty buffers: what a codec that reads no bytes gets."""
        nothing = np.zeros((num_buffers, self.num_chunks), np.int64)
        return replace(self, starts=nothing, sizes=nothing, origin=None)

    def only(self, buffer: int) -> ChunkRun:
        """Return the same chunks with one of their buffers."""
        return self.buffers(slice(buffer, buffer + 1))

    def buffers(self, kept: slice) -> ChunkRun:
        """Return the same chunks with some of their buffers."""
        return replace(self, starts=self.starts[kept], sizes=self.sizes[kept])

    def own(self, buffer: int, name: str, kind: str, clause: str) -> None:
        """Record that `name` owns this buffer of every chunk, when spans are recorded."""
        if self.ctx.spans is None or not self.in_file(buffer):
            return
        for start, size in zip(self.starts[buffer].tolist(), self.sizes[buffer].tolist()):
            self.ctx.leaf(self.base + start, self.base + start + size, name, kind, clause)

    def gather(self, buffer: int) -> Bytes:
        """Join one buffer of all chunks: uint8 (sum of sizes,); a view when there is one chunk."""
        if self.num_chunks == 1:
            return self.bytes_of(buffer, 0)
        return join_pieces(self.data, self.starts[buffer], self.starts[buffer] + self.sizes[buffer])

    def groups(self, key: Ints) -> Iterator[tuple[int, Ints]]:
        """Yield (value, chunk numbers) for every distinct value of `key`, one per chunk."""
        if len(key) and (key == key[0]).all():
            yield int(key[0]), np.arange(len(key))
            return
        for value in np.unique(key).tolist():
            yield int(value), np.flatnonzero(key == value)

    def check(
        self,
        clause: str,
        wrong: Bools,
        found: object,
        wanted: object,
        unit: str = "bytes",
        buffer: int = 0,
    ) -> None:
        """Raise CorruptPage at the first chunk that is `wrong` (num_chunks,).

        `found` and `wanted` are arrays of one number of `unit` a chunk, or texts.
        """
        if wrong.any():
            chunk = int(np.argmax(wrong))
            found, wanted = (
                f"{one[chunk]} {unit}" if isinstance(one, np.ndarray) else one
                for one in (found, wanted)
            )
            raise CorruptPage(clause, self.place(buffer, chunk), found, wanted)

    def want_sizes(self, buffer: int, wanted: Ints, clause: str) -> None:
        """Raise CorruptPage unless this buffer has `wanted` bytes (num_chunks,) in every chunk."""
        sizes = self.sizes[buffer]
        self.check(clause, sizes != wanted, sizes, wanted, buffer=buffer)


def _kind_of(bits: int) -> str:
    """Return the name of the element type of `bits` bits."""
    if bits == 1:
        return "bitmap"
    return f"u{bits}[]" if bits in (8, 16, 32, 64) else f"{bits}-bit values"


def decode_flat(run: ChunkRun, bits: int, name: str = "values") -> Fixed:
    """Decode values stored one after the other, `name` in spans. Raises CorruptPage."""
    run.want_sizes(0, -(-run.counts * bits // 8), "L.codec.flat.size")
    run.own(0, name, _kind_of(bits), "L.codec.flat.size")
    data = join_bits(run, 0, run.counts) if bits == 1 else run.gather(0)
    return Fixed(bits, run.num_values, data)


def join_bits(run: ChunkRun, buffer: int, counts: Ints) -> Bytes:
    """Join bitmaps of `counts` bits, one a chunk, into one packed bitmap.

    `counts` (chunks,); the bitmap is uint8 (bytes,).
    """
    joined = run.gather(buffer)
    if np.all(counts[:-1] % 8 == 0):
        return joined
    return concat_bits(joined, np.zeros_like(counts), counts)


@specified
def gather_rows(data: Bytes, starts: Ints, size: int) -> Bytes:
    """Return `size` bytes from each of `starts`, inside `data`: uint8 (len(starts), size).

    `starts` (n,).
    """
    rows: Bytes = data[starts[:, None] + np.arange(size)]
    return rows


def list_levels(encoding: pb.FixedSizeList) -> Iterator[pb.FixedSizeList]:
    """Yield the descriptions of nested fixed-size lists, the outermost first."""
    while True:
        yield encoding
        if encoding.values.WhichOneof("compression") != "fixed_size_list":
            return
        encoding = encoding.values.fixed_size_list


def innermost(encoding: pb.FixedSizeList) -> CompressiveEncoding:
    """Return the encoding of the items: `flat`, or `constant` when all of them are null."""
    *_, last = list_levels(encoding)
    return last.values


def list_bits(encoding: pb.FixedSizeList) -> int:
    """Return the bits of one zipped value: a multiple of eight."""
    per_value, total = 1, 0
    for level in list_levels(encoding):
        per_value *= level.items_per_value
        total += (per_value + 7 & -8) if level.has_validity else 0
    return total + (per_value * innermost(encoding).flat.bits_per_value + 7 & -8)


def value_bits(encoding: CompressiveEncoding) -> int | None:
    """Return the bits of a value when all have as many; a fixed-size list is a zipped value."""
    match encoding.WhichOneof("compression"):
        case "flat":
            return encoding.flat.bits_per_value
        case "inline_bitpacking" | "out_of_line_bitpacking" | "range" | "delta" as arm:
            bits: int = getattr(encoding, arm).uncompressed_bits_per_value
            return bits
        case "constant":
            return 8 * len(encoding.constant.value)
        case "fixed_size_list":
            return list_bits(encoding.fixed_size_list)
        case "rle" | "byte_stream_split" | "general" | "packed_struct" as arm:
            return value_bits(getattr(encoding, arm).values)
        case "dictionary":
            return value_bits(encoding.dictionary.items)
    return None


def has_payload(encoding: CompressiveEncoding) -> bool:
    """Return whether a block codec reads bytes: constants, ranges and what they make do not."""
    match encoding.WhichOneof("compression"):
        case "constant" | "range":
            return False
        case "delta":
            return has_payload(encoding.delta.deltas)
        case "rle":
            return has_payload(encoding.rle.values) or has_payload(encoding.rle.run_lengths)
    return True


def only_flat(encoding: CompressiveEncoding, place: Place) -> int:
    """Return the width of an encoding that must be flat here, in bits. Raises UnknownEncoding."""
    if encoding.WhichOneof("compression") != "flat":
        raise wrong_encoding(encoding, "flat", place)
    return encoding.flat.bits_per_value


def want_arm(encoding: CompressiveEncoding, arms: Collection[str], place: Place) -> None:
    if encoding.WhichOneof("compression") not in arms:
        raise wrong_encoding(encoding, " or ".join(arms), place)


def unsupported(encoding: CompressiveEncoding, where: str, place: Place) -> UnknownEncoding:
    """Return the error for an encoding that does not occur in this place."""
    found = f"{encoding.WhichOneof('compression')} in {where}"
    return UnknownEncoding("L.codec.encoding.context", place, found, "another")


def wrong_encoding(encoding: CompressiveEncoding, wanted: str, place: Place) -> UnknownEncoding:
    found = encoding.WhichOneof("compression") or "none"
    if found == "flat":
        found = f"flat {encoding.flat.bits_per_value}"
    return UnknownEncoding("L.codec.encoding.context", place, found, wanted)

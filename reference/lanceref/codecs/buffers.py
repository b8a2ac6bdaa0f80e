"""Buffers that codecs decode and encode; the plainest codec, flat; what descriptions say.

A buffer knows where its bytes lie, for errors and for the spans of `explain`; what was decompressed
lies where the compressed bytes do. What a description says of the values it stands for, and the
errors for one in the wrong place, are at the end.

Layout, flat: `bits_per_value` bits a value, little-endian; one-bit values are packed, least
significant bit first.

Clauses: L.codec.flat.size, L.codec.encoding.context
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bytes, Fixed, Ints, join_pieces
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.proto import encodings_v2_1_pb2 as pb


@dataclass(frozen=True, slots=True)
class Buffer:
    """Bytes that a codec decodes: `data` uint8 (size,), from the absolute `offset` on.

    Decompressed bytes are not those of the file: `origin` is where the compressed ones lie.
    """

    ctx: Context
    data: Bytes
    offset: int
    origin: Place | None = None

    @property
    def size(self) -> int:
        """Number of bytes that the buffer holds."""
        return len(self.data)

    @property
    def place(self) -> Place:
        """Where the bytes lie, or those that they were decompressed from."""
        return self.origin or self.ctx.at(self.offset, self.size)

    def part(self, start: int, end: int | None = None) -> Buffer:
        """Return bytes `start`..`end`, to the last unless an end is given."""
        return Buffer(self.ctx, self.data[start:end], self.offset + start, self.origin)

    def own(
        self,
        name: str,
        kind: str,
        clause: str = "",
        value: object = None,
        *,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        """Record that `name` owns bytes `start`..`end` of the file, when spans are recorded."""
        if self.origin is None:
            end = self.size if end is None else end
            self.ctx.leaf(self.offset + start, self.offset + end, name, kind, clause, value)

    def want_size(self, size: int, clause: str) -> None:
        """Raise CorruptPage unless there are `size` bytes."""
        if self.size != size:
            raise CorruptPage(clause, self.place, f"{self.size} bytes", f"{size} bytes")


def remaining_buffer(cursor: Cursor) -> Buffer:
    """Return all bytes that the cursor has left."""
    offset, size = cursor.offset, cursor.remaining
    data = cursor.skip(size, "buffer", "L.codec.encoding.context")
    return Buffer(cursor.ctx, np.frombuffer(data, np.uint8), offset)


def decode_flat(buffer: Buffer, count: int, bits: int, name: str = "values") -> Fixed:
    """Decode `count` values stored one after the other, `name` in spans. Raises CorruptPage."""
    buffer.want_size(-(-count * bits // 8), "L.codec.flat.size")
    kind = f"u{bits}[]" if bits in (8, 16, 32, 64) else f"{bits}-bit values"
    buffer.own(name, "bitmap" if bits == 1 else kind, "L.codec.flat.size")
    return Fixed(bits, count, buffer.data)


def list_levels(encoding: pb.FixedSizeList) -> Iterator[pb.FixedSizeList]:
    """Yield the descriptions of nested fixed-size lists, the outermost first."""
    while True:
        yield encoding
        if encoding.values.WhichOneof("compression") != "fixed_size_list":
            return
        encoding = encoding.values.fixed_size_list


def innermost(encoding: pb.FixedSizeList) -> pb.CompressiveEncoding:
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


def value_bits(encoding: pb.CompressiveEncoding) -> int | None:
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


def has_payload(encoding: pb.CompressiveEncoding) -> bool:
    """Return whether a block codec reads bytes: constants, ranges and what they make do not."""
    match encoding.WhichOneof("compression"):
        case "constant" | "range":
            return False
        case "delta":
            return has_payload(encoding.delta.deltas)
        case "rle":
            return has_payload(encoding.rle.values) or has_payload(encoding.rle.run_lengths)
    return True


def only_flat(encoding: pb.CompressiveEncoding, place: Place) -> int:
    """Return the width of an encoding that must be flat here, in bits. Raises UnknownEncoding."""
    if encoding.WhichOneof("compression") != "flat":
        raise wrong_encoding(encoding, "flat", place)
    return encoding.flat.bits_per_value


def want_arm(encoding: pb.CompressiveEncoding, arms: Collection[str], place: Place) -> None:
    if encoding.WhichOneof("compression") not in arms:
        raise wrong_encoding(encoding, " or ".join(arms), place)


def unsupported(encoding: pb.CompressiveEncoding, where: str, place: Place) -> UnknownEncoding:
    """Return the error for an encoding that does not occur in this place."""
    found = f"{encoding.WhichOneof('compression')} in {where}"
    return UnknownEncoding("L.codec.encoding.context", place, found, "another")


def wrong_encoding(encoding: pb.CompressiveEncoding, wanted: str, place: Place) -> UnknownEncoding:
    found = encoding.WhichOneof("compression") or "none"
    if found == "flat":
        found = f"flat {encoding.flat.bits_per_value}"
    return UnknownEncoding("L.codec.encoding.context", place, found, wanted)


Part = tuple[Bytes, Ints]
"""One buffer of all chunks: their bytes joined, and its size in each chunk."""


@dataclass(frozen=True, slots=True)
class MiniBlocks:
    """Values cut into chunks: `counts` values in each, and the value buffers of all of them.

    All counts but the last are powers of two. The last chunk's word leaves out its count,
    unless `last_says_count`.
    """

    encoding: pb.CompressiveEncoding
    counts: Ints
    buffers: tuple[Part, ...]
    last_says_count: bool = False


def flat_encoding(bits: int) -> pb.CompressiveEncoding:
    """Return the description of values stored one after the other."""
    return pb.CompressiveEncoding(flat={"bits_per_value": bits})


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

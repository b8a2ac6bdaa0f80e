"""Arrays: legal encodings of 2.0 that no writer chooses.

Integers packed to any width, compressed numbers, validity of arrays without nulls, column buffers,
random bits where readers ignore them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from lanceref.codecs import bitpack, general
from lanceref.core.packed_values import slice_bits
from lanceref.encodings_2_0.flat import all_nulls, fixed_width, no_nulls, some_nulls
from lanceref.file.column_io import Buffer
from lanceref.file.schema import slot_bits
from lanceref.proto import encodings_v2_0_pb2 as pb
from numpy.typing import NDArray

from lanceref_testing.noncanonical.variations import VariationSampler

PACKABLE = (8, 16, 32, 64)
"""Widths of the integers that can be packed."""


class PageBuilder:
    """Collects the buffers of a page during encoding; some become buffers of the column."""

    def __init__(self, rng: VariationSampler, column_buffers: list[Buffer]) -> None:
        self.rng, self.column_buffers = rng, column_buffers
        self.buffers: list[Buffer] = []

    def add_buffer(self, buffer: pb.Buffer, data: Buffer) -> None:
        """Append the data to the buffers of page or column, and set type and index in `buffer`."""
        buffer.SetInParent()
        buffers = self.buffers
        if self.rng.varies("buffers of the column", 0.1):
            buffer.buffer_type, buffers = pb.Buffer.column, self.column_buffers
        buffer.buffer_index = len(buffers)
        buffers.append(data)

    def flat(self, data: Buffer, bits: int, what: str) -> pb.ArrayEncoding:
        """Add a buffer of values, offsets, keys or bitmaps, compressed or not; return its encoding.

        `what` names the buffer in the variation that compresses it.
        """
        encoding = pb.ArrayEncoding()
        encoding.flat.bits_per_value = bits
        stored = np.frombuffer(data, np.uint8)
        if not self.rng.varies(f"compressed {what}", 0.4):
            self.add_buffer(encoding.flat.buffer, stored)
            return encoding
        scheme = self.rng.choice(("none", "zstd", "lz4"))
        encoding.flat.compression.scheme = scheme
        if self.rng.random() < 0.3:
            encoding.flat.compression.level = self.rng.randint(1, 9)
        if scheme == "none":
            self.add_buffer(encoding.flat.buffer, stored)
            return encoding
        packed = general.compress(scheme, None, stored.data)
        bare = scheme == "zstd" and self.rng.varies("zstd without a size", 0.3)
        self.add_buffer(encoding.flat.buffer, packed[8:] if bare else packed)
        return encoding

    def wrap_values(self, values: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Wrap values without nulls in a `Nullable`, as writers do, or leave it out."""
        return values if self.rng.varies("no nullable around values") else no_nulls(values)

    def wrap_part(self, values: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Return values without nulls as they are, as writers do, or in a `Nullable`."""
        return no_nulls(values) if self.rng.varies("nullable around parts") else values

    def reorder(self, encoding: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Shuffle the buffers of the page, and renumber them in the encoding."""
        order = list(range(len(self.buffers)))
        if self.rng.varies("buffers of a page in any order"):
            self.rng.shuffle(order)
        _renumber(encoding, order)
        shuffled = dict(zip(order, self.buffers, strict=True))
        self.buffers = [shuffled[number] for number in range(len(order))]
        return encoding


def _renumber(message: Message, order: list[int]) -> None:
    if isinstance(message, pb.PackedStruct):
        message = message.buffer
    if isinstance(message, pb.Buffer):
        if message.buffer_type == pb.Buffer.page:
            message.buffer_index = order[message.buffer_index]
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in [value] if isinstance(value, Message) else value:
                _renumber(child, order)


def encode_fixed(array: pa.Array, page: PageBuilder) -> pb.ArrayEncoding:
    """Encode values of fixed width, or vectors of them, with their nulls."""
    if pa.types.is_null(array.type):
        return all_nulls()
    if pa.types.is_fixed_size_list(array.type):
        return encode_nullable(array, page, lambda: _vectors(array, page))
    return encode_nullable(array, page, lambda: _values(array, page))


def encode_nullable(
    array: pa.Array, page: PageBuilder, values: Callable[[], pb.ArrayEncoding]
) -> pb.ArrayEncoding:
    """Wrap the encoding that `values` returns in an arm of `Nullable`."""
    rng = page.rng
    if array.null_count == len(array) and not rng.varies("validity where no row is null"):
        return all_nulls()
    if not array.null_count and not rng.varies("validity where no row is null", 0.2):
        return page.wrap_values(values())
    validity = encode_validity(np.asarray(array.is_valid()), page)
    return some_nulls(validity, values())


def encode_validity(valid: NDArray[np.bool_], page: PageBuilder) -> pb.ArrayEncoding:
    """Encode a bitmap, 1 = valid; the bits after the last row may be random."""
    return page.wrap_part(page.flat(_pack_bits(valid, page.rng), 1, "bitmaps"))


def _pack_bits(
    bits: NDArray[np.bool_] | NDArray[np.uint8], rng: VariationSampler
) -> NDArray[np.uint8]:
    """Pack bits; the padding bits of the last byte may be random."""
    count = -len(bits) % 8
    is_random = count and rng.varies("bits after the last row")
    padding = np.array([rng.randint(0, 1) if is_random else 0 for _ in range(count)], np.uint8)
    return np.packbits(np.concatenate([bits.astype(np.uint8), padding]), bitorder="little")


def _vectors(array: pa.Array, page: PageBuilder) -> pb.ArrayEncoding:
    size = array.type.list_size
    encoding = pb.ArrayEncoding()
    encoding.fixed_size_list.dimension = size
    encoding.fixed_size_list.has_validity = page.rng.varies("vectors that claim validity", 0.3)
    items = array.values.slice(array.offset * size, len(array) * size)
    encoding.fixed_size_list.items.CopyFrom(encode_fixed(items, page))
    return encoding


def _values(array: pa.Array, page: PageBuilder) -> pb.ArrayEncoding:
    """Encode the slots of all rows; slots of null rows may have any bytes."""
    if pa.types.is_boolean(array.type):
        packed = slice_bits(np.frombuffer(array.buffers()[1], np.uint8), array.offset, len(array))
        flags = np.unpackbits(packed, count=len(array), bitorder="little")
        return page.flat(_pack_bits(flags, page.rng), 1, "bitmaps")
    data, bits = fixed_width(array)
    rows = np.array(data).reshape(len(array), bits // 8)
    nulls = np.asarray(array.is_null())
    rows[nulls] = page.rng.randrange(256) if page.rng.varies("bytes in null slots") else 0
    if bits in PACKABLE and not pa.types.is_floating(array.type):
        numbers = np.ascontiguousarray(rows).view(f"<u{bits // 8}").reshape(-1)
        if page.rng.varies("bitpacked for non-negative", 0.3):
            return _packed_in_blocks(numbers, bits, page)
        if page.rng.varies("bitpacked", 0.3):
            return _packed(numbers, bits, page)
    return page.flat(rows.reshape(-1), bits, "values")


def _packed_in_blocks(
    numbers: NDArray[np.unsignedinteger], full: int, page: PageBuilder
) -> pb.ArrayEncoding:
    """Pack numbers into FastLanes blocks of any width that is large enough."""
    encoding = pb.ArrayEncoding()
    width = page.rng.randint(max(1, _bit_length(numbers)), full)
    encoding.bitpacked_for_non_neg.compressed_bits_per_value = width
    encoding.bitpacked_for_non_neg.uncompressed_bits_per_value = full
    packed = bitpack.pack(bitpack.blocks_of(numbers), width)
    page.add_buffer(encoding.bitpacked_for_non_neg.buffer, packed.reshape(-1).view(np.uint8))
    return encoding


def _packed(numbers: NDArray[np.unsignedinteger], full: int, page: PageBuilder) -> pb.ArrayEncoding:
    """Pack numbers back to back, at any width that is large enough, with or without sign."""
    encoding, width = pb.ArrayEncoding(), max(1, _bit_length(numbers))
    if page.rng.varies("bitpacked with a sign"):
        signed = numbers.view(f"<i{full // 8}")
        width = 1 + _bit_length(np.where(signed < 0, ~signed, signed))
        encoding.bitpacked.signed = True
    width = page.rng.randint(width, full)
    cells = numbers.view(np.uint8).reshape(len(numbers), full // 8)
    rows = np.unpackbits(cells, axis=1, bitorder="little")
    encoding.bitpacked.compressed_bits_per_value = width
    encoding.bitpacked.uncompressed_bits_per_value = full
    page.add_buffer(encoding.bitpacked.buffer, _pack_bits(rows[:, :width].reshape(-1), page.rng))
    return encoding


def _bit_length(numbers: NDArray[np.integer]) -> int:
    """Return the number of bits of the largest of non-negative numbers."""
    return int(np.bitwise_or.reduce(numbers)).bit_length() if len(numbers) else 0


def encode_packed_struct(array: pa.StructArray, page: PageBuilder) -> pb.ArrayEncoding:
    """Encode the fields of each row back to back; children are in a `Nullable` or not."""
    cells = []
    for i in range(array.type.num_fields):
        child = array.field(i)
        while pa.types.is_fixed_size_list(child.type):
            size = child.type.list_size
            child = child.values.slice(child.offset * size, len(child) * size)
        width = int(slot_bits(array.type.field(i).type) or 0) // 8
        cells.append(np.array(fixed_width(child)[0]).reshape(len(array), width))
    encoding = pb.ArrayEncoding()
    buffer = encoding.packed_struct.buffer
    page.add_buffer(buffer, np.concatenate(cells, axis=1).reshape(-1))
    inner = [_field_encoding(field.type, buffer, page) for field in array.type]
    encoding.packed_struct.inner.extend(inner)
    return encoding


def _field_encoding(type_: pa.DataType, buffer: pb.Buffer, page: PageBuilder) -> pb.ArrayEncoding:
    """Return the encoding of a field of a packed struct: readers use its width, not its buffer."""
    encoding = pb.ArrayEncoding()
    if pa.types.is_fixed_size_list(type_):
        encoding.fixed_size_list.dimension = type_.list_size
        encoding.fixed_size_list.items.CopyFrom(_field_encoding(type_.value_type, buffer, page))
    else:
        encoding.flat.bits_per_value = int(slot_bits(type_) or 0)
        encoding.flat.buffer.CopyFrom(buffer)
        if page.rng.varies("buffers of packed fields"):
            encoding.flat.buffer.buffer_index += page.rng.randint(1, 3)
    return page.wrap_values(encoding)

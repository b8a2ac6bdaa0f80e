"""Odd arrays: legal encodings of 2.0 that no writer chooses.

Packed integers of any width, strings without ends, compressed numbers, validity where none is null,
dictionaries with items that nobody names, buffers of the column, bits of chance where nobody looks.
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

from lanceref_testing.oddities import Chance

PACKABLE = (8, 16, 32, 64)
"""Widths of the integers that can be packed."""


class OddPage:
    """The buffers of a page while its encoding grows; some become buffers of the column."""

    def __init__(self, rng: Chance, of_column: list[Buffer]) -> None:
        self.rng, self.of_column = rng, of_column
        self.buffers: list[Buffer] = []

    def place(self, buffer: pb.Buffer, data: Buffer) -> None:
        """Keep a buffer and say in `buffer` where."""
        buffer.SetInParent()
        kept = self.buffers
        if self.rng.odd("buffers of the column", 0.1):
            buffer.buffer_type, kept = pb.Buffer.column, self.of_column
        buffer.buffer_index = len(kept)
        kept.append(data)

    def flat(self, data: Buffer, bits: int, what: str) -> pb.ArrayEncoding:
        """Describe values, offsets, keys or bitmaps, compressed or not."""
        encoding = pb.ArrayEncoding()
        encoding.flat.bits_per_value = bits
        stored = np.frombuffer(data, np.uint8)
        if not self.rng.odd(f"compressed {what}", 0.4):
            self.place(encoding.flat.buffer, stored)
            return encoding
        scheme = self.rng.choice(("none", "zstd", "lz4"))
        encoding.flat.compression.scheme = scheme
        if self.rng.random() < 0.3:
            encoding.flat.compression.level = self.rng.randint(1, 9)
        if scheme == "none":
            self.place(encoding.flat.buffer, stored)
            return encoding
        packed = general.compress(scheme, None, stored.data)
        bare = scheme == "zstd" and self.rng.odd("zstd without a size", 0.3)
        self.place(encoding.flat.buffer, packed[8:] if bare else packed)
        return encoding

    def wrapped(self, values: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Wrap values of which none is null, as writers do; sometimes not."""
        return values if self.rng.odd("no nullable around values") else no_nulls(values)

    def bare(self, values: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Return values of which none is null as writers do, bare; sometimes not."""
        return no_nulls(values) if self.rng.odd("nullable around parts") else values

    def mixed(self, encoding: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Number the buffers of the page anew, in any order."""
        order = list(range(len(self.buffers)))
        if self.rng.odd("buffers of a page in any order"):
            self.rng.shuffle(order)
        _renumber(encoding, order)
        mixed = dict(zip(order, self.buffers, strict=True))
        self.buffers = [mixed[number] for number in range(len(order))]
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
            for below in [value] if isinstance(value, Message) else value:
                _renumber(below, order)


def odd_fixed(array: pa.Array, page: OddPage) -> pb.ArrayEncoding:
    """Encode values of fixed width or vectors of them, nulls and all."""
    if pa.types.is_null(array.type):
        return all_nulls()
    if pa.types.is_fixed_size_list(array.type):
        return odd_nullable(array, page, lambda: _vectors(array, page))
    return odd_nullable(array, page, lambda: _values(array, page))


def odd_nullable(
    array: pa.Array, page: OddPage, values: Callable[[], pb.ArrayEncoding]
) -> pb.ArrayEncoding:
    """Wrap what `values` gives into an arm that can say which rows are null."""
    rng = page.rng
    if array.null_count == len(array) and not rng.odd("validity where no row is null"):
        return all_nulls()
    if not array.null_count and not rng.odd("validity where no row is null", 0.2):
        return page.wrapped(values())
    validity = odd_validity(np.asarray(array.is_valid()), page)
    return some_nulls(validity, values())


def odd_validity(valid: NDArray[np.bool_], page: OddPage) -> pb.ArrayEncoding:
    """Encode a bitmap, 1 = valid; what lies after the last row is of chance."""
    return page.bare(page.flat(_tailed(valid, page.rng), 1, "bitmaps"))


def _tailed(bits: NDArray[np.bool_] | NDArray[np.uint8], rng: Chance) -> NDArray[np.uint8]:
    """Pack bits; those that fill the last byte are of chance."""
    count = -len(bits) % 8
    odd = count and rng.odd("bits after the last row")
    rest = np.array([rng.randint(0, 1) if odd else 0 for _ in range(count)], np.uint8)
    return np.packbits(np.concatenate([bits.astype(np.uint8), rest]), bitorder="little")


def _vectors(array: pa.Array, page: OddPage) -> pb.ArrayEncoding:
    size = array.type.list_size
    encoding = pb.ArrayEncoding()
    encoding.fixed_size_list.dimension = size
    encoding.fixed_size_list.has_validity = page.rng.odd("vectors that claim validity", 0.3)
    items = array.values.slice(array.offset * size, len(array) * size)
    encoding.fixed_size_list.items.CopyFrom(odd_fixed(items, page))
    return encoding


def _values(array: pa.Array, page: OddPage) -> pb.ArrayEncoding:
    """Encode the slots of all rows; those of null rows hold anything."""
    if pa.types.is_boolean(array.type):
        packed = slice_bits(np.frombuffer(array.buffers()[1], np.uint8), array.offset, len(array))
        flags = np.unpackbits(packed, count=len(array), bitorder="little")
        return page.flat(_tailed(flags, page.rng), 1, "bitmaps")
    data, bits = fixed_width(array)
    rows = np.array(data).reshape(len(array), bits // 8)
    nulls = np.asarray(array.is_null())
    rows[nulls] = page.rng.randrange(256) if page.rng.odd("bytes below nulls") else 0
    if bits in PACKABLE and not pa.types.is_floating(array.type):
        numbers = np.ascontiguousarray(rows).view(f"<u{bits // 8}").reshape(-1)
        if page.rng.odd("bitpacked for non-negative", 0.3):
            return _packed_in_blocks(numbers, bits, page)
        if page.rng.odd("bitpacked", 0.3):
            return _packed(numbers, bits, page)
    return page.flat(rows.reshape(-1), bits, "values")


def _packed_in_blocks(
    numbers: NDArray[np.unsignedinteger], full: int, page: OddPage
) -> pb.ArrayEncoding:
    """Pack numbers into FastLanes blocks of any width that holds them."""
    encoding = pb.ArrayEncoding()
    width = page.rng.randint(max(1, _bit_length(numbers)), full)
    encoding.bitpacked_for_non_neg.compressed_bits_per_value = width
    encoding.bitpacked_for_non_neg.uncompressed_bits_per_value = full
    packed = bitpack.pack(bitpack.blocks_of(numbers), width)
    page.place(encoding.bitpacked_for_non_neg.buffer, packed.reshape(-1).view(np.uint8))
    return encoding


def _packed(numbers: NDArray[np.unsignedinteger], full: int, page: OddPage) -> pb.ArrayEncoding:
    """Pack numbers back to back, at any width that holds them, with their sign or without."""
    encoding, width = pb.ArrayEncoding(), max(1, _bit_length(numbers))
    if page.rng.odd("bitpacked with a sign"):
        signed = numbers.view(f"<i{full // 8}")
        width = 1 + _bit_length(np.where(signed < 0, ~signed, signed))
        encoding.bitpacked.signed = True
    width = page.rng.randint(width, full)
    cells = numbers.view(np.uint8).reshape(len(numbers), full // 8)
    rows = np.unpackbits(cells, axis=1, bitorder="little")
    encoding.bitpacked.compressed_bits_per_value = width
    encoding.bitpacked.uncompressed_bits_per_value = full
    page.place(encoding.bitpacked.buffer, _tailed(rows[:, :width].reshape(-1), page.rng))
    return encoding


def _bit_length(numbers: NDArray[np.integer]) -> int:
    """Return the bits of the largest of some numbers that are not negative."""
    return int(np.bitwise_or.reduce(numbers)).bit_length() if len(numbers) else 0


def odd_packed_struct(array: pa.StructArray, page: OddPage) -> pb.ArrayEncoding:
    """Encode rows back to back; the children are described with or without `nullable`."""
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
    page.place(buffer, np.concatenate(cells, axis=1).reshape(-1))
    inner = [_described(field.type, buffer, page) for field in array.type]
    encoding.packed_struct.inner.extend(inner)
    return encoding


def _described(type_: pa.DataType, buffer: pb.Buffer, page: OddPage) -> pb.ArrayEncoding:
    """Describe a child of a packed struct: only its width matters, whatever buffer it names."""
    encoding = pb.ArrayEncoding()
    if pa.types.is_fixed_size_list(type_):
        encoding.fixed_size_list.dimension = type_.list_size
        encoding.fixed_size_list.items.CopyFrom(_described(type_.value_type, buffer, page))
    else:
        encoding.flat.bits_per_value = int(slot_bits(type_) or 0)
        encoding.flat.buffer.CopyFrom(buffer)
        if page.rng.odd("buffers of packed fields"):
            encoding.flat.buffer.buffer_index += page.rng.randint(1, 3)
    return page.wrapped(encoding)

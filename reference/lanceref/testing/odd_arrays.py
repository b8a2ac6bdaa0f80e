"""Odd arrays: legal encodings of 2.0 that no writer chooses.

Packed integers of any width, strings without ends, compressed numbers, validity where none is null,
dictionaries with items that nobody names, buffers of the column, bits of chance where nobody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.arrays.encode import all_nulls, bits_of, fixed_width, no_nulls, some_nulls
from lanceref.arrays.flat import slot_bits
from lanceref.codecs import bitpack_encode, general_encode
from lanceref.file.column_writer import Buffer
from lanceref.proto import encodings_v2_0_pb2 as pb

PACKABLE = (8, 16, 32, 64)
"""Widths of the integers that can be packed."""


class OddPage:
    """The buffers of a page while its encoding grows; some become buffers of the column."""

    def __init__(self, rng: Random, of_column: list[Buffer]) -> None:
        self.rng, self.of_column = rng, of_column
        self.buffers: list[Buffer] = []

    def place(self, buffer: pb.Buffer, data: Buffer) -> None:
        """Keep a buffer and say in `buffer` where."""
        buffer.SetInParent()
        kept = self.buffers
        if self.rng.random() < 0.1:
            buffer.buffer_type, kept = pb.Buffer.column, self.of_column
        buffer.buffer_index = len(kept)
        kept.append(data)

    def flat(self, data: Buffer, bits: int) -> pb.ArrayEncoding:
        """Describe values of one width, compressed or not."""
        encoding = pb.ArrayEncoding()
        encoding.flat.bits_per_value = bits
        stored = np.frombuffer(data, np.uint8)
        scheme = self.rng.choice((None,) * 6 + ("none", "zstd", "lz4", "bare zstd"))
        if scheme is not None:
            encoding.flat.compression.scheme = scheme.removeprefix("bare ")
            if self.rng.random() < 0.3:
                encoding.flat.compression.level = self.rng.randint(1, 9)
        if scheme in (None, "none"):
            self.place(encoding.flat.buffer, stored)
            return encoding
        packed = general_encode.compress(encoding.flat.compression.scheme, None, stored.data)
        self.place(encoding.flat.buffer, packed[8:] if scheme == "bare zstd" else packed)
        return encoding

    def maybe_wrapped(self, values: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Return values of which none is null, said or not."""
        return no_nulls(values) if self.rng.random() < 0.5 else values

    def mixed(self, encoding: pb.ArrayEncoding) -> pb.ArrayEncoding:
        """Number the buffers of the page anew, in any order."""
        order = list(range(len(self.buffers)))
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
    if array.null_count == len(array) and rng.random() < 0.5:
        return all_nulls()
    if not array.null_count and rng.random() < 0.7:
        return page.maybe_wrapped(values())
    if rng.random() < 0.5:
        validity = odd_validity(np.asarray(array.is_valid()), page)
        return some_nulls(validity, values())
    inner = values()
    return some_nulls(odd_validity(np.asarray(array.is_valid()), page), inner)


def odd_validity(valid: NDArray[np.bool_], page: OddPage) -> pb.ArrayEncoding:
    """Encode a bitmap, 1 = valid; what stands behind the last row is of chance."""
    return page.maybe_wrapped(page.flat(_tailed(valid, page.rng), 1))


def _tailed(bits: NDArray[np.bool_] | NDArray[np.uint8], rng: Random) -> NDArray[np.uint8]:
    """Pack bits; those that fill the last byte are of chance."""
    rest = np.array([rng.randint(0, 1) for _ in range(-len(bits) % 8)], np.uint8)
    return np.packbits(np.concatenate([bits.astype(np.uint8), rest]), bitorder="little")


def _vectors(array: pa.Array, page: OddPage) -> pb.ArrayEncoding:
    size = array.type.list_size
    encoding = pb.ArrayEncoding()
    encoding.fixed_size_list.dimension = size
    encoding.fixed_size_list.has_validity = page.rng.random() < 0.3
    items = array.values.slice(array.offset * size, len(array) * size)
    encoding.fixed_size_list.items.CopyFrom(odd_fixed(items, page))
    return encoding


def _values(array: pa.Array, page: OddPage) -> pb.ArrayEncoding:
    """Encode the slots of all rows; those of null rows hold anything."""
    if pa.types.is_boolean(array.type):
        bits = np.unpackbits(
            bits_of(array.buffers()[1], array.offset, len(array)),
            count=len(array),
            bitorder="little",
        )
        return page.flat(_tailed(bits, page.rng), 1)
    data, bits = fixed_width(array)
    rows = np.array(data).reshape(len(array), bits // 8)
    nulls = np.asarray(array.is_null())
    if bits in PACKABLE and not pa.types.is_floating(array.type) and page.rng.random() < 0.6:
        rows[nulls] = 0
        return _packed(np.ascontiguousarray(rows).view(f"<u{bits // 8}").reshape(-1), array, page)
    rows[nulls] = page.rng.randrange(256)
    return page.flat(rows.reshape(-1), bits)


def _packed(
    numbers: NDArray[np.unsignedinteger], array: pa.Array, page: OddPage
) -> pb.ArrayEncoding:
    """Pack numbers to any width that holds them."""
    full, encoding = int(slot_bits(array.type) or 0), pb.ArrayEncoding()
    most = int(np.bitwise_or.reduce(numbers)).bit_length() if len(numbers) else 0
    width = page.rng.randint(max(1, most), full)
    if page.rng.random() < 0.5:
        blocks = bitpack_encode.blocks_of(numbers)
        encoding.bitpacked_for_non_neg.compressed_bits_per_value = width
        encoding.bitpacked_for_non_neg.uncompressed_bits_per_value = full
        packed = bitpack_encode.pack(blocks, width).reshape(-1).view(np.uint8)
        page.place(encoding.bitpacked_for_non_neg.buffer, packed)
        return encoding
    signed = page.rng.random() < 0.5
    if signed:
        values = numbers.view(f"<i{full // 8}").astype(object)
        needed = max((int(v if v >= 0 else ~v).bit_length() + 1 for v in values), default=1)
        width = page.rng.randint(needed, full)
    rows = np.unpackbits(
        numbers.view(np.uint8).reshape(len(numbers), full // 8), 1, bitorder="little"
    )
    encoding.bitpacked.compressed_bits_per_value = width
    encoding.bitpacked.uncompressed_bits_per_value = full
    encoding.bitpacked.signed = signed
    page.place(encoding.bitpacked.buffer, _tailed(rows[:, :width].reshape(-1), page.rng))
    return encoding


def odd_packed_struct(array: pa.StructArray, page: OddPage) -> pb.ArrayEncoding:
    """Encode rows back to back; the children are described with or without `nullable`."""
    encoding, cells = pb.ArrayEncoding(), []
    for i in range(array.type.num_fields):
        child = array.field(i)
        encoding.packed_struct.inner.append(_described(child.type, page))
        while pa.types.is_fixed_size_list(child.type):
            size = child.type.list_size
            child = child.values.slice(child.offset * size, len(child) * size)
        width = int(slot_bits(array.type.field(i).type) or 0) // 8
        cells.append(np.array(fixed_width(child)[0]).reshape(len(array), width))
    page.place(encoding.packed_struct.buffer, np.concatenate(cells, axis=1).reshape(-1))
    return encoding


def _described(type_: pa.DataType, page: OddPage) -> pb.ArrayEncoding:
    """Describe a child of a packed struct: only its width matters."""
    encoding = pb.ArrayEncoding()
    if pa.types.is_fixed_size_list(type_):
        encoding.fixed_size_list.dimension = type_.list_size
        encoding.fixed_size_list.items.CopyFrom(_described(type_.value_type, page))
    else:
        encoding.flat.bits_per_value = int(slot_bits(type_) or 0)
        encoding.flat.buffer.buffer_index = page.rng.randint(0, 3)
    return page.maybe_wrapped(encoding)

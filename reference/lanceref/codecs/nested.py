"""Nested values of one leaf: fixed-size lists of primitives, and packed structs.

Bitmaps hold the validity of the inner levels of fixed-size lists. The fields of a packed struct are
side by side in each row.

Layout in a chunk: for each level with `has_validity`, outermost first, a bitmap over its items;
then the flat items. Layout of one zipped value: the same bitmaps for the items of this value, then
the items. A level whose items are all null has the child `constant {}`: bitmaps, and no items.

Layout of a fixed row: the bytes of each field in field order, no padding.
Layout of a variable row (a variable value of the page): fixed fields as raw bytes, variable ones as
a length of `bits_per_length` bits and the bytes, each coded as its field's encoding says.

Clauses: L.codec.fixed-size-list.items, L.codec.fixed-size-list.bitmap,
L.codec.fixed-size-list.all-null, L.codec.fixed-size-list.size,
L.codec.fixed-size-list.whole-bytes, L.codec.packed-struct.bits, L.codec.packed-struct.field,
L.codec.packed-struct.row
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lanceref.codecs.buffers import (
    Buffer,
    MiniBlocks,
    Part,
    decode_flat,
    flat_encoding,
    innermost,
    list_bits,
    value_bits,
    want_arm,
    weave,
)
from lanceref.codecs.values import (
    MAX_BITS,
    Bytes,
    Fixed,
    FixedSizeList,
    Ints,
    Rows,
    Validity,
    Values,
    Variable,
    join_pieces,
)
from lanceref.core.errors import CorruptPage, DataRefused, Place
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

_ALL_NULL = "L.codec.fixed-size-list.all-null"


def check_lists(lists: pb.FixedSizeList, place: Place) -> None:
    """Check the description of fixed-size lists. Raises UnknownEncoding, CorruptPage."""
    want_arm(lists.values, ("flat", "fixed_size_list", "constant"), place)
    is_constant, clause = lists.values.HasField("constant"), "L.codec.fixed-size-list.all-null"
    if is_constant and (not lists.has_validity or lists.values.constant.value):
        raise CorruptPage(clause, place, "a constant", "only nulls")
    items, bits = lists.items_per_value, list_bits(lists)
    if not items or not 0 < bits <= MAX_BITS:
        found, wanted = f"{items} items of a value of {bits} bits", f"at most {MAX_BITS} bits"
        raise CorruptPage("L.codec.fixed-size-list.items", place, found, wanted)


def decode_lists(
    encoding: pb.FixedSizeList, buffers: Sequence[Buffer], count: int
) -> FixedSizeList:
    """Decode `count` lists: bitmaps, then items, a buffer each. Raises CorruptPage."""
    size, inside, validity = encoding.items_per_value, encoding.values, None
    if encoding.has_validity:
        bitmap, *buffers = buffers
        bitmap.want_size(-(-count * size // 8), "L.codec.fixed-size-list.bitmap")
        bitmap.own("item validity", "bitmap", "L.codec.fixed-size-list.bitmap")
        bits = np.unpackbits(bitmap.data, count=count * size, bitorder="little")
        validity = bits.view(np.bool_)
    if inside.HasField("constant"):
        found, wanted = "all items null in a chunk", "a full-zip page"
        raise CorruptPage(_ALL_NULL, buffers[0].place, found, wanted)
    items: Fixed | FixedSizeList
    if inside.HasField("fixed_size_list"):
        items = decode_lists(inside.fixed_size_list, buffers, count * size)
    else:
        items = decode_flat(buffers[0], count * size, inside.flat.bits_per_value, "items")
    return FixedSizeList(count, size, validity, items)


def decode_zipped_lists(
    encoding: pb.FixedSizeList, rows: Bytes, place: Place, lists: int = 1
) -> FixedSizeList:
    """Decode values that were cut one by one, with some lists in each.

    `rows` uint8 (values, bytes of a value). Raises CorruptPage.
    """
    items, inside = lists * encoding.items_per_value, encoding.values
    validity: Validity = None
    if encoding.has_validity:
        width = -(-items // 8)
        cells, rows = rows[:, :width], rows[:, width:]
        bits = np.unpackbits(cells, axis=1, count=items, bitorder="little")
        validity = bits.reshape(-1).view(np.bool_)
    below: Fixed | FixedSizeList
    if inside.HasField("fixed_size_list"):
        below = decode_zipped_lists(inside.fixed_size_list, rows, place, items)
    else:
        below = _zip_items(inside, rows, items, validity, place)
    return FixedSizeList(lists * len(rows), encoding.items_per_value, validity, below)


def decode_list_block(encoding: pb.FixedSizeList, buffer: Buffer, count: int) -> FixedSizeList:
    """Decode `count` lists in their zipped form. Raises CorruptPage."""
    size, clause = list_bits(encoding) // 8, "L.codec.fixed-size-list.size"
    is_doubled = buffer.size == 2 * count * size and innermost(encoding).HasField("constant")
    if not is_doubled:  # D.codec.null-list-dictionary
        buffer.want_size(count * size, clause)
    buffer.own("values", "fixed-size lists", clause)
    rows = buffer.data[: count * size].reshape(count, size)
    return decode_zipped_lists(encoding, rows, buffer.place)


def _zip_items(
    items: CompressiveEncoding, rows: Bytes, per_value: int, validity: Validity, place: Place
) -> Fixed:
    if items.HasField("constant"):
        if validity is None or validity.any() or rows.shape[1]:
            raise CorruptPage(_ALL_NULL, place, "valid items", "a bitmap of zeros")
        return Fixed(0, len(rows) * per_value, np.empty(0, np.uint8))
    bits = items.flat.bits_per_value
    found, wanted = f"{rows.shape[1]} bytes", f"{per_value} items of {bits} bits"
    if per_value * bits % 8:
        raise CorruptPage("L.codec.fixed-size-list.whole-bytes", place, wanted, "whole bytes")
    if rows.shape[1] * 8 != per_value * bits:
        raise CorruptPage("L.codec.fixed-size-list.size", place, found, wanted)
    return Fixed(bits, len(rows) * per_value, np.ascontiguousarray(rows).reshape(-1))


def list_encoding(values: FixedSizeList, *, keeps_null_items: bool) -> CompressiveEncoding:
    """Return the description; lists of nothing but nulls have no items unless these are kept."""
    if _has_nothing(values.validity) and not keeps_null_items:
        items = CompressiveEncoding(constant={})
    elif isinstance(values.items, Fixed):
        items = flat_encoding(values.items.bits)
    else:
        items = list_encoding(values.items, keeps_null_items=keeps_null_items)
    lists = {"items_per_value": values.dimension, "values": items}
    lists["has_validity"] = values.validity is not None
    return CompressiveEncoding(fixed_size_list=lists)


def _has_nothing(validity: Validity) -> bool:
    """Whether every item of a level is null."""
    return validity is not None and not validity.any()


def encode_lists(values: FixedSizeList, counts: Ints) -> MiniBlocks:
    """Encode chunks of `counts` lists: one bitmap for each layer with nulls, then the items.

    `counts` (chunks,).
    """
    buffers, inner = list[Part](), values.innermost
    for items, validity in values.levels():
        if validity is not None:
            buffers.append(_bits_of_chunks(validity.view(np.uint8), counts * items))
    if inner.bits % 8:
        flags = np.unpackbits(inner.data, count=inner.count, bitorder="little")
        buffers.append(_bits_of_chunks(flags, counts * (values.bits // inner.bits)))
    else:
        buffers.append((inner.data, counts * values.bits // 8))
    return MiniBlocks(list_encoding(values, keeps_null_items=True), counts, tuple(buffers))


def _bits_of_chunks(flags: Bytes, counts: Ints) -> Part:
    """Pack the flags of each chunk from a byte of its own on."""
    if not (counts[:-1] % 8).any():
        return np.packbits(flags, bitorder="little"), -(-counts // 8)
    ends = np.cumsum(counts)
    bounds = zip((ends - counts).tolist(), ends.tolist(), strict=True)
    parts = [np.packbits(flags[start:end], bitorder="little") for start, end in bounds]
    return np.concatenate(parts), -(-counts // 8)


def encode_zipped_lists(values: FixedSizeList) -> tuple[CompressiveEncoding, Fixed]:
    """Encode each list on its own: the bitmaps of its layers, then its items.

    Raises DataRefused when a value does not take whole bytes.
    """
    cells, bits = list[Bytes](), values.bits
    for items, validity in values.levels():
        if validity is not None:
            cells.append(_bits_of_values(validity.view(np.uint8), values.count, items))
        if _has_nothing(validity):
            break
    else:
        if bits % 8:
            raise DataRefused("fixed-size lists of bits that do not fill whole bytes")
        data = values.innermost.data[: values.count * bits // 8]
        cells.append(data.reshape(values.count, bits // 8))
    rows = np.concatenate(cells, axis=1)
    encoding = list_encoding(values, keeps_null_items=False)
    return encoding, Fixed(8 * rows.shape[1], values.count, rows.reshape(-1))


def _bits_of_values(flags: Bytes, count: int, items: int) -> Bytes:
    """Return the bitmap of each value, uint8 (count, bytes).

    Bits after the items of a value mean nothing. As in the oracle's files they are those of the
    next value when this one begins at a whole byte of the items' own bitmap, and 0 otherwise.
    """
    room = -(-items // 8) * 8
    padded = np.append(flags, np.zeros(room, np.uint8))
    windows = np.lib.stride_tricks.sliding_window_view(padded, room)[: count * items : items]
    cells = np.packbits(windows, axis=1, bitorder="little")
    if items % 8:
        shifted = np.arange(count) * items % 8 != 0
        cells[shifted, -1] &= np.uint8((1 << items % 8) - 1)
    return cells


Cells = tuple[CompressiveEncoding, Fixed | Variable, int]
"""One encoded field: its description, its values, the bits of a variable value's length."""


def check_row_bits(bits: Sequence[int], row_bits: int, place: Place) -> None:
    """Raise CorruptPage for fields that are not whole bytes or do not fill the row."""
    if any(width % 8 or width <= 0 for width in bits) or sum(bits) != row_bits:
        clause, found = "L.codec.packed-struct.bits", f"fields of {list(bits)[:8]} bits"
        raise CorruptPage(clause, place, found, f"bytes that fill {row_bits} bits")


def check_variable_rows(encoding: pb.VariablePackedStruct, place: Place) -> None:
    """Check the fields of rows of variable size. Raises UnknownEncoding, CorruptPage."""
    for field in encoding.fields:
        if field.WhichOneof("layout") == "bits_per_length":
            arms = ("variable", "fsst", "general", "variable_packed_struct")
            want_arm(field.value, arms, place)
            wanted: tuple[int, ...] = (32, 64)
            bits = field.bits_per_length
        else:
            want_arm(field.value, ("flat", "fixed_size_list", "packed_struct"), place)
            wanted, bits = ((value_bits(field.value) or 0) + 7 & -8,), field.bits_per_value
        if bits not in wanted:
            raise CorruptPage("L.codec.packed-struct.field", place, f"{bits} bits", wanted)


def split_rows(rows: Fixed, bits: Sequence[int]) -> Rows:
    """Cut rows of fixed width into the fields of a packed struct."""
    table, at, fields = rows.data.reshape(rows.count, rows.bits // 8), 0, list[Values]()
    for width in bits:
        part = np.ascontiguousarray(table[:, at : at + width // 8])
        fields.append(Fixed(width, rows.count, part.reshape(-1)))
        at += width // 8
    return Rows(rows.count, tuple(fields))


def split_variable_rows(
    encoding: pb.VariablePackedStruct, rows: Variable, decode: Callable[..., Values], place: Place
) -> Rows:
    """Cut variable rows into their fields, which `decode` decodes. Raises CorruptPage."""
    at, ends, fields = rows.offsets[:-1].copy(), rows.offsets[1:], list[Values]()

    def corrupt(found: str, wanted: str) -> CorruptPage:
        return CorruptPage("L.codec.packed-struct.row", place, found, wanted)

    def cut(width: int) -> Bytes:
        """Cut `width` bytes from every row: uint8 (rows, width)."""
        if np.any(ends - at < width):
            raise corrupt("a row that ends early", f"{width} bytes of a field")
        cells = rows.data[at[:, None] + np.arange(width)]
        at[:] += width
        return np.ascontiguousarray(cells)

    for field in encoding.fields:
        if field.WhichOneof("layout") == "bits_per_value":
            cells = cut(field.bits_per_value // 8).reshape(-1)
            values = Fixed(field.bits_per_value, len(at), cells)
            fields.append(decode(field.value, values, place=place))
            continue
        width = field.bits_per_length // 8
        lengths = cut(width).view(f"<u{width}").reshape(-1).astype(np.uint64)
        if np.any(lengths > (ends - at).astype(np.uint64)):
            raise corrupt("a length beyond its row", "the bytes it promises")
        stops = at + lengths.astype(np.int64)
        offsets = np.append(0, np.cumsum(stops - at))
        texts = Variable(offsets, join_pieces(rows.data, at, stops))
        fields.append(decode(field.value, texts, place=place))
        at[:] = stops
    if np.any(at != ends):
        raise corrupt("bytes after the last field", "rows used up by their fields")
    return Rows(len(at), tuple(fields))


def join_rows(rows: Rows) -> tuple[CompressiveEncoding, Fixed]:
    """Put the fixed-width fields of each row side by side. Raises DataRefused for bits."""
    fields = [field for field in rows.fields if isinstance(field, Fixed)]
    if any(field.bits % 8 for field in fields):
        raise DataRefused("a packed struct cannot hold fields that are not whole bytes")
    cells = [field.data.reshape(rows.count, field.bits // 8) for field in fields]
    joined = np.concatenate(cells, axis=1)
    bits = 8 * joined.shape[1]
    packed = {"bits_per_value": [one.bits for one in fields], "values": flat_encoding(bits)}
    return CompressiveEncoding(packed_struct=packed), Fixed(bits, rows.count, joined.reshape(-1))


def join_variable_rows(count: int, fields: Sequence[Cells]) -> tuple[CompressiveEncoding, Variable]:
    """Put encoded fields of each row one after the other, variable ones after their length."""
    encoding, columns = CompressiveEncoding(), list[Part]()
    for description, values, length_bits in fields:
        field = encoding.variable_packed_struct.fields.add(value=description)
        if isinstance(values, Fixed):
            field.bits_per_value = values.bits
            columns.append((values.data, np.full(count, values.bits // 8)))
            continue
        field.bits_per_length, lengths = length_bits, np.diff(values.offsets)
        width = length_bits // 8
        prefix = lengths.astype(f"<u{width}").view(np.uint8), np.full(count, width)
        columns += [prefix, (values.data, lengths)]
    data, sizes = weave(columns)
    return encoding, Variable(np.append(0, np.cumsum(sizes)), data)

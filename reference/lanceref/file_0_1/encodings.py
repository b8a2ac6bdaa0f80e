"""Page encodings of 0.1: plain values, strings, and dictionaries.

Plain pages hold values of a fixed width back to back, a fixed-size list as its items. There is no
validity: a null is whatever value was stored for it, zero mostly. The page table points at the
offsets of a var-binary page; a value without bytes is null in a nullable field, else empty. A field
of Arrow's dictionary type stores its keys as a plain page of the key type. The values are those of
the first batch, for all batches of all files; `Field.dictionary` of the schema says where.

Layout, plain: num_rows x (items per row) values, without padding; booleans one bit each.
Layout, var-binary: bytes of the values; at the position of the page (num_rows + 1) x i64, the
absolute offset of each value, last the end.
Layout of dictionary values: strings and byte strings as a var-binary page, numbers as a plain page.

Clauses: L.legacy.plain.values, L.legacy.plain.bool, L.legacy.plain.fixed-size-list,
L.legacy.plain.nulls, L.legacy.binary.offsets, L.legacy.binary.ascending, L.legacy.binary.null,
L.legacy.binary.utf8, L.legacy.limits.run, L.legacy.dictionary.location,
L.legacy.dictionary.values, L.legacy.dictionary.key-range, L.legacy.dictionary.value-type

Divergences: D.legacy.nulls-lost, D.legacy.empty-is-null, D.legacy.second-dictionary
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Ints
from lanceref.core import packed_values
from lanceref.core.arrow_buffers import STRINGS, check_keys, check_text, offsets_buffer
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import OutOfRange, Place, UnknownEncoding
from lanceref.encodings_2_0.flat import innermost_items
from lanceref.file.schema import Field, LanceSchema, slot_bits
from lanceref.file_0_1.page_table import BatchRanges, Node, Pages, gather, read_offsets

OFFSET_BYTES = 8
"""Size of one offset."""

GAP_BYTES = 64
"""Values that are no further apart share a request: of more, what is between them costs more."""

Dictionaries = Mapping[int, pa.Array]
"""The values of the dictionary fields of a schema by field id."""


def plain_node(file: FileBytes, pages: Pages, type_: pa.DataType, rows: Ints | None) -> Node:
    """Open plain pages; `rows` are the rows of each batch, None for items of lists.

    `rows` (batches,).
    """
    leaf, bits, clause = type_, slot_bits(type_) or 0, "L.legacy.plain.values"
    while pa.types.is_fixed_size_list(leaf):
        leaf = leaf.value_type
    items, is_bool = bits // leaf.bit_width, pa.types.is_boolean(leaf)
    pages.require(rows, bits)

    def read(ranges: BatchRanges) -> pa.Array:
        firsts, lasts = ranges.starts * bits // 8, (ranges.ends * bits + 7) // 8
        offsets, sizes = pages.positions[ranges.batches] + firsts, lasts - firsts
        named = ("values", clause, "bitmap" if is_bool else f"{leaf}[]")
        data = gather(file, offsets, sizes, named, GAP_BYTES)
        if is_bool:  # L.legacy.plain.bool: bitmaps move so that the first bit is bit 0
            starts, ends = ranges.starts * items, ranges.ends * items
            if (starts % 8).any() or (ends[:-1] % 8).any():
                data = packed_values.concat_bits(data, starts, ends - starts)
        # L.legacy.plain.nulls, L.legacy.plain.fixed-size-list: there is no validity
        return packed_values.fixed_array(type_, ranges.num_rows, data)

    return Node(type_, max(bits, 1) / 8, pages.lengths, read)


def encode_plain(array: pa.Array) -> bytes | memoryview:
    """Return the bytes of a plain page: below a null what the array holds there, or false."""
    array = innermost_items(array)
    if pa.types.is_boolean(array.type) and array.null_count:
        array = array.fill_null(False)
    data, bits = packed_values.value_bytes(array), len(array) * int(array.type.bit_width)
    return data.data if len(data) else bytes(-(-bits // 8))


def binary_node(
    file: FileBytes, pages: Pages, type_: pa.DataType, rows: Ints | None, *, nullable: bool
) -> Node:
    """Open pages of strings; without bytes they are null when `nullable`.

    `rows` (batches,). Raises LimitExceeded, OutOfRange.
    """
    pages.require(rows, 8 * OFFSET_BYTES, OFFSET_BYTES)
    ctx, num_rows = file.ctx, int(pages.lengths.sum())

    def read(ranges: BatchRanges) -> pa.Array:
        offsets = read_offsets(file, pages, ranges, "<i8", "L.legacy.binary.ascending")
        firsts, lasts = offsets.firsts, offsets.lasts
        outside = (firsts < 0) | (lasts > pages.data_end)
        if outside.any():
            number = int(np.argmax(outside))
            position = int(pages.positions[ranges.batches[number]])
            place = ctx.at(position, OFFSET_BYTES * int(ranges.counts[number] + 1))
            found, wanted = f"bytes {firsts[number]} to {lasts[number]}", f"0 to {pages.data_end}"
            raise OutOfRange("L.legacy.binary.offsets", place, found, wanted)
        own = offsets_buffer(type_, offsets.ends(), "L.legacy.limits.run", pages.place)
        named = ("bytes of values", "L.legacy.binary.offsets", "bytes")
        data = gather(file, firsts, lasts - firsts, named)
        # L.legacy.binary.null
        validity = packed_values.null_bitmap(offsets.lengths == 0) if nullable else None
        buffers = [validity, own, pa.py_buffer(data)]
        array = pa.Array.from_buffers(type_, ranges.num_rows, buffers)
        if len(firsts):
            first = int(firsts.min())
            with ctx.piece():
                place = ctx.at(first, int(lasts.max()) - first)
                check_text(array, "L.legacy.binary.utf8", place)
        return array

    # bytes of a row if the file held nothing else
    row_bytes = max(OFFSET_BYTES, pages.data_end / max(1, num_rows))
    return Node(type_, row_bytes, pages.lengths, read)


def encode_binary(array: pa.Array, position: int) -> tuple[bytes | memoryview, bytes]:
    """Return bytes and offsets of a page whose bytes begin at `position` of the file."""
    own = packed_values.offsets_of(array)
    data = memoryview(array.buffers()[2] or b"")[own[0] : own[-1]]
    return data, (own - own[0] + position).astype("<i8").tobytes()


def dictionary_node(
    file: FileBytes, pages: Pages, type_: pa.DataType, rows: Ints | None, values: pa.Array
) -> Node:
    """Open keys into `values`; each must be below their number. Raises OutOfRange.

    `rows` (batches,).
    """
    keys = plain_node(file, pages, type_.index_type, rows)

    def read(ranges: BatchRanges) -> pa.Array:
        indices = keys.read(ranges)
        clause = "L.legacy.dictionary.key-range"
        check_keys(indices.to_numpy(), len(values), clause, pages.place)
        return pa.DictionaryArray.from_arrays(indices, values)

    return Node(type_, keys.row_bytes, keys.lengths, read)


def parse_dictionaries(
    file: FileBytes, schema: LanceSchema, data_end: int, place: Place
) -> dict[int, pa.Array]:
    """Read the values that the schema at `place` of `file` locates, by field id."""
    dictionaries = {}
    for field in schema.flat():
        if field.dictionary is not None and pa.types.is_dictionary(field.arrow.type):
            with file.ctx.group(f"dictionary of {field.name}"):
                dictionaries[field.id] = _values(file, field, field.dictionary, data_end, place)
    return dictionaries


def _values(
    file: FileBytes, field: Field, where: tuple[int, int], data_end: int, place: Place
) -> pa.Array:
    position, length = where
    if not (0 <= position <= data_end and 0 <= length <= data_end):
        clause, found = "L.legacy.dictionary.values", f"{length} values at {position}"
        raise OutOfRange(clause, place, found, f"bytes 0 to {data_end}")
    type_ = field.arrow.type.value_type
    if not length:  # a table without rows: nothing is stored
        return pa.nulls(0, type_)
    pages = Pages(np.array([position]), np.array([length]), data_end, place)
    if type_ in STRINGS:
        node = binary_node(file, pages, type_, None, nullable=field.arrow.nullable)
    elif is_number(type_):
        node = plain_node(file, pages, type_, None)
    else:
        clause, wanted = "L.legacy.dictionary.value-type", "numbers, strings or byte strings"
        raise UnknownEncoding(clause, place, f"a dictionary of {type_}", wanted)
    return node.read(BatchRanges.whole(0, length))


def is_number(type_: pa.DataType) -> bool:
    """Whether values of this type are stored as plain numbers in a dictionary."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_))


def encode_dictionaries(
    dictionaries: Dictionaries, position: int
) -> tuple[bytes, dict[int, tuple[int, int]]]:
    """Return the bytes of all dictionaries that are written at `position`, ascending by field id.

    With them comes by field id what `Field.dictionary` says: position, and number of values.
    """
    written, located = b"", {}
    for field_id, values in sorted(dictionaries.items()):
        data, start = encode_values(values, position + len(written))
        written += data
        located[field_id] = (start, len(values))
    return written, located


def encode_values(values: pa.Array, position: int) -> tuple[bytes, int]:
    """Return the bytes of a dictionary that are written at `position`, and where it then lies."""
    if values.type in STRINGS:
        data, ends = encode_binary(values, position)
        return bytes(data) + ends, position + len(data)
    return bytes(encode_plain(values)), position

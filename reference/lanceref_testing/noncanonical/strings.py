"""Strings: legal encodings of strings and dictionaries in 2.0 that no writer chooses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.codecs.values import Variable
from lanceref.codecs.variable import symbol_table
from lanceref.core.arrow_buffers import STRINGS
from lanceref.encodings_2_0.binary import variable_of
from lanceref.encodings_2_0.flat import all_nulls
from lanceref.proto import encodings_v2_0_pb2 as pb
from numpy.typing import NDArray

from lanceref_testing.noncanonical.arrays import (
    PageBuilder,
    encode_fixed,
    encode_nullable,
    encode_validity,
)
from lanceref_testing.noncanonical.codecs import encode_fsst
from lanceref_testing.noncanonical.variations import VariationSampler

MAX_STRING_ITEMS = 255
"""Most items of a dictionary of strings, whose keys have one byte; key 0 is null."""


def encode_strings(
    array: pa.Array, page: PageBuilder, *, in_dictionary: bool = False
) -> pb.ArrayEncoding:
    """Encode strings by a random encoding."""
    rng, nulls = page.rng, np.asarray(array.is_null())
    if nulls.all() and rng.varies("nulls without values", 0.3):
        return all_nulls()
    lengths = {len(value.as_buffer()) for value in array if value.is_valid}
    width = lengths.pop() if len(lengths) == 1 else 0
    if width and rng.varies("strings of one width"):
        return encode_nullable(array, page, lambda: _encode_fixed_width(array, width, page))
    distinct = array.unique().drop_null()
    fits = not in_dictionary and len(distinct) <= MAX_STRING_ITEMS and rng.random() < 0.4
    if fits and (array.type == pa.string() or rng.varies("dictionary of any strings")):
        return _encode_string_dictionary(array, distinct, page)
    values = add_bytes_of_nulls(variable_of(array), nulls, rng)
    if not rng.varies("validity over strings", 0.3):
        return _encode_fsst_or_binary(values, nulls, array.type, page)
    below = np.zeros(len(array), np.bool_)
    if nulls.any() and rng.varies("nulls at two levels", 0.3):
        below = nulls & np.array([rng.random() < 0.5 for _ in range(len(array))], np.bool_)
    inner = _encode_fsst_or_binary(values, below, array.type, page)
    encoding = pb.ArrayEncoding()
    encoding.nullable.some_nulls.validity.CopyFrom(encode_validity(~nulls | below, page))
    encoding.nullable.some_nulls.values.CopyFrom(inner)
    return encoding


def add_bytes_of_nulls(
    values: Variable, nulls: NDArray[np.bool_], rng: VariationSampler
) -> Variable:
    """Return the strings with bytes for null rows, which readers ignore."""
    if not nulls.any() or not rng.varies("bytes of null strings"):
        return values
    lengths = np.diff(values.offsets)
    spare = [b"?" * rng.randint(0, 4) if null else b"" for null in nulls.tolist()]
    ends = values.offsets[1:].tolist()
    data = bytes(values.data[: ends[-1]] if ends else b"")
    starts = values.offsets[:-1].tolist()
    joined = b"".join(data[a:b] + s for a, b, s in zip(starts, ends, spare, strict=True))
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths + np.array([len(s) for s in spare], np.int64), out=offsets[1:])
    return Variable(offsets, np.frombuffer(joined, np.uint8))


def _encode_fsst_or_binary(
    values: Variable, nulls: NDArray[np.bool_], type_: pa.DataType, page: PageBuilder
) -> pb.ArrayEncoding:
    """Encode strings with their end offsets, as they are or compressed by random symbols."""
    rng, large = page.rng, type_ in (pa.large_string(), pa.large_binary())
    if large and not rng.varies("symbol tables of large strings", 0.5):
        return _binary(values, nulls, page)
    coded = rng.varies("random symbol tables", 0.3)
    if not coded and not large and not rng.varies("disabled symbol table", 0.2):
        return _binary(values, nulls, page)
    table = symbol_table([], is_on=False)
    if coded:
        table, values = encode_fsst(page.rng, values)
    encoding = pb.ArrayEncoding()
    encoding.fsst.binary.CopyFrom(_binary(values, nulls, page))
    encoding.fsst.symbol_table = table
    return encoding


def _binary(values: Variable, nulls: NDArray[np.bool_], page: PageBuilder) -> pb.ArrayEncoding:
    size, rng = int(values.offsets[-1]), page.rng
    encoding, adjustment = pb.ArrayEncoding(), size + 1 if values.count else 0
    if values.count and rng.varies("larger null adjustments", 0.3):
        adjustment += rng.choice((1, 1000, 2**40))
    ends = values.offsets[1:].astype("<u8")
    ends[nulls] += np.uint64(adjustment)
    body = np.ascontiguousarray(values.data[:size])
    encoding.binary.indices.CopyFrom(
        page.wrap_values(page.flat(ends.view(np.uint8), 64, "offsets"))
    )
    if rng.varies("bytes after the last string", 0.2):  # a compressed block has no room for them
        spare = np.frombuffer(rng.randbytes(5), np.uint8)
        encoding.binary.bytes.flat.bits_per_value = 8
        page.add_buffer(encoding.binary.bytes.flat.buffer, np.append(body, spare))
    else:
        encoding.binary.bytes.CopyFrom(page.wrap_part(page.flat(body, 8, "values")))
    encoding.binary.null_adjustment = adjustment
    return encoding


def _encode_fixed_width(array: pa.Array, width: int, page: PageBuilder) -> pb.ArrayEncoding:
    """Encode strings of equal length without offsets."""
    values = [value.as_buffer() for value in array]
    data = b"".join(b"?" * width if value is None else bytes(value) for value in values)
    encoding = pb.ArrayEncoding()
    encoding.fixed_size_binary.byte_width = width
    bits = 8 * width if page.rng.varies("strings of one width as values") else 8
    flat = page.wrap_part(page.flat(data, bits, "values"))
    encoding.fixed_size_binary.bytes.CopyFrom(flat)
    return encoding


def _encode_string_dictionary(
    array: pa.Array, distinct: pa.Array, page: PageBuilder
) -> pb.ArrayEncoding:
    """Encode strings as keys of one byte: 0 is null, k is item k - 1."""
    rng = page.rng
    order = list(range(len(distinct)))
    if order and rng.varies("repeated items"):
        order += rng.choices(order, k=min(MAX_STRING_ITEMS - len(order), rng.randint(1, 5)))
    rng.shuffle(order)
    items = distinct.take(pa.array(order, pa.int64())) if order else pa.nulls(1, array.type)
    number = {item: at + 1 for at, item in enumerate(items.to_pylist()) if item is not None}
    keys = np.array([number.get(value, 0) for value in array.to_pylist()], np.uint8)
    return _dictionary(page.flat(keys, 8, "keys"), items, page)


def encode_dictionary(array: pa.DictionaryArray, page: PageBuilder) -> pb.ArrayEncoding:
    """Encode an Arrow dictionary: items in any order, some of them null."""
    rng, key = page.rng, array.type.index_type
    nulls = np.asarray(array.indices.is_null())
    if len(array) and nulls.all() and rng.varies("nulls without values", 0.3):
        return all_nulls()
    room = (1 << int(key.bit_width) - pa.types.is_signed_integer(key)) - len(array.dictionary)
    order: list[int | None] = list(range(len(array.dictionary)))
    if nulls.any() or rng.varies("null items", 0.3):
        order += [None] * min(room, rng.randint(1, 3) if rng.varies("null items") else 1)
    rng.shuffle(order)
    items = array.dictionary.take(pa.array(order, pa.int64()))
    at = {item: place for place, item in enumerate(order)}
    spare = [place for place, item in enumerate(order) if item is None]
    keys = np.array(
        [rng.choice(spare) if k is None else at[k] for k in array.indices.to_pylist()],
        key.to_pandas_dtype(),
    )
    return _dictionary(page.flat(keys.view(np.uint8), int(key.bit_width), "keys"), items, page)


def _dictionary(keys: pb.ArrayEncoding, items: pa.Array, page: PageBuilder) -> pb.ArrayEncoding:
    encoding = pb.ArrayEncoding()
    encoding.dictionary.indices.CopyFrom(page.wrap_values(keys))
    if items.type in STRINGS:
        encoding.dictionary.items.CopyFrom(encode_strings(items, page, in_dictionary=True))
    else:
        encoding.dictionary.items.CopyFrom(encode_fixed(items, page))
    encoding.dictionary.num_dictionary_items = len(items)
    return encoding

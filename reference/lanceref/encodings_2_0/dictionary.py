"""Dictionary: keys into distinct items, read and written.

Two conventions share one message; the schema's type tells them apart. A string field may be stored
so by the writer's own choice, for at least 100 rows with fewer than 100 distinct values: keys are
one byte, 0 is null, k is item k - 1. A field of Arrow's dictionary type keeps its declared key
type and counts from 0; its nulls point to an item that is null.

Layout: indices (flat keys), then the buffers of the items.

Clauses: L.array.dictionary.num-items, L.array.dictionary.key-range, L.array.dictionary.key-width
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.encoder_inputs import Params, merged_items
from lanceref.core.arrow_buffers import STRINGS, check_keys, has_wide_offsets
from lanceref.core.compute import pc
from lanceref.core.context import expect
from lanceref.core.errors import DataRefused
from lanceref.encodings_2_0.binary import encode_binary, encode_fsst
from lanceref.encodings_2_0.flat import PageBuffers, bare_flat, encode_nullable, no_nulls, open_flat
from lanceref.encodings_2_0.page import Page, ReadRows, RowRanges
from lanceref.file.schema import slot_bits
from lanceref.proto import encodings_v2_0_pb2 as pb

DICTIONARY_ROWS = 100
"""Rows from which, and distinct values below which, strings become a dictionary."""

FIRST_ROWS = 4096
"""Rows that are counted first: in most pages they have too many distinct values already."""

COMPRESSIONS = ("zstd", "lz4", "none")
"""What field metadata can ask for; anything else is ignored."""


def open_dictionary(
    encoding: pb.Dictionary, type_: pa.DataType, num_rows: int, page: Page
) -> ReadRows:
    """Open the keys and items of a page by the convention of the schema's type.

    Raises OutOfRange.
    """
    arrow = pa.types.is_dictionary(type_)
    flat = bare_flat(encoding.indices, page, "dictionary keys")
    bits = slot_bits(type_.index_type) if arrow else 8
    expect("L.array.dictionary.key-width", flat.bits_per_value, bits, page.place)
    keys = open_flat(flat, num_rows, page, "dictionary keys", f"dictionary keys u{bits}[]")
    num_items = encoding.num_dictionary_items  # L.array.dictionary.num-items
    item_type = type_.value_type if arrow else type_
    stored_items = page.open(encoding.items, item_type, num_items)

    @cache
    def items() -> pa.Array:
        return stored_items(RowRanges.single(0, num_items))

    def read(rows: RowRanges) -> pa.Array:
        """Resolve the keys: to strings, or to an Arrow dictionary array."""
        data, place = keys.data(rows), page.at(page.extent(flat.buffer))
        values, clause = items(), "L.array.dictionary.key-range"
        if not arrow:
            check_keys(data, num_items + 1, clause, place)
            return values.take(pa.array(data.astype(np.int16) - 1, mask=data == 0))
        numbers = data.view(type_.index_type.to_pandas_dtype())
        check_keys(numbers, num_items, clause, place)
        if not values.null_count:
            return pa.DictionaryArray.from_arrays(pa.array(numbers), values)
        valid = np.asarray(pc.is_valid(values))
        renumbered = (np.cumsum(valid) - valid).astype(numbers.dtype)[numbers]
        indices = pa.array(renumbered, mask=~valid[numbers])
        return pa.DictionaryArray.from_arrays(indices, values.drop_null())

    return read


def encode_strings(array: pa.Array, page: PageBuffers, params: Params) -> pb.ArrayEncoding:
    """Encode strings of a page: a dictionary, FSST or plain, as the rows and metadata suggest."""
    if pa.types.is_string(array.type):
        chosen = own_dictionary(array, page)
        if chosen is not None:
            return chosen
    scheme = params.compression
    if scheme == "fsst" and not has_wide_offsets(array.type):  # D.array.fsst-large-strings
        return encode_fsst(array, page)
    scheme = scheme if scheme in COMPRESSIONS else None
    return encode_binary(array, page, scheme, params.compression_level)


def own_dictionary(array: pa.Array, page: PageBuffers) -> pb.ArrayEncoding | None:
    """Encode strings as a dictionary of the writer's own; None when there are too many or few."""
    first = array[:FIRST_ROWS]
    if len(array) < DICTIONARY_ROWS or pc.count_distinct(first).as_py() >= DICTIONARY_ROWS:
        return None
    coded = array.dictionary_encode()
    if len(coded.dictionary) >= DICTIONARY_ROWS:
        return None
    items = coded.dictionary if len(coded.dictionary) else pa.nulls(1, array.type)
    keys = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1
    return _encode(keys.astype(np.uint8), items, page)


def _encode(keys: NDArray[np.generic], items: pa.Array, page: PageBuffers) -> pb.ArrayEncoding:
    indices = no_nulls(page.flat(keys.view(np.uint8), 8 * keys.dtype.itemsize))
    encode_items = encode_binary if items.type in STRINGS else encode_nullable
    stored = encode_items(items, page)
    dictionary = pb.Dictionary(indices=indices, items=stored, num_dictionary_items=len(items))
    return pb.ArrayEncoding(dictionary=dictionary)


def encode_dictionary(arrays: Sequence[pa.DictionaryArray], page: PageBuffers) -> pb.ArrayEncoding:
    """Encode dictionary arrays of one page; their dictionaries become one, concatenated or merged.

    Raises DataRefused when the items, with one for null rows, are more than the keys can number.
    """
    key = arrays[0].type.index_type
    bits = int(key.bit_width)
    most_items = 1 << (bits - 1 if pa.types.is_signed_integer(key) else bits)
    nulls = np.concatenate([np.asarray(array.indices.is_null()) for array in arrays])
    keys, items = merged_items(arrays, nulls, most_items)
    if nulls.all():
        items = items[:0]
    if nulls.any() or not len(keys):
        null_items = np.flatnonzero(np.asarray(items.is_null()))
        if not len(null_items):
            items = pa.concat_arrays([items, pa.nulls(1, items.type)])
        keys[nulls] = null_items[0] if len(null_items) else len(items) - 1
    if len(items) > most_items:
        raise DataRefused(f"{len(items)} dictionary items are too many for keys of {key}")
    return _encode(keys.astype(key.to_pandas_dtype()), items, page)

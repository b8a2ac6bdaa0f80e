"""Columns of 2.0: pages cut anywhere, differently in each column, some without rows.

Null lists may have items, which readers skip.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from lanceref.core.arrow_buffers import STRINGS
from lanceref.core.packed_values import offsets_of
from lanceref.encodings_2_0.blob import blob_column, store_payloads
from lanceref.encodings_2_0.values import plain_column
from lanceref.file.column_io import Buffer, DataArea, EncodedColumn, EncodedPage
from lanceref.file.schema import Field
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

from lanceref_testing.noncanonical.arrays import PageBuilder, encode_fixed, encode_packed_struct
from lanceref_testing.noncanonical.strings import encode_dictionary, encode_strings
from lanceref_testing.noncanonical.variations import VariationSampler


def random_cuts(
    rng: VariationSampler, num_rows: int, name: str = "pages cut anywhere"
) -> list[int]:
    """Draw the rows where pages begin and end, from 0 to `num_rows`; a page may have no rows.

    `name` is the variation that cuts columns into several pages.
    """
    cuts = {0, num_rows}
    if rng.varies(name):
        cuts |= {rng.randint(0, num_rows) for _ in range(rng.choice((1, 1, 3, 6)))}
    twice = rng.choices(sorted(cuts), k=2) if rng.varies("pages without rows", 0.2) else []
    return sorted([*cuts, *twice])


def encode_columns(
    rng: VariationSampler, field: Field, array: pa.Array, first: int, area: DataArea
) -> list[EncodedColumn]:
    """Encode a field of 2.0 into its columns, which are numbered from `first`."""
    type_ = field.arrow.type
    if field.is_blob:
        descriptors = store_payloads(field.name, array, area)
        column = _values(rng, descriptors, first)
        return [EncodedColumn(blob_column().encoding, column.pages, column.buffers)]
    if pa.types.is_struct(type_) and not field.is_packed:
        return _struct(rng, field, array, first, area)
    if field.children and not field.is_packed:
        return _list(rng, field, array, first, area)
    return [_values(rng, array, first)]


def encode_array(array: pa.Array, page: PageBuilder) -> ArrayEncoding:
    """Encode the rows of a page of any type but lists."""
    if pa.types.is_dictionary(array.type):
        return encode_dictionary(array, page)
    if pa.types.is_struct(array.type):
        return encode_packed_struct(array, page)
    return encode_strings(array, page) if array.type in STRINGS else encode_fixed(array, page)


def _values(rng: VariationSampler, array: pa.Array, number: int) -> EncodedColumn:
    column_buffers: list[Buffer] = []
    pages = []
    for start, end in pairwise(random_cuts(rng, len(array))):
        page = PageBuilder(rng, column_buffers)
        encoding = page.reorder(encode_array(array.slice(start, end - start), page))
        pages.append(EncodedPage(number, page.buffers, encoding, end - start))
    return EncodedColumn(plain_column().encoding, pages, column_buffers)


def _struct(
    rng: VariationSampler, field: Field, array: pa.StructArray, first: int, area: DataArea
) -> list[EncodedColumn]:
    encoding = ArrayEncoding()
    encoding.struct.SetInParent()
    header = EncodedPage(first, (), encoding, len(array))
    columns = [EncodedColumn(plain_column().encoding, [header])]
    for i, child in enumerate(field.children):
        columns += encode_columns(rng, child, array.field(i), first + len(columns), area)
    return columns


def _list(
    rng: VariationSampler, field: Field, array: pa.Array, first: int, area: DataArea
) -> list[EncodedColumn]:
    offsets, nulls = offsets_of(array), np.asarray(array.is_null())
    chosen: list[int] = []
    ends = []
    for start, end, null in zip(offsets[:-1], offsets[1:], nulls, strict=True):
        if not null:
            chosen += range(start, end)
        elif len(array.values) and rng.varies("items of null lists", 0.3):
            chosen += rng.choices(range(len(array.values)), k=rng.randint(0, 3))
        ends.append(len(chosen))
    column_buffers: list[Buffer] = []
    pages = []
    stored = np.array(ends, "<u8")
    for start, end in pairwise(random_cuts(rng, len(array))):
        base = ends[start - 1] if start else 0
        local = stored[start:end] - np.uint64(base)
        num_items = int(local[-1]) if len(local) else 0
        adjustment = num_items + 1
        if rng.varies("larger null adjustments", 0.3):
            adjustment += rng.choice((1, 1000, 2**40))
        local[nulls[start:end]] += np.uint64(adjustment)
        page, encoding = PageBuilder(rng, column_buffers), ArrayEncoding()
        words = page.wrap_values(page.flat(local.view(np.uint8), 64, "offsets"))
        encoding.list.offsets.CopyFrom(words)
        encoding.list.null_offset_adjustment = adjustment
        encoding.list.num_items = num_items
        pages.append(EncodedPage(first, page.buffers, page.reorder(encoding), end - start))
    items = array.values.take(pa.array(chosen, pa.int64()))
    below = encode_columns(rng, field.children[0], items, first + 1, area)
    return [EncodedColumn(plain_column().encoding, pages, column_buffers), *below]

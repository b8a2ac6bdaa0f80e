"""Pages, written: one page for each field of a batch, and where it went.

Clauses: L.legacy.column.type, L.legacy.dictionary.value-type, L.legacy.page-table.length,
L.legacy.null.pages, L.legacy.plain.values, L.legacy.plain.bool, L.legacy.plain.fixed-size-list

Divergences: D.legacy.second-dictionary, D.legacy.nulls-lost
"""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa

from lanceref.core.errors import DataRefused, LegacyRefused
from lanceref.file.schema import Field
from lanceref.file_0_1.binary import VAR_BINARY, encode_binary
from lanceref.file_0_1.dictionary import encode_values, is_number
from lanceref.file_0_1.list import encode_list
from lanceref.file_0_1.plain import encode_plain, fixed_width
from lanceref.storage import Sink


class PageWriter:
    """Writes pages to a sink.

    `pages` has for each field id (position, length) by batch, `dictionaries` the values of the
    dictionary fields.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.pages: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.dictionaries: dict[int, pa.Array] = {}

    def write(self, field: Field, array: pa.Array) -> None:
        """Write the page of a field in the next batch, and those of its children."""
        if pa.types.is_struct(array.type):
            for index, child in enumerate(field.children):
                self.write(child, array.field(index))
            return
        type_ = field.arrow.type
        if pa.types.is_null(type_):
            self._add(field, len(array))
        elif pa.types.is_list(type_) or pa.types.is_large_list(type_):
            offsets, items = encode_list(array)
            self._add(field, len(array) + 1)
            self._sink.write(offsets)
            self.write(field.children[0], items)
        elif pa.types.is_dictionary(type_):
            self._keep(field, array.dictionary)
            self._add(field, len(array))
            self._sink.write(encode_plain(array.indices))
        elif type_ in VAR_BINARY:
            data, ends = encode_binary(array, self._sink.position)
            self._sink.write(data)
            self._add(field, len(array))
            self._sink.write(ends)
        else:
            self._add(field, len(array))
            self._sink.write(encode_plain(array))

    def _add(self, field: Field, length: int) -> None:
        self.pages[field.id].append((self._sink.position, length))

    def _keep(self, field: Field, values: pa.Array) -> None:
        """Keep the values of the first batch; those of the others must be the same."""
        known = self.dictionaries.setdefault(field.id, values)
        same = known.equals(values) or encode_values(known, 0) == encode_values(values, 0)  # NaN
        if not same:  # D.legacy.second-dictionary
            raise DataRefused(
                f"field `{field.name}`: a 0.1 table has one dictionary for all rows; "
                "unify the dictionaries first"
            )


def check_storable(field: Field) -> None:
    """Refuse a field that 0.1 has no encoding for. Raises LegacyRefused."""
    type_ = field.arrow.type
    if pa.types.is_dictionary(type_):
        values = type_.value_type
        fits = values in VAR_BINARY or is_number(values)
    else:
        nested = pa.types.is_list(type_) or pa.types.is_large_list(type_)
        known = nested or pa.types.is_struct(type_) or pa.types.is_null(type_)
        fits = known or type_ in VAR_BINARY or fixed_width(type_) is not None
    if not fits:
        raise LegacyRefused(f"field `{field.name}`: unsupported data type {type_}")
    for child in field.children:
        check_storable(child)

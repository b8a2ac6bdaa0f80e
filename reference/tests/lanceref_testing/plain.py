"""Plain rows of any array: as `to_pylist`, but dates and times as the numbers that are stored."""

from itertools import pairwise

import pyarrow as pa


def plain(array):
    """Return the rows as lists, tuples and plain values; Python has no room for some times."""
    kind, valid = array.type, array.is_valid().to_pylist()
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode())
    if pa.types.is_temporal(kind):
        return array.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    if pa.types.is_struct(kind):
        fields = [plain(array.field(i)) for i in range(kind.num_fields)]
        rows = list(zip(*fields, strict=True)) if fields else [()] * len(array)
    elif pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        items = plain(array.values.slice(array.offset * size, len(array) * size))
        rows = [items[i * size : (i + 1) * size] for i in range(len(array))]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        entries = plain(array.values if not pa.types.is_map(kind) else entries_of(array))
        offsets = array.offsets.to_pylist()
        rows = [entries[a:b] for a, b in pairwise(offsets)]
    else:
        return array.to_pylist()
    return [row if ok else None for row, ok in zip(rows, valid, strict=True)]


def entries_of(array):
    """Return keys and items of all maps as structs."""
    return pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])


def plain_columns(table):
    """Return the rows of each column, as text: a NaN equals itself then."""
    return [repr([row for chunk in c.chunks for row in plain(chunk)]) for c in table.columns]

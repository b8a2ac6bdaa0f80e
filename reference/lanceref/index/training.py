"""Training data: the values of a column and the keys of their rows, that an index is built from.

A key is the row's address, or its id where rows have stable ids and the index can use them. Deleted
rows are left out.

Order of values: null comes first, then numbers and times by size, text and bytes by bytes, false
before true, floats in the IEEE total order from -NaN to NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import decoded
from lanceref.core.comparison import total_order
from lanceref.core.compute import pc
from lanceref.core.packed_values import fixed_array
from lanceref.file.schema import Field
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import ROW_ADDRESS, FragmentRows

RUN_ROWS = 1 << 16
"""Rows that are read together."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring live rows of a fragment: values, keys (uint64) and row offsets (int64)."""

    fragment_id: int
    values: pa.Array
    keys: Keys
    offsets: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """A field that is indexed, below structs and lists, and the top-level one.

    The top-level one is pruned to it down to the first list.
    """

    top: Field
    field: Field

    @property
    def levels(self) -> int:
        """Number of lists around a value that is no list."""
        way = (one for one in self.top.flat() if self.field in one.flat())
        return sum(is_any(one.arrow.type, *LISTS) for one in way)

    def unnested(self, values: pa.Array, at: Field | None = None) -> pa.Array:
        """Return the values of the field among those of the top-level one, or of one between them.

        They are null below a null, and lists below lists.
        """
        at = self.top if at is None else at
        if at == self.field:
            return values
        below = next(one for one in at.children if self.field in one.flat())
        if not is_any(values.type, *LISTS):
            return self.unnested(pc.struct_field(values, below.name), below)
        sizes = pc.fill_null(pc.list_value_length(values), 0)
        ends = np.cumsum(sizes, dtype=np.int64)
        items = self.unnested(values.flatten(), below)
        return pa.LargeListArray.from_arrays(np.append(np.int64(0), ends), items)


@dataclass(frozen=True, slots=True)
class Training:
    """Rows of a column that an index is built over.

    `computed` holds the rows where their values are not those of the column.
    """

    indexed: IndexedColumn
    fragments: Sequence[FragmentRows]
    stable_row_ids: bool = False
    by_address: bool = True
    computed: Sequence[Run] | None = None

    @property
    def num_rows(self) -> int:
        """Number of live rows that the index is built over."""
        return sum(rows.num_rows for rows in self.fragments)

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the values that are indexed."""
        return self.indexed.field.arrow.type

    def runs(self) -> Iterator[Run]:
        """Yield the live rows in the order of the table; no run crosses a fragment."""
        if self.computed is not None:
            yield from self.computed
            return
        key = ROW_ADDRESS if self.by_address else ROW_ID
        for rows in self.fragments:
            first = 0
            scan = rows.scan((self.indexed.top,), (key,), RUN_ROWS, 0, rows.num_rows)
            for count, (values, keys) in scan:
                offsets = rows.offsets(np.arange(first, first + count))
                own = self.indexed.unnested(values)
                yield Run(rows.fragment.id, own, keys.to_numpy(), offsets)
                first += count


def trained(training: Training) -> tuple[pa.Array, Keys]:
    """Return all values, decoded, and their keys, uint64. Keys are (values,)."""
    runs = list(training.runs())
    values = [decoded(part) for part in (pa.nulls(0, training.type), *(run.values for run in runs))]
    return pa.concat_arrays(values), np.concatenate([NO_KEYS, *(run.keys for run in runs)])


def sort_keys(values: pa.Array) -> pa.Array:
    """Return values that Arrow orders as these are ordered."""
    return total_order(values) if pa.types.is_floating(values.type) else values


def sorted_order(values: pa.Array) -> NDArray[np.int64]:
    """Return the places of ascending values, nulls first, equal ones in their order: (values,)."""
    keys = sort_keys(values)
    order = pc.array_sort_indices(keys, order="ascending", null_placement="at_start")
    return np.asarray(order.to_numpy(), np.int64)


def mask_of(values: pa.Array) -> NDArray[np.bool_]:
    """Return truth values without nulls as an array of NumPy: (values,)."""
    return np.asarray(values.to_numpy(zero_copy_only=False), np.bool_)


def run_starts(values: pa.Array) -> NDArray[np.int64]:
    """Return where each run of equal neighbours begins; null equals null: (runs,)."""
    ends = pc.run_end_encode(sort_keys(values), run_end_type=pa.int64()).run_ends
    return np.append(0, ends)[: len(ends)]


def is_any(type_: pa.DataType, *kinds: str) -> bool:
    """Return whether a type is of one of some kinds, as `pyarrow.types` names them."""
    return any(getattr(pa.types, f"is_{kind}")(type_) for kind in kinds)


TEXT = ("string", "large_string")
BINARY = ("binary", "large_binary")
LISTS = ("list", "large_list")
"""Kinds of types of text, of bytes of any length, and of lists of any length."""


def accepts_types(*kinds: str) -> Callable[[Field], bool]:
    """Return what tells whether the values of a field are of one of some kinds of types."""
    return lambda field: is_any(field.arrow.type, *kinds)


def has_order(field: Field, /) -> bool:
    """Return whether the values of a field can be compared."""
    type_ = field.arrow.type
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if isinstance(type_, pa.BaseExtensionType):
        type_ = type_.storage_type
    numbers = ("integer", "floating", "boolean", "temporal", "decimal", "null")
    return is_any(type_, *numbers, *TEXT, *BINARY, "fixed_size_binary")


def row_bytes(rows: NDArray[np.generic]) -> pa.Array:
    """Return the bytes of each row (n, m) of numbers, little-endian, as one value."""
    data = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<")).view(np.uint8)
    return fixed_array(pa.binary(data.shape[1]), len(data), data.reshape(-1))

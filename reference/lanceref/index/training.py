"""Training: the values of a column and the keys of their rows, that an index is built from.

A key is the row's address, or its id where rows have stable ids and the index can use them. Deleted
rows are left out.

Order of values: what a sorted index and bounds of values go by.

Null comes first, then values in their order: numbers and moments by size, text and bytes by bytes,
false before true, floats in the IEEE total order from -NaN to NaN.

Joined values: the many things an index holds of a row, as one value that can be compared.

What a row has none of is empty; no index knows such a row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.comparison import total_order
from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed
from lanceref.file.schema import Field
from lanceref.index.row_set import Keys
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
class Training:
    """Rows that an index is built over: `field` is pruned to the indexed part of its column."""

    field: Field
    fragments: Sequence[FragmentRows]
    stable_row_ids: bool = False
    by_address: bool = True

    @property
    def num_rows(self) -> int:
        """Live rows."""
        return sum(rows.num_rows for rows in self.fragments)

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the values."""
        return leaf(self.field).arrow.type

    def of(self, held: Sequence[Run]) -> Held:
        """Return the same rows with values that have been made from their own."""
        return Held(self.field, self.fragments, self.stable_row_ids, self.by_address, held)

    def runs(self) -> Iterator[Run]:
        """Yield the live rows in the order of the table; no run crosses a fragment."""
        key = ROW_ADDRESS if self.by_address else ROW_ID
        for rows in self.fragments:
            first = 0
            for count, (values, keys) in rows.scan(
                (self.field,), (key,), RUN_ROWS, 0, rows.num_rows
            ):
                offsets = rows.offsets(np.arange(first, first + count))
                yield Run(
                    rows.fragment.id,
                    unnested(values, self.field),
                    keys.to_numpy(),
                    offsets,
                )
                first += count


@dataclass(frozen=True, slots=True)
class Held(Training):
    """Rows whose values have been made from those of the column; `field` is of these."""

    held: Sequence[Run] = ()

    def runs(self) -> Iterator[Run]:
        """Yield the rows, like any training."""
        return iter(self.held)


def trained(training: Training) -> tuple[pa.Array, Keys]:
    """Return all values and their keys."""
    runs = list(training.runs())
    values = [pa.array([], training.type), *(run.values for run in runs)]
    keys = [np.empty(0, np.uint64), *(run.keys for run in runs)]
    return pa.concat_arrays(values), np.concatenate(keys)


def unnested(values: pa.Array, field: Field) -> pa.Array:
    """Return the indexed part of a column that has been pruned to it: null below a null."""
    while leaf(field) is not field:
        (field,) = field.children
        values = pc.struct_field(values, field.name)
    return values


def leaf(field: Field) -> Field:
    """Return the indexed part of a column that has been pruned to it."""
    while field.logical_type == "struct" and len(field.children) == 1:
        (field,) = field.children
    return field


POOL_VARIABLE = "LANCE_MEM_POOL_SIZE"
"""Variable of the environment that says how many bytes a sort may hold."""

BYPASS_VARIABLE = "LANCE_BYPASS_SPILLING"
"""Variable of the environment that lets a sort hold as many as it needs."""


def sort_keys(values: pa.Array) -> pa.Array:
    """Return values that Arrow orders as these are ordered."""
    return total_order(values) if pa.types.is_floating(values.type) else values


def sorted_order(values: pa.Array) -> NDArray[np.int64]:
    """Return the places of values in ascending order, nulls first; equal ones stay in order."""
    keys = sort_keys(values)
    order = pc.array_sort_indices(keys, order="ascending", null_placement="at_start")
    return np.asarray(order.to_numpy(), np.int64)


def check_memory(size_bytes: int) -> None:
    """Raise EditFailed for more bytes than the environment lets a sort hold.

    All of it is done in memory: nothing is said where spilling is to be bypassed.
    """
    limit = os.environ.get(POOL_VARIABLE, "")
    if not limit.isdecimal() or os.environ.get(BYPASS_VARIABLE):
        return
    if size_bytes > int(limit):
        raise EditFailed(
            f"Resources exhausted: a sort of {size_bytes} bytes in a pool of {limit} bytes"
        )


def run_starts(values: pa.Array) -> NDArray[np.int64]:
    """Return where each run of equal neighbours begins; null equals null."""
    if not len(values):
        return np.empty(0, np.int64)
    keys = sort_keys(values)
    same = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
    nulls = pc.and_(pc.is_null(keys.slice(1)), pc.is_null(keys.slice(0, len(keys) - 1)))
    joined = pc.or_(pc.fill_null(same, False), nulls).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.flatnonzero(~joined.astype(np.bool_)) + 1])


def has_order(field: Field) -> bool:
    """Return whether the values of a column can be compared."""
    type_ = leaf(field).arrow.type
    if isinstance(type_, pa.BaseExtensionType):
        type_ = type_.storage_type
    checks = pa.types
    return bool(
        checks.is_integer(type_)
        or checks.is_floating(type_)
        or checks.is_boolean(type_)
        or checks.is_string(type_)
        or checks.is_large_string(type_)
        or checks.is_binary(type_)
        or checks.is_large_binary(type_)
        or checks.is_fixed_size_binary(type_)
        or checks.is_temporal(type_)
        or checks.is_decimal(type_)
    )


JOINED = pa.large_binary()
"""Type of such values."""


def joined(numbers: NDArray[np.uint32], rows: NDArray[np.int64], num_rows: int) -> pa.Array:
    """Return of each of `num_rows` rows the bytes of its different numbers, ascending.

    `rows` says whose each number is.
    """
    order = np.lexsort((numbers, rows))
    numbers, rows = numbers[order], rows[order]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
    data = numbers[fresh].astype("<u4")
    counts = np.bincount(rows[fresh], minlength=num_rows)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64) * data.itemsize
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(JOINED, num_rows, buffers)


def joined_by_key(numbers: NDArray[np.uint32], keys: Keys) -> tuple[pa.Array, Keys]:
    """Return the numbers of each key as one value, and the keys."""
    own, rows = np.unique(keys, return_inverse=True)
    return joined(numbers, rows.astype(np.int64), len(own)), own


def may_be_missing(values: pa.Array) -> NDArray[np.bool_]:
    """Return which rows need not be known: those whose joined value is empty."""
    if values.type != JOINED:
        return np.zeros(len(values), np.bool_)
    empty = pc.equal(pc.binary_length(values), 0)
    return np.asarray(empty.to_numpy(zero_copy_only=False), np.bool_)

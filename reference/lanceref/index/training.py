"""Training: the values of a column and the keys of their rows, that an index is built from.

A key is the row's address, or its id where rows have stable ids and the index can use them. Deleted
rows are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
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

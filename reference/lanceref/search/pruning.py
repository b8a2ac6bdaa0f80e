"""Pruning: which batches of 0.1 files can hold a row that passes a filter, by their statistics.

Where conditions are joined by AND, each that compares a column with literals rules out every batch
whose least and greatest values show that it holds for none of its rows.

Bounds may lie outside of the values, never inside; a null bound is open. NaN, which is greater than
any other value, does not count in them, nor do nulls: of a batch that has some the bounds say
nothing, because a null of 0.1 reads as a value.

Divergences: D.table.filter-null-batch-0-1, D.table.filter-single-value-batch-0-1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.core.errors import NotFound
from lanceref.core.file_versions import V0_1
from lanceref.encodings_2_0.binary import STRINGS
from lanceref.file.schema import Field, LanceSchema, project
from lanceref.file_0_1.statistics import is_covered
from lanceref.index.predicate import Among, IsNull, Within
from lanceref.search.filter import And, On, Predicate
from lanceref.table.rows import FragmentRows, batch_bounds

types = pa.types

Ranges = tuple[tuple[int, int], ...]
"""Ascending half-open ranges of positions."""


@dataclass(frozen=True, slots=True)
class Bounding:
    """A column whose value is, in every row that passes, within `low` to `high`, or null.

    A missing end is open. With `wants_null` only nulls pass.
    """

    path: str
    low: pa.Scalar | None = None
    high: pa.Scalar | None = None
    wants_null: bool = False

    def possible(
        self, least: pa.Array, greatest: pa.Array, nulls: pa.Array, rows: pa.Array
    ) -> pa.Array:
        """Return for each batch whether one of its rows may pass: bool."""
        some = pc.greater(nulls, 0)
        if self.wants_null:
            return some
        result = pc.less(nulls, rows)
        if self.high is not None:
            within = pc.fill_null(pc.less_equal(least, self.high), True)
            result = pc.and_(result, pc.or_(some, within))
        nan_counts = types.is_floating(greatest.type) and self.high is None
        if self.low is not None and not nan_counts:
            within = pc.fill_null(pc.greater_equal(greatest, self.low), True)
            result = pc.and_(result, pc.or_(some, within))
        return result


def boundings(predicate: Predicate) -> Iterator[Bounding]:
    """Yield the bounds of single columns that the questions joined by AND imply."""
    if isinstance(predicate, And):
        for part in predicate.parts:
            yield from boundings(part)
    elif isinstance(predicate, On):
        match predicate.question:
            case IsNull():
                yield Bounding(predicate.path, wants_null=True)
            case Among(values):
                yield from _bounded(predicate.path, values, values)
            case Within(low, high):
                ends = (() if end is None else (end,) for end in (low, high))
                yield from _bounded(predicate.path, *ends)


def _bounded(path: str, low: Sequence[pa.Scalar], high: Sequence[pa.Scalar]) -> Iterator[Bounding]:
    """Yield the bounds of a column between the least and the greatest of some values."""
    if not all(is_covered(one.type) for one in (*low, *high)):
        return
    least, greatest = _ends(low), _ends(high)
    if least or greatest:
        yield Bounding(path, least and least[0], greatest and greatest[1])


def _ends(values: Sequence[pa.Scalar]) -> tuple[pa.Scalar, pa.Scalar] | None:
    """Return the least and the greatest of values; None without, or with one that is NaN."""
    if not values:
        return None
    array = pa.array(list(values), values[0].type)
    if types.is_floating(array.type) and pc.any(pc.is_nan(array)).as_py():
        return None
    ends = pc.min_max(array)
    return ends["min"], ends["max"]


def bounded_fields(
    predicate: Predicate | None, schema: LanceSchema
) -> tuple[tuple[Bounding, Field], ...]:
    """Return the boundings of columns whose values are stored as they read, with their fields."""
    pairs = []
    for bounding in boundings(predicate) if predicate is not None else ():
        try:
            (field,) = project(schema, [bounding.path])
        except NotFound:  # a system column
            continue
        while len(field.children) == 1:
            (field,) = field.children
        empty_is_null = bounding.wants_null and field.arrow.type in STRINGS
        if not field.children and not empty_is_null:
            pairs.append((bounding, field))
    return tuple(pairs)


def possible_ranges(bounded: Sequence[tuple[Bounding, Field]], rows: FragmentRows) -> Ranges:
    """Return the live rows of the batches that are left, of all without statistics."""
    whole = ((0, rows.num_rows),)
    if not bounded or all(one.version != V0_1 for one in rows.columns.fragment.files):
        return whole
    left = None
    for field, bounds in batch_bounds(rows.columns, [field for _, field in bounded]):
        for bounding in (one for one, own in bounded if own is field):
            mask = bounding.possible(bounds.least, bounds.greatest, bounds.nulls, bounds.rows)
            kept = np.asarray(mask.to_numpy(zero_copy_only=False)).astype(np.bool_)
            own_rows = np.repeat(kept, np.diff(bounds.offsets))
            left = own_rows if left is None else left & own_rows
    if left is None:
        return whole
    live = np.delete(left, rows.deleted)
    edges = np.flatnonzero(np.diff(live.astype(np.int8), prepend=0, append=0))
    return tuple(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))

"""Bounds that a filter sets: what must hold of a run of rows for one of them to be asked for.

Where conditions are joined by AND, each that compares a column with literals rules out every run of
rows whose least and greatest values say that it holds for none of them.

Bounds may lie outside of the values, never inside; a bound that is null is none. NaN, which is
greater than any other value, does not count in them, nor do nulls: of a batch that has some the
bounds say nothing, because a null of 0.1 reads as a value.

Divergences: D.table.filter-null-batch-0-1, D.table.filter-single-value-batch-0-1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.file_0_1.statistics import is_covered
from lanceref.index.predicate import Among, IsNull, Within
from lanceref.search.predicate import And, On, Predicate

types = pa.types


@dataclass(frozen=True, slots=True)
class Bounding:
    """A column whose value is, in every row asked for, within `low` to `high`, or null.

    A missing end is open. `wants_null` says that null is asked for, and nothing else.
    """

    path: str
    low: pa.Scalar | None = None
    high: pa.Scalar | None = None
    wants_null: bool = False

    def possible(
        self, least: pa.Array, greatest: pa.Array, nulls: pa.Array, rows: pa.Array
    ) -> pa.Array:
        """Return for each run of rows whether one of them may be asked for: bool."""
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
    """Yield what the questions joined by AND say of single columns."""
    if isinstance(predicate, And):
        for part in predicate.parts:
            yield from boundings(part)
    elif isinstance(predicate, On):
        asked = predicate.question
        if isinstance(asked, IsNull):
            yield Bounding(predicate.path, wants_null=True)
        elif isinstance(asked, Among):
            yield from _bounded(predicate.path, asked.values, asked.values)
        elif isinstance(asked, Within):
            low, high = (() if end is None else (end,) for end in (asked.low, asked.high))
            yield from _bounded(predicate.path, low, high)


def _bounded(path: str, low: Sequence[pa.Scalar], high: Sequence[pa.Scalar]) -> Iterator[Bounding]:
    """Yield the bounds of a column between the least and the greatest of some values."""
    if not all(is_covered(one.type) for one in (*low, *high)):
        return
    least, greatest = _ends(low), _ends(high)
    if least or greatest:
        yield Bounding(
            path,
            low=least[0] if least else None,
            high=greatest[1] if greatest else None,
        )


def _ends(values: Sequence[pa.Scalar]) -> tuple[pa.Scalar, pa.Scalar] | None:
    """Return the least and the greatest of values; None without, or with one that is NaN."""
    if not values:
        return None
    found = pa.array(list(values), values[0].type)
    if types.is_floating(found.type) and pc.any(pc.is_nan(found)).as_py():
        return None
    ends = pc.min_max(found)
    return ends["min"], ends["max"]

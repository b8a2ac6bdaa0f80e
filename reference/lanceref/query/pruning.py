"""Bounds that a filter sets: what must hold of a run of rows for one of them to be asked for.

Where conditions are joined by AND, each that compares a column with literals rules out every run of
rows whose least and greatest values say that it holds for none of them.

Bounds may lie outside of the values, never inside; a bound that is null is none. NaN, which is
greater than any other value, does not count in them, nor do nulls: of a batch that has some the
bounds say nothing, because a null of 0.1 reads as a value.

Divergences: D.table.filter-null-batch-0-1, D.table.filter-single-value-batch-0-1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from lanceref.file_0_1.binary import VAR_BINARY
from lanceref.file_0_1.bounds import is_covered
from lanceref.query.bound import Bound
from lanceref.query.expression import Binder

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


def boundings(tree: exp.Expr, binder: Binder) -> Iterator[Bounding]:
    """Yield what the conditions joined by AND say of single columns."""
    if isinstance(tree, exp.Paren):
        yield from boundings(tree.this, binder)
    elif isinstance(tree, exp.And):
        yield from boundings(tree.this, binder)
        yield from boundings(tree.expression, binder)
    elif isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
        column = binder.bind_loosely(tree.this)
        empty_is_null = column.type in VAR_BINARY
        if column.is_column and not tree.args.get("negate") and not empty_is_null:
            yield Bounding(min(column.paths), wants_null=True)
    else:
        yield from _compared(tree, binder)


_LOW = (exp.GT, exp.GTE, exp.EQ)
_HIGH = (exp.LT, exp.LTE, exp.EQ)


def _compared(tree: exp.Expr, binder: Binder) -> Iterator[Bounding]:
    """Yield the bounds that a comparison with literals sets."""
    low: list[exp.Expr] = []
    high: list[exp.Expr] = []
    if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        low, high = [tree.args["low"]], [tree.args["high"]]
    elif isinstance(tree, exp.In) and tree.expressions:
        low = high = tree.expressions
    elif isinstance(tree, (*_LOW, *_HIGH)):
        low = [tree.expression] if isinstance(tree, _LOW) else []
        high = [tree.expression] if isinstance(tree, _HIGH) else []
    if not (low or high):
        return
    column = binder.bind_loosely(tree.this)
    if not (column.is_column and is_covered(column.type)):
        return
    least, greatest = (_ends(trees, column, binder) for trees in (low, high))
    if least or greatest:
        yield Bounding(
            min(column.paths),
            low=least[0] if least else None,
            high=greatest[1] if greatest else None,
        )


def _ends(
    trees: list[exp.Expr], column: Bound, binder: Binder
) -> tuple[pa.Scalar, pa.Scalar] | None:
    """Return the least and the greatest of literals as the column has them; None without."""
    literals = []
    for tree in trees:
        literal = binder.bind_loosely(tree).literal
        if literal is None or not literal.is_valid:
            return None
        try:
            literals.append(pc.cast(literal, column.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
    found = pa.array(literals, column.type) if literals else None
    if found is None or (types.is_floating(found.type) and pc.any(pc.is_nan(found)).as_py()):
        return None
    ends = pc.min_max(found)
    return ends["min"], ends["max"]

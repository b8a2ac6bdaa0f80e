"""Filters: which rows somebody asks for, as SQL or as an Arrow expression.

A row is in the result where the filter is true; null is not true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.query.budget import calling
from lanceref.query.restriction import Restricted, RestrictedFilter

if TYPE_CHECKING:
    from sqlglot import exp

    from lanceref.query.bound import Bound
    from lanceref.query.expression import Binder
    from lanceref.query.pruning import Bounding
    from lanceref.query.questions import Plan
    from lanceref.query.routing import ByPath

Mask = NDArray[np.bool_]


class Filter(Protocol):
    """A condition on rows."""

    columns: tuple[str, ...]
    """Names of the columns it reads, in the order of the schema."""

    paths: tuple[str, ...]
    """The same, or `a.b` where it reads only a part of a column."""

    boundings: tuple[Bounding, ...]
    """What holds for every row that is asked for: bounds of single columns."""

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch of these columns whether it is asked for."""

    def plan(self, indices: ByPath) -> Plan | None:
        """Return what indices are asked for it, None when none helps."""


class BoundFilter:
    """A condition that has been bound to columns."""

    boundings: tuple[Bounding, ...] = ()

    def __init__(self, bound: Bound, schema: pa.Schema) -> None:
        self._bound = bound
        self.columns = tuple(name for name in schema.names if name in bound.columns)
        self.paths = _in_order(bound.paths, schema)

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it is asked for. Raises QueryFailed."""
        return _true(self._bound.evaluate(batch))

    def plan(self, indices: ByPath) -> Plan | None:
        """Return nothing: no index is asked."""
        return None


class SqlFilter(BoundFilter):
    """A filter in SQL, from which bounds and questions to indices can be read."""

    def __init__(self, tree: exp.Expr, binder: Binder, bound: Bound, schema: pa.Schema) -> None:
        from lanceref.query.pruning import boundings

        super().__init__(bound, schema)
        self._tree, self._binder = tree, binder
        with calling(QueryRefused):
            self.boundings = tuple(boundings(tree, binder))

    def plan(self, indices: ByPath) -> Plan | None:
        """Return what indices are asked for it, None when none helps."""
        from lanceref.query.routing import route

        with calling(QueryRefused):
            return route(self._tree, self._binder, indices)


class ArrowFilter:
    """A filter as an Arrow expression that has no SQL."""

    def __init__(self, expression: pc.Expression, schema: pa.Schema) -> None:
        self._expression = expression
        text = str(expression)
        self.columns = self.paths = tuple(name for name in schema.names if name in text)
        self.boundings: tuple[Bounding, ...] = ()

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it is asked for. Raises QueryFailed."""
        numbers = pa.array(np.arange(batch.num_rows))
        columns = [*batch.columns, numbers]
        names = [*batch.schema.names, ROW]
        table = pa.Table.from_arrays(columns, names=names)
        try:
            kept = table.filter(self._expression)[ROW]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise QueryFailed(f"Execution error: {error}") from error
        mask = np.zeros(batch.num_rows, np.bool_)
        mask[kept.to_numpy()] = True
        return mask

    def plan(self, indices: ByPath) -> Plan | None:
        """Return nothing: no index is asked for an expression that has no SQL."""
        return None


ROW = "__row"
"""Name of the column that counts the rows of a batch."""


def _in_order(paths: frozenset[str], schema: pa.Schema) -> tuple[str, ...]:
    """Return paths in the order of the schema; a whole column stands for its parts."""
    found: list[str] = []
    for name in schema.names:
        parts = sorted(path for path in paths if path == name or path.startswith(f"{name}."))
        found += [name] if name in parts else parts
    return tuple(found)


def _true(values: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), np.bool_)


def bind_filter(given: object, schema: pa.Schema) -> Filter:
    """Return a filter over the columns of a schema. Raises QueryRefused, TypeError."""
    if isinstance(given, pc.Expression):
        return _bind_arrow(given, schema)
    if isinstance(given, Restricted):
        own = None if given.filter is None else bind_filter(given.filter, schema)
        return RestrictedFilter(own, given.rows, blocked=given.blocked)
    if not isinstance(given, str):
        raise TypeError(f"filter must be SQL text or an Arrow expression, got {type(given)}")
    return _bind_sql(given, schema)


def _bind_arrow(given: pc.Expression, schema: pa.Schema) -> Filter:
    """Return the filter of an Arrow expression: that of its SQL if it has one."""
    from lanceref.query.arrow_expressions import sql_of

    text = sql_of(given, schema)
    try:
        return ArrowFilter(given, schema) if text is None else _bind_sql(text, schema)
    except QueryRefused:
        return ArrowFilter(given, schema)


def _bind_sql(given: str, schema: pa.Schema) -> Filter:
    from lanceref.query.bound import apply  # the parser is slow to import
    from lanceref.query.door import enter
    from lanceref.query.trees import is_match

    entered = enter(given, schema)
    bound = entered.bound
    if is_match(entered.tree):
        bound = apply(pc.is_valid, bound, type_=pa.bool_())
    if not pa.types.is_boolean(bound.type):
        raise QueryRefused(f"The filter {given} does not return a boolean")
    return SqlFilter(entered.tree, entered.binder, bound, schema)

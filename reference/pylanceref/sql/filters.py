"""Filters: a condition in SQL, or an Arrow expression, as the condition that a search takes.

A filter is bound to the columns of a table once. One that compares columns of integers with
literals is evaluated as the questions that indices are asked: DataFusion takes longer to begin than
some thousand integers take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, reduce

import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.file.schema import LanceSchema
from lanceref.index.predicate import Among, Within, holds
from lanceref.search import rows
from lanceref.search.index_plan import And, Mask, On, Predicate
from lanceref.search.rows import Condition, Filter
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS

from pylanceref.sql.columns import bind, is_volatile
from pylanceref.sql.conditions import predicate_of
from pylanceref.sql.engine import Engine, ExactSchema, engine

ROW = "__row"
"""Name of the column that counts the rows of a batch."""


class SqlFilter:
    """A condition on rows, written in SQL."""

    def __init__(self, text: str, schema: pa.Schema) -> None:
        self._bound, self._schema = bind(text, schema), schema
        self._is_match = self._bound.node.op == "regexp_match"
        if not self._is_match and not pa.types.is_boolean(self._bound.type):
            raise QueryRefused(f"The filter {text[:1000]} does not return a boolean")
        self.columns, self.paths = self._bound.columns, self._bound.paths

    @cached_property
    def predicate(self) -> Predicate:
        """What the filter says of single columns."""
        return predicate_of(self._bound.node, self._schema)

    @cached_property
    def _questions(self) -> Sequence[tuple[str, Among | Within]]:
        """The same as questions about columns of integers, joined by AND; empty for any other."""
        predicate, questions = self.predicate, list[tuple[str, Among | Within]]()
        for part in predicate.parts if isinstance(predicate, And) else (predicate,):
            match part:
                case On(path, (Among() | Within()) as question, True) if self._is_integer(path):
                    questions.append((path, question))
                case _:
                    return ()
        return questions

    def _is_integer(self, path: str) -> bool:
        """Whether a path is the name of a column of integers."""
        is_column = path in self.columns and "." not in path
        return is_column and pa.types.is_integer(self._schema.field(path).type)

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it passes: bool (rows,). Raises QueryFailed."""
        if self._questions:
            masks = [holds(question, batch.column(name)) for name, question in self._questions]
            return reduce(np.logical_and, masks)
        found = self._bound.evaluate(batch)
        if self._is_match:
            found = pc.is_valid(found)
        return np.asarray(pc.fill_null(found, False).to_numpy(zero_copy_only=False), np.bool_)


class ArrowFilter:
    """A filter as an Arrow expression, which pyarrow evaluates; no index is asked for it."""

    def __init__(self, expression: pc.Expression, schema: pa.Schema) -> None:
        self._expression, text = expression, str(expression)
        self.columns = self.paths = tuple(name for name in schema.names if name in text)
        self.predicate: Predicate | None = None
        empty = pa.Table.from_batches([], schema).select(self.columns)
        try:
            empty.filter(expression)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise QueryRefused(f"{error}") from error

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it passes: bool (rows,). Raises QueryFailed."""
        numbers = pa.array(np.arange(batch.num_rows))
        table = pa.Table.from_batches([batch]).append_column(ROW, numbers)
        try:
            kept = table.filter(self._expression)[ROW]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise QueryFailed(f"Execution error: {error}") from error
        mask = np.zeros(batch.num_rows, np.bool_)
        mask[kept.to_numpy()] = True
        return mask


def bind_filter(given: object, schema: pa.Schema) -> Filter:
    """Return a filter over the columns of a schema. Raises QueryRefused, TypeError."""
    if isinstance(given, pc.Expression):
        return ArrowFilter(given, schema)
    if not isinstance(given, str):
        raise TypeError(f"filter must be SQL text or an Arrow expression, got {type(given)}")
    if is_volatile(given):
        return SqlFilter(given, schema)
    return _known_filter(given, ExactSchema(schema), engine())


@lru_cache(256)
def _known_filter(text: str, exact: ExactSchema, _engine: Engine) -> SqlFilter:
    return SqlFilter(text, exact.schema)


def all_columns(schema: LanceSchema, found: Iterable[pa.Field] = ()) -> pa.Schema:
    """Return the columns of a table, those of the system, and what a search has found."""
    system = [pa.field(name, pa.uint64()) for name in SYSTEM_COLUMNS]
    return pa.schema([*schema.arrow, *system, *found])


def condition(snapshot: Snapshot, given: object, *, use_indices: bool = True) -> Condition:
    """Bind a filter, SQL or an Arrow expression, to a table. Raises QueryRefused, TypeError."""
    found = bind_filter(given, all_columns(snapshot.schema(BlobHandling.DESCRIPTIONS)))
    return rows.condition(snapshot, found, use_indices=use_indices)


def mask_of(text: str) -> Callable[[pa.RecordBatch], Mask]:
    """Return a filter, (rows,), that is bound to the columns of the batch it is asked about."""
    return lambda batch: bind_filter(text, batch.schema).mask(batch)

"""Expressions: SQL over the columns of a schema, ready to be evaluated batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.core.query_limits import calling

from pylanceref.sql.engine import Engine, engine, repeated
from pylanceref.sql.geometry_functions import BINARY_OF
from pylanceref.sql.literals import scalar_of
from pylanceref.sql.plain_columns import plain_batch, plain_schema
from pylanceref.sql.size_bounds import check, growths
from pylanceref.sql.strict import StrictRule, type_at
from pylanceref.sql.trees import VOLATILE, Node, parse

if TYPE_CHECKING:
    from datafusion import Expr


@dataclass(frozen=True, slots=True)
class Bound:
    """An expression over the columns of a schema.

    `columns` are the names of the columns it reads and `paths` the parts of them, `a.b`; `names`
    is the path of the column that it is, empty when it is computed; `literal` its value where it
    reads no column.
    """

    node: Node
    expr: Expr
    type: pa.DataType
    nullable: bool
    paths: tuple[str, ...]
    columns: tuple[str, ...]
    reads: tuple[str, ...]
    names: tuple[str, ...] = ()
    literal: pa.Scalar | None = None
    growths: tuple[Expr, ...] = field(default=())

    @property
    def is_column(self) -> bool:
        """Whether it is a column as it is stored, or a field of one."""
        return bool(self.names)

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch. Raises QueryFailed, QueryTooLarge."""
        with calling(QueryFailed):
            if self.literal is not None:
                return repeated(self.literal, batch.num_rows)
            if self.is_column:
                return _field(batch, self.names)
            plain = plain_batch(batch, self.reads) if self.reads else _counted(batch)
            found = engine()
            check_growth(found, self.growths, plain)
            return found.evaluate([self.expr], plain)[0]


def check_growth(found: Engine, sizes: tuple[Expr, ...], batch: pa.RecordBatch) -> None:
    """Raise QueryTooLarge where a function of an expression would make too much."""
    for size in sizes:
        check(found.evaluate([size], batch, QueryRefused)[0], batch.num_rows, batch.nbytes)


def _counted(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return as many rows, for an expression that reads no column."""
    return pa.record_batch([pa.nulls(batch.num_rows, pa.int8())], names=["#"])


def _field(batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.Array:
    """Return a column, or a field of one, null where what holds it is null."""
    array = batch.column(names[0])
    for name in names[1:]:
        held = array.storage if isinstance(array, pa.ExtensionArray) else array
        array = pc.struct_field(held, [name])
    return array


def bind(text: str, schema: pa.Schema) -> Bound:
    """Return the expression of a text over a schema. Raises QueryRefused, QueryTooLarge."""
    if any(word in text.lower() for word in VOLATILE):
        return _bind(text, schema, engine())
    return _bound(text, schema, engine())


@lru_cache(256)
def _bound(text: str, schema: pa.Schema, found: Engine) -> Bound:
    return _bind(text, schema, found)


def _bind(text: str, schema: pa.Schema, found: Engine) -> Bound:
    with calling(QueryRefused):
        node, plain = parse(text, schema, found), plain_schema(schema)
        grown = growths(node)
        sizes = tuple(size for size, _ in grown)
        paths = tuple(dict.fromkeys(_paths(node)))
        one_row = pa.record_batch([pa.nulls(1, pa.int8())], names=["#"])
        fixed = tuple(size for size, constant in grown if constant)
        check_growth(found, fixed, one_row)  # DataFusion computes constants while it plans
        expr = StrictRule(plain, found).apply(node)
        if node.names:
            type_ = type_at(schema, node.names)
            if type_ is None:
                raise QueryRefused(f"Schema error: No field named {'.'.join(node.names)}.")
            result = pa.field("", type_, _is_nullable(schema, node.names))
        else:
            result = found.result(expr, plain)
        literal = scalar_of(replace(node, expr=expr), found) if node.constant else None
        tops = {path[0].removeprefix(BINARY_OF) for path in paths}
    return Bound(
        node,
        expr,
        result.type if literal is None else literal.type,
        result.nullable if literal is None else not literal.is_valid,
        _in_order(paths, schema),
        tuple(name for name in schema.names if name in tops),
        tuple(dict.fromkeys(path[0] for path in paths)),
        node.names if not node.names[:1] or node.names[0] in schema.names else (),
        literal,
        sizes,
    )


def _is_nullable(schema: pa.Schema, names: tuple[str, ...]) -> bool:
    """Whether a field or one that holds it may be null."""
    held, nullable = pa.struct(list(schema)), False
    for name in names:
        one = held.field(name)
        held, nullable = one.type, nullable or one.nullable
    return nullable


def _paths(root: Node) -> Iterator[tuple[str, ...]]:
    """Yield the columns that are read, or their parts."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.names:
            yield node.names
        else:
            waiting += node.parts


def _in_order(paths: tuple[tuple[str, ...], ...], schema: pa.Schema) -> tuple[str, ...]:
    """Return paths in the order of the schema; a whole column stands for its parts."""
    found: list[str] = []
    for name in schema.names:
        own = [path for path in paths if path[0].removeprefix(BINARY_OF) == name]
        whole = any(len(path) == 1 or "." in "".join(path) for path in own)
        found += [name] if whole else sorted(".".join(path) for path in own)
    return tuple(dict.fromkeys(found))

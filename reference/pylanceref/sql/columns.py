"""Columns: expressions in SQL over the columns of a table, evaluated batch by batch.

A column that is only renamed keeps its type, also a dictionary or an extension, its metadata and
whether it may be null.

A few letters can ask for any number of bytes, as in `repeat('a', 1000000000000)`, and DataFusion
would end the process. The bytes that functions add to their arguments are computed by DataFusion
too, innermost function first, and compared with the budget of a query before the expression is
evaluated.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref import operations
from lanceref.core.compute import pc
from lanceref.core.errors import QueryFailed, QueryRefused, SchemaRefused
from lanceref.core.query_limits import GROWN_BYTES, ITEM_BYTES, QueryTooLarge, calling
from lanceref.file.schema_view import resolved
from lanceref.search.snapshot import Snapshot, take_projection
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_OFFSET, SYSTEM_COLUMNS
from numpy.typing import NDArray

from pylanceref.sql.engine import Engine, ExactSchema, engine, plain_batch, plain_schema, repeated
from pylanceref.sql.functions import BINARY_OF
from pylanceref.sql.rewriting import field_at
from pylanceref.sql.strict import StrictRule, scalar_of
from pylanceref.sql.trees import VOLATILE, Node, parse

if TYPE_CHECKING:
    from datafusion import Expr
    from lanceref.operations.new_data import ColumnSource

NESTED_TYPES = 16
"""Types inside each other in the name of a type."""


def _size(node: Node) -> Expr | None:
    """Return the bytes that a function makes for a row, None when no more than its arguments.

    Raises QueryRefused for a function whose size cannot be computed.
    """
    from datafusion import functions, lit

    match node.op, [part.expr for part in node.parts]:
        case "repeat", [text, count]:
            return _bytes(text) * _number(count)
        case "lpad" | "rpad", [_, width]:
            return _number(width)
        case "lpad" | "rpad", [_, width, fill]:
            return _number(width) * functions.coalesce(_bytes(fill), lit(1.0))
        case "array_repeat" | "list_repeat", [_, count]:
            inner = _size(node.parts[0])
            return _items(count) if inner is None else inner * _number(count)
        case "array_resize" | "list_resize", [_, count, *_]:
            return _items(count)
        case "generate_series" | "range" | "gen_series", [end]:
            return _items(functions.abs(_number(end)))
        case "generate_series" | "range" | "gen_series", [start, end, *steps]:
            count = functions.abs(_number(end) - _number(start))
            for step in steps:
                size = functions.nullif(functions.abs(_number(step)), lit(0.0))
                count = count / functions.coalesce(size, lit(1.0))
            return _items(count)
        case "replace", [text, old, new]:
            rest = _bytes(functions.replace(text, old, lit("")))
            many = (_bytes(text) - rest) / functions.nullif(_bytes(old), lit(0.0))
            return functions.coalesce(many, _bytes(text) + lit(1.0)) * _bytes(new)
        case "regexp_replace", [_, _, new]:
            return _bytes(new)
        case "regexp_replace", [text, pattern, new, _]:
            return _number(functions.regexp_count(text, pattern, lit(1))) * _bytes(new)
        case "array_to_string" | "list_to_string" | "array_join" | "list_join", [items, sign, *_]:
            return _number(functions.cardinality(items)) * _bytes(sign)
        case "||" | "concat", _:
            sizes = [size for size in map(_size, node.parts) if size is not None]
            return reduce(operator.add, sizes) if sizes else None
        case "arrow_cast", [_, _]:
            named = node.parts[1].text
            if named is None or named.count("(") > NESTED_TYPES:
                raise QueryRefused("the name of a type is nested too deep")
            total = math.prod(map(float, re.findall(r"FixedSize(?:Binary|List)\((\d+)", named)))
            return lit(total) if total > 1 << 16 else None
    return None


def _bytes(expr: Expr) -> Expr:
    from datafusion import functions

    return _number(functions.octet_length(expr))


def _items(count: Expr) -> Expr:
    from datafusion import lit

    return _number(count) * lit(float(ITEM_BYTES))


def _number(expr: Expr) -> Expr:
    return expr.cast(pa.float64())


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
    growths: tuple[Expr, ...] = ()

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch. Raises QueryFailed, QueryTooLarge."""
        with calling(QueryFailed):
            if self.literal is not None:
                return repeated(self.literal, batch.num_rows)
            if self.names:
                array = batch.column(self.names[0])
                for name in self.names[1:]:  # null where what holds the field is null
                    held = array.storage if isinstance(array, pa.ExtensionArray) else array
                    array = pc.struct_field(held, [name])
                return array
            counted = pa.record_batch([pa.nulls(batch.num_rows, pa.int8())], names=["#"])
            plain, found = plain_batch(batch, self.reads) if self.reads else counted, engine()
            check_growth(found, self.growths, plain)
            return found.evaluate([self.expr], plain)[0]


def check_growth(found: Engine, sizes: Iterable[Expr], batch: pa.RecordBatch) -> None:
    """Raise QueryTooLarge where a function of an expression would make too much."""
    for size in sizes:
        (made,) = found.evaluate([size], batch, QueryRefused)
        total = pc.sum(pc.max_element_wise(made, 0.0)).as_py() or 0.0
        if not total <= GROWN_BYTES + batch.nbytes:
            raise QueryTooLarge(
                f"the functions of a query may make {GROWN_BYTES} bytes for one batch of rows, and "
                f"{total:.0f} are asked for"
            )


def bind(text: str, schema: pa.Schema) -> Bound:
    """Return the expression of a text over a schema. Raises QueryRefused, QueryTooLarge."""
    return (_bind if is_volatile(text) else _bound)(text, ExactSchema(schema), engine())


def is_volatile(text: str) -> bool:
    """Whether an expression may have another value each time."""
    return any(word in text.lower() for word in VOLATILE)


def _bind(text: str, exact: ExactSchema, found: Engine) -> Bound:
    schema = exact.schema
    with calling(QueryRefused):
        node, plain = parse(text, schema, found), plain_schema(schema)
        sized = [(_size(one), one.constant) for one in reversed(list(node.walk()))]
        paths = tuple(dict.fromkeys(one.names for one in node.walk() if one.names))
        fixed = [size for size, constant in sized if size is not None and constant]
        one_row = pa.record_batch([pa.nulls(1, pa.int8())], names=["#"])
        check_growth(found, fixed, one_row)  # DataFusion computes constants while it plans
        expr = StrictRule(plain, found).apply(node)
        result = field_at(schema, node.names) if node.names else found.result(expr, plain)
        if result is None:
            raise QueryRefused(f"Schema error: No field named {'.'.join(node.names)}.")
        literal = scalar_of(replace(node, expr=expr), found) if node.constant else None
        tops = {path[0].removeprefix(BINARY_OF) for path in paths}
    read: list[str] = []  # in the order of the schema; a whole column stands for its parts
    for name in schema.names:
        own = [path for path in paths if path[0].removeprefix(BINARY_OF) == name]
        whole = any(len(path) == 1 or "." in "".join(path) for path in own)
        read += [name] if whole else sorted(".".join(path) for path in own)
    return Bound(
        node,
        expr,
        result.type if literal is None else literal.type,
        result.nullable if literal is None else not literal.is_valid,
        tuple(dict.fromkeys(read)),
        tuple(name for name in schema.names if name in tops),
        tuple(dict.fromkeys(path[0] for path in paths)),
        node.names if not node.names[:1] or node.names[0] in schema.names else (),
        literal,
        tuple(size for size, _ in sized if size is not None),
    )


_bound = lru_cache(256)(_bind)


@dataclass(frozen=True, slots=True)
class Computed:
    """Expressions over the columns of a batch; `schema` is that of the result."""

    bound: tuple[Bound, ...]
    schema: pa.Schema

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns that are read."""
        return frozenset[str]().union(*(one.columns for one in self.bound))

    @property
    def paths(self) -> frozenset[str]:
        """The same, or `a.b` where only a part of a column is read."""
        return frozenset[str]().union(*(one.paths for one in self.bound))

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the result for a batch. Raises QueryFailed."""
        if not self.bound:
            return batch.select([]).replace_schema_metadata(self.schema.metadata)
        arrays = [one.evaluate(batch) for one in self.bound]
        pairs = zip(arrays, self.schema.types, strict=True)
        fitting = [one if one.type == type_ else one.cast(type_) for one, type_ in pairs]
        return pa.RecordBatch.from_arrays(fitting, schema=self.schema)


def bind_columns(given: Mapping[str, str], schema: pa.Schema) -> Computed:
    """Bind the expressions of a projection to the columns of a schema. Raises QueryRefused."""
    bound = {name: bind(text, schema) for name, text in given.items()}
    fields = []
    for name, one in bound.items():
        field = field_at(schema, one.names) if one.names else None
        metadata = field and field.metadata  # what is computed has none
        fields.append(pa.field(name, one.type, one.nullable, metadata))
    return Computed(tuple(bound.values()), resolved(pa.schema(fields, schema.metadata)))


def only_nulls(texts: Iterable[str], schema: pa.Schema) -> bool:
    """Whether all expressions are nulls of a type, as in `CAST(NULL AS INT)`."""
    nodes = [bind(text, schema).node for text in texts]
    values = [one.parts[0].scalar if one.op == "Cast" else None for one in nodes]
    return all(value is not None and not value.is_valid for value in values)


def bind_values(
    updates: Mapping[str, str], schema: pa.Schema
) -> dict[str, Callable[[pa.RecordBatch], pa.Array]]:
    """Bind the expressions that columns of changed rows become. Raises QueryRefused."""
    if not updates:
        raise QueryRefused("No updates provided")
    bound = {name: bind(text, schema) for name, text in updates.items()}
    for name, one in bound.items():
        if name not in schema.names:
            raise QueryRefused(f"Column '{name}' does not exist in dataset schema: {schema.names}")
        type_ = plain_schema(schema).field(name).type
        if one.type != type_:  # as DataFusion casts
            node = replace(one.node, expr=one.expr.cast(type_), op="Cast")
            literal = None if one.literal is None else scalar_of(node, engine())
            bound[name] = replace(one, expr=node.expr, names=(), literal=literal)
    return {name: one.evaluate for name, one in bound.items()}


def take_columns(
    snapshot: Snapshot,
    positions: NDArray[np.int64],
    columns: Sequence[str] | Mapping[str, str] | None,
) -> pa.Table:
    """Return rows at live positions (n,) of the table, in their order. Raises NotFound."""
    schema = snapshot.schema(BlobHandling.DESCRIPTIONS)
    if not isinstance(columns, Mapping):
        return snapshot.take(positions, take_projection(schema, columns))
    system = (pa.field(one, pa.uint64(), nullable=one != ROW_OFFSET) for one in SYSTEM_COLUMNS)
    computed = bind_columns(columns, pa.schema([*schema.arrow, *system], schema.metadata or None))
    table = snapshot.take(positions, take_projection(schema, sorted(computed.paths)))
    batches = [computed.batch(batch) for batch in table.to_batches()]
    return pa.Table.from_batches(batches, schema=computed.schema)


def computed_columns(snapshot: Snapshot, expressions: Mapping[str, str]) -> ColumnSource:
    """Return new columns in SQL, without metadata of their fields. Raises SchemaRefused."""
    try:
        bound = bind_columns(expressions, snapshot.schema(BlobHandling.BYTES).arrow)
    except QueryRefused as error:
        raise SchemaRefused(str(error)) from error
    plain = pa.schema([field.remove_metadata() for field in bound.schema], bound.schema.metadata)
    bound = replace(bound, schema=plain)
    return operations.new_data.computed_source(snapshot, plain, bound.columns, bound.batch)

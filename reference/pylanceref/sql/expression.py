"""Expressions: SQL over the columns of a schema, ready to be evaluated batch by batch.

A few letters can ask for any number of bytes, as in `repeat('a', 1000000000000)`, and DataFusion
would end the process. The bytes that functions add to their arguments are computed by DataFusion
too, innermost function first, and compared with the budget of a query before the expression is
evaluated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.core.query_limits import GROWN_BYTES, ITEM_BYTES, QueryTooLarge, calling

from pylanceref.sql.engine import Engine, ExactSchema, engine, plain_batch, plain_schema, repeated
from pylanceref.sql.functions import BINARY_OF
from pylanceref.sql.strict import StrictRule, scalar_of, type_at
from pylanceref.sql.trees import VOLATILE, Node, parse

if TYPE_CHECKING:
    from datafusion import Expr


MADE = frozenset(("generate_series", "range", "gen_series"))
"""Functions that count from one number to another."""

NESTED_TYPES = 16
"""Types inside each other in the name of a type."""


def growths(node: Node) -> list[tuple[Expr, bool]]:
    """Return for each function that makes more than it has how many bytes it makes, inner first,
    and whether that reads no column.

    Raises QueryRefused for a function whose size cannot be computed.
    """
    sized = [(_size(one), one.constant) for one in reversed(list(node.walk()))]
    return [(size, constant) for size, constant in sized if size is not None]


def check(sizes: pa.Array, rows: int, held: int) -> None:
    """Raise QueryTooLarge when a function makes more bytes than the budget for one batch."""
    total = pc.sum(pc.max_element_wise(sizes, 0.0)).as_py() or 0.0
    if len(sizes) < rows:
        total *= rows
    if not total <= GROWN_BYTES + held:
        raise QueryTooLarge(
            f"the functions of a query may make {GROWN_BYTES} bytes for one batch of rows, and "
            f"{total:.0f} are asked for"
        )


def _size(node: Node) -> Expr | None:
    """Return the bytes that a function makes for a row, None when no more than its arguments."""
    from datafusion import functions, lit

    name, parts = node.op, node.parts
    if name == "repeat" and len(parts) == 2:
        return _bytes(parts[0].expr) * _number(parts[1].expr)
    if name in ("lpad", "rpad") and len(parts) >= 2:
        width = _number(parts[1].expr)
        if len(parts) == 2:
            return width
        fill = _bytes(parts[2].expr)
        return width * functions.coalesce(fill, lit(1.0))
    if name in ("array_repeat", "list_repeat") and len(parts) == 2:
        inner = _size(parts[0])
        each = lit(float(ITEM_BYTES)) if inner is None else inner
        return each * _number(parts[1].expr)
    if name in ("array_resize", "list_resize") and len(parts) >= 2:
        return _number(parts[1].expr) * lit(float(ITEM_BYTES))
    if name in MADE:
        return _series_bytes(node)
    if name == "replace" and len(parts) == 3:
        text, old, new = (part.expr for part in parts)
        rest = _bytes(functions.replace(text, old, lit("")))
        many = (_bytes(text) - rest) / functions.nullif(_bytes(old), lit(0.0))
        return functions.coalesce(many, _bytes(text) + lit(1.0)) * _bytes(new)
    if name == "regexp_replace" and len(parts) >= 3:
        text, pattern, new = (part.expr for part in parts[:3])
        many = functions.regexp_count(text, pattern, lit(1)).cast(pa.float64())
        return many * _bytes(new) if len(parts) > 3 else _bytes(new)
    if name in ("array_to_string", "list_to_string", "array_join", "list_join"):
        many = functions.cardinality(parts[0].expr).cast(pa.float64())
        return many * _bytes(parts[1].expr)
    if name in ("||", "concat"):
        sized = [_size(part) for part in parts]
        total = lit(0.0)
        for size in sized:
            total = total if size is None else total + size
        return total if any(size is not None for size in sized) else None
    return _cast_size(node) if name == "arrow_cast" else None


def _series_bytes(node: Node) -> Expr:
    """Return the bytes of the numbers from one to another. Raises QueryRefused for others."""
    from datafusion import functions, lit

    numbers = [_number(part.expr) for part in node.parts]
    if not numbers or len(numbers) > 3:
        raise QueryRefused(f"{node.op} takes 1 to 3 arguments")
    start, end = (lit(0.0), numbers[0]) if len(numbers) == 1 else numbers[:2]
    steps = functions.abs(end - start)
    if len(numbers) == 3:
        steps = steps / functions.coalesce(
            functions.nullif(functions.abs(numbers[2]), lit(0.0)), lit(1.0)
        )
    return steps * lit(float(ITEM_BYTES))


def _cast_size(node: Node) -> Expr | None:
    """Return the bytes of one value of a type of fixed size. Raises QueryRefused."""
    from datafusion import lit

    named = node.parts[1].text
    if named is None or named.count("(") > NESTED_TYPES:
        raise QueryRefused("the name of a type is nested too deep")
    sizes = re.findall(r"FixedSize(?:Binary|List)\((\d+)", named)
    total = 1.0
    for size in sizes:
        total *= float(size)
    return lit(total) if total > 1 << 16 else None


def _bytes(expr: Expr) -> Expr:
    from datafusion import functions

    return functions.octet_length(expr).cast(pa.float64())


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
    growths: tuple[Expr, ...] = field(default=())

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch. Raises QueryFailed, QueryTooLarge."""
        with calling(QueryFailed):
            if self.literal is not None:
                return repeated(self.literal, batch.num_rows)
            if self.names:
                return _field(batch, self.names)
            counted = pa.record_batch([pa.nulls(batch.num_rows, pa.int8())], names=["#"])
            plain, found = plain_batch(batch, self.reads) if self.reads else counted, engine()
            check_growth(found, self.growths, plain)
            return found.evaluate([self.expr], plain)[0]


def check_growth(found: Engine, sizes: tuple[Expr, ...], batch: pa.RecordBatch) -> None:
    """Raise QueryTooLarge where a function of an expression would make too much."""
    for size in sizes:
        check(found.evaluate([size], batch, QueryRefused)[0], batch.num_rows, batch.nbytes)


def _field(batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.Array:
    """Return a column, or a field of one, null where what holds it is null."""
    array = batch.column(names[0])
    for name in names[1:]:
        held = array.storage if isinstance(array, pa.ExtensionArray) else array
        array = pc.struct_field(held, [name])
    return array


def bind(text: str, schema: pa.Schema) -> Bound:
    """Return the expression of a text over a schema. Raises QueryRefused, QueryTooLarge."""
    is_volatile = any(word in text.lower() for word in VOLATILE)
    return (_bind if is_volatile else _bound)(text, ExactSchema(schema), engine())


def _bind(text: str, exact: ExactSchema, found: Engine) -> Bound:
    schema = exact.schema
    with calling(QueryRefused):
        node, plain = parse(text, schema, found), plain_schema(schema)
        grown = growths(node)
        sizes = tuple(size for size, _ in grown)
        paths = tuple(dict.fromkeys(one.names for one in node.walk() if one.names))
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


_bound = lru_cache(256)(_bind)


def _is_nullable(schema: pa.Schema, names: tuple[str, ...]) -> bool:
    """Whether a field or one that holds it may be null."""
    held, nullable = pa.struct(list(schema)), False
    for name in names:
        one = held.field(name)
        held, nullable = one.type, nullable or one.nullable
    return nullable


def _in_order(paths: tuple[tuple[str, ...], ...], schema: pa.Schema) -> tuple[str, ...]:
    """Return paths in the order of the schema; a whole column stands for its parts."""
    found: list[str] = []
    for name in schema.names:
        own = [path for path in paths if path[0].removeprefix(BINARY_OF) == name]
        whole = any(len(path) == 1 or "." in "".join(path) for path in own)
        found += [name] if whole else sorted(".".join(path) for path in own)
    return tuple(dict.fromkeys(found))

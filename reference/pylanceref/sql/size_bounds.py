"""Size bounds: how many bytes the functions of an expression add to their arguments.

A few letters can ask for any number of bytes, as in `repeat('a', 1000000000000)`, and DataFusion
would end the process. The sizes are computed by DataFusion too, innermost function first, and
compared with the budget of a query before the expression is evaluated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import GROWN_BYTES, ITEM_BYTES, QueryTooLarge

from pylanceref.sql.trees import Node

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
    order, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        order.append(one)
        waiting += one.parts
    found = []
    for one in reversed(order):
        size = _size(one)
        if size is not None:
            found.append((size, one.constant))
    return found


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
        return _counted(node)
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


def _counted(node: Node) -> Expr:
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

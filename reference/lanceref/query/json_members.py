"""Members of documents: calls of a query that stand for values which an index may hold.

`json_get_int(column, 'a')` is the member `a`, and `json_get_int(json_get(column, 'a'), 'b')` the
member `b` of that.

Clauses: L.index.json.member

Divergences: D.index.json-path-text
"""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from lanceref.query.expression import Binder
from lanceref.query.json_path import member_path

RETURNED = {
    "json_get_bool": pa.bool_(),
    "json_get_float": pa.float64(),
    "json_get_int": pa.int64(),
    "json_get_string": pa.utf8(),
}
"""Types of what the functions return."""


def member_of(tree: exp.Anonymous, binder: Binder) -> tuple[str, pa.DataType] | None:
    """Return path and type of the member that a call stands for, None for another call."""
    type_ = RETURNED.get(str(tree.this).lower())
    names: list[str] = []
    held: exp.Expr = tree
    while type_ is not None and isinstance(held, exp.Anonymous) and len(held.expressions) == 2:
        inside, name = held.expressions
        if names and str(held.this).lower() != "json_get":
            return None
        if not (isinstance(name, exp.Literal) and name.is_string):
            return None
        names.insert(0, name.this)
        held = inside
    if type_ is None or not isinstance(held, exp.Column | exp.Dot | exp.Bracket | exp.Paren):
        return None
    bound = binder.bind_loosely(held)
    if not bound.is_column or len(bound.paths) != 1:
        return None
    return member_path(min(bound.paths), tuple(names)), type_

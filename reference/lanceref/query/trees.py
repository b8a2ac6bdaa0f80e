"""Syntax trees: what a part of a query is, before it is bound."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lanceref.query.dialect import NEGATED
from lanceref.query.operators import ARITHMETIC


def conditions(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what a query joins by AND and OR."""
    if isinstance(tree, exp.Paren):
        yield from conditions(tree.this)
    elif tree.meta.get(NEGATED):
        yield tree.this
    elif isinstance(tree, exp.And | exp.Or):
        yield from conditions(tree.this)
        yield from conditions(tree.expression)
    else:
        yield tree


def is_plain(tree: exp.Expr) -> bool:
    """Whether it is written as one value."""
    if isinstance(tree, exp.Paren):
        return is_plain(tree.this)
    if isinstance(tree, exp.Neg):
        return isinstance(tree.this, exp.Literal)
    return isinstance(tree, exp.Literal | exp.Null | exp.Boolean | exp.HexString | exp.Array)


def is_literal(tree: exp.Expr) -> bool:
    """Whether it is written as one value, or as arithmetic of such."""
    if isinstance(tree, exp.Paren):
        return is_literal(tree.this)
    if type(tree) in ARITHMETIC:
        return is_literal(tree.this) and is_literal(tree.expression)
    return is_plain(tree)


def is_top(tree: exp.Expr) -> bool:
    """Whether it names a column of the table, not a part of one."""
    return isinstance(tree, exp.Column) and len(tree.parts) == 1


def is_match(tree: exp.Expr) -> bool:
    """Whether it is a call of `regexp_match`, which is null where nothing matches."""
    return isinstance(tree, exp.Anonymous) and str(tree.this).lower() == "regexp_match"

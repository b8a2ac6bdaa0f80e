"""The door of SQL: every text of a filter or an expression is parsed and bound here.

A text is bounded in bytes and in brackets before it is parsed, its tree in depth before it is
bound. A chain of AND or of OR may have any number of conditions: it becomes a balanced tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from lanceref.core.errors import QueryRefused
from lanceref.query.bound import Bound
from lanceref.query.budget import QueryTooLarge, calling
from lanceref.query.dialect import parse_expression
from lanceref.query.expression import Binder

DEPTH = 400
"""Levels of a tree: each takes a few of the 1,000 calls that Python nests."""

LONG = 32
"""Operands of AND or OR from which on their tree is balanced."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A text that has been parsed and bound."""

    tree: exp.Expr
    binder: Binder
    bound: Bound


def parsed(text: str) -> exp.Expr:
    """Return the syntax tree of an expression. Raises QueryRefused."""
    with calling(QueryRefused):
        tree = parse_expression(text)
        for node in [one for one in tree.dfs() if _begins_chain(one)]:
            operands = _operands(node)
            if len(operands) >= LONG:
                half = len(operands) // 2
                node.set("this", _joined(type(node), operands[:half]))
                node.set("expression", _joined(type(node), operands[half:]))
        _check_depth(tree)
        return tree


def enter(text: str, schema: pa.Schema) -> Entered:
    """Bind the expression of a text to the columns of a schema. Raises QueryRefused."""
    tree, binder = parsed(text), Binder(schema)
    with calling(QueryRefused):
        return Entered(tree, binder, binder.bind(tree))


def _begins_chain(node: exp.Expr) -> bool:
    return isinstance(node, exp.And | exp.Or) and type(node.parent) is not type(node)


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Return what a chain of one operator joins, in order."""
    found, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if type(one) is type(node):
            waiting += [one.expression, one.this]
        else:
            found.append(one)
    return found


def _joined(kind: type[exp.Expr], operands: list[exp.Expr]) -> exp.Expr:
    """Return the balanced tree of a chain."""
    if len(operands) == 1:
        return operands[0]
    half = len(operands) // 2
    return kind(this=_joined(kind, operands[:half]), expression=_joined(kind, operands[half:]))


def _check_depth(tree: exp.Expr) -> None:
    """Raise QueryTooLarge for a tree of too many levels."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > DEPTH:
            raise QueryTooLarge(f"an expression has at most {DEPTH} levels of operators")
        level = [below for one in level for below in one.iter_expressions()]

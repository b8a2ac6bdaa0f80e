"""Trees: the expression that DataFusion has parsed, as nodes that a program can walk.

A long chain of AND or of OR is cut into pieces before it is parsed and joined to a balanced tree,
so that the number of its conditions is not bounded by a stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import QueryTooLarge

from pylanceref.sql.engine import Engine, named_schema, plain_schema
from pylanceref.sql.rewriting import DEPTH, Rewriter, Token, refusal, tokens_of, words

if TYPE_CHECKING:
    from datafusion import Expr

LONG = 128
"""Tokens that are parsed together."""

BINARY = words("AND OR = != < <= > >= + - * / % || << >>") | {
    "IS DISTINCT FROM",
    "IS NOT DISTINCT FROM",
}
"""Operators of two operands that Lance has."""

VOLATILE = words("random uuid now current_date current_time")
"""Functions whose result is another one each time."""

NAMED = words("BinaryExpr InList Between Like ScalarFunction")
"""Variants whose operator has a name of its own."""

PLAIN = words(
    "Column Literal BinaryExpr Not Negative IsNull IsNotNull IsTrue IsFalse IsNotTrue "
    "IsNotFalse InList Between Like ScalarFunction Cast TryCast"
)
"""Variants that Lance has; `Case` is one of them inside a call."""


@dataclass(slots=True)
class Node:
    """A part of an expression.

    `op` is the operator or function, else the variant of DataFusion; `names` the path of a column.
    """

    expr: Expr
    op: str
    parts: list[Node] = field(default_factory=list)
    names: tuple[str, ...] = ()
    constant: bool = True
    negated: bool = False

    @property
    def scalar(self) -> pa.Scalar | None:
        """The value of a literal, None for something else."""
        if self.op != "Literal":
            return None
        found = self.expr.python_value()
        return found.cast(pa.utf8()) if pa.types.is_string_view(found.type) else found

    def walk(self) -> Iterator[Node]:
        """Yield the node and those below it, but none below a column."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [] if node.names else node.parts

    @property
    def text(self) -> str | None:
        """The text of a literal, None for something else."""
        found = self.scalar
        value = None if found is None else found.as_py()
        return value if isinstance(value, str) else None


def parse(text: str, schema: pa.Schema, engine: Engine) -> Node:
    """Return the tree of an expression over a schema. Raises QueryRefused."""
    return _Parser(text, schema, engine).chain(tokens_of(text))


class _Parser:
    """Parses parts of one text."""

    def __init__(self, text: str, schema: pa.Schema, engine: Engine) -> None:
        self._text, self._engine = text, engine
        self._named, self._plain = named_schema(schema), plain_schema(schema)

    def chain(self, tokens: Sequence[Token]) -> Node:
        """Return the tree of tokens, balanced where they are a long chain of AND or OR."""
        if not tokens:
            raise refusal(self._text, "an expression is expected beside AND and OR")
        if len(tokens) <= LONG:
            return self._node(tokens)
        outer = _outer(tokens)
        for word in ("OR", "AND"):
            if cuts := _cuts(tokens, outer, word):
                ends = zip([-1, *cuts], [*cuts, len(tokens)], strict=True)
                return _balanced(word, [self.chain(tokens[at + 1 : end]) for at, end in ends])
        if outer == [0, len(tokens) - 1] and tokens[0].text == "(":
            return self.chain(tokens[1:-1])
        if tokens[0].word == "NOT":
            node = self.chain(tokens[1:])
            return Node(~node.expr, "Not", [node], constant=node.constant)
        return self._node(tokens)

    def _node(self, tokens: Sequence[Token]) -> Node:
        if sum(token.word in ("AND", "OR") for token in tokens) > DEPTH:
            raise QueryTooLarge(f"an expression has at most {DEPTH} levels of operators")
        sql = Rewriter(self._named, self._text, tokens).sql()
        try:
            return _walk(self._engine.parse(sql, self._plain))
        except QueryRefused as error:
            raise refusal(self._text, str(error)) from error


def _outer(tokens: Sequence[Token]) -> list[int]:
    """Return the numbers of the tokens outside of brackets, and of the brackets around others."""
    found, depth = [], 0
    for number, token in enumerate(tokens):
        depth -= token.text in (")", "]") or token.word == "END"
        if not depth:
            found.append(number)
        depth += token.text in ("(", "[") or token.word == "CASE"
    return found


def _cuts(tokens: Sequence[Token], outer: Sequence[int], word: str) -> list[int]:
    """Return where a word joins conditions; BETWEEN has an AND of its own."""
    found, between = [], 0
    for number in outer:
        if tokens[number].word == "BETWEEN":
            between += 1
        elif tokens[number].word == "AND" and between:
            between -= 1
        elif tokens[number].word == word:
            found.append(number)
    return found


def _balanced(op: str, nodes: Sequence[Node]) -> Node:
    """Return the balanced tree of operands."""
    if len(nodes) == 1:
        return nodes[0]
    half = len(nodes) // 2
    left, right = _balanced(op, nodes[:half]), _balanced(op, nodes[half:])
    expr = left.expr & right.expr if op == "AND" else left.expr | right.expr
    return Node(expr, op, [left, right], constant=left.constant and right.constant)


def _walk(root: Expr) -> Node:
    """Return the nodes of a parsed expression. Raises QueryRefused for what Lance does not have."""
    top: list[Node] = []
    order: list[Node] = []
    waiting: list[tuple[Expr, list[Node], bool]] = [(root, top, False)]
    while waiting:
        expr, siblings, inside = waiting.pop()
        while expr.variant_name() == "Alias":  # the name that a function was called by
            (expr,) = expr.rex_call_operands()
        node = _node(expr, inside)
        siblings.append(node)
        order.append(node)
        if node.op not in ("Column", "Literal"):
            below = inside or expr.variant_name() == "ScalarFunction"
            operands = expr.rex_call_operands()
            waiting += [(one, node.parts, below) for one in reversed(operands)]
    for node in reversed(order):  # what follows from the parts of a node
        if node.op == "get_field":  # of fields inside each other there is one call
            inner, names = node.parts[0].names, [one.text for one in node.parts[1:]]
            texts = [name for name in names if name is not None]
            node.names = (*inner, *texts) if inner and len(texts) == len(names) else ()
        if node.parts or node.op in VOLATILE:
            is_fixed = node.op not in VOLATILE
            node.constant = is_fixed and all(one.constant for one in node.parts)
    return top[0]


def _node(expr: Expr, inside: bool) -> Node:
    variant = expr.variant_name()
    if variant not in PLAIN and not (variant == "Case" and inside):
        raise QueryRefused(f"Expression '{expr}' is not supported SQL in lance")
    if variant == "Column":
        return Node(expr, variant, names=(expr.to_variant().name(),), constant=False)
    op = expr.rex_call_operator() if variant in NAMED else variant
    is_known = op in BINARY if variant == "BinaryExpr" else op != "struct"
    if not is_known and not inside:
        raise QueryRefused(f"Operator {op} is not supported SQL in lance")
    if variant in ("Between", "InList"):
        return Node(expr, op, negated=bool(expr.to_variant().negated()))
    return Node(expr, op)

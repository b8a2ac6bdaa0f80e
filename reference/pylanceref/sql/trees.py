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

LONG = 32
"""Conditions of a chain that are parsed together."""

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
    tokens = tokens_of(text)
    return _chain(tokens, _Parser(text, schema, engine))


class _Parser:
    """Parses parts of one text."""

    def __init__(self, text: str, schema: pa.Schema, engine: Engine) -> None:
        self.text, self._engine = text, engine
        self._named, self._plain = named_schema(schema), plain_schema(schema)

    def node(self, tokens: Sequence[Token]) -> Node:
        joins = sum(token.word in ("AND", "OR") for token in tokens)
        if joins > DEPTH:
            raise QueryTooLarge(f"an expression has at most {DEPTH} levels of operators")
        sql = Rewriter(self._named, self.text).sql(tokens)
        try:
            return _walk(self._engine.parse(sql, self._plain))
        except QueryRefused as error:
            if isinstance(error, QueryTooLarge):
                raise
            raise refusal(self.text, str(error)) from error


def _chain(tokens: Sequence[Token], parser: _Parser) -> Node:
    """Return the tree of tokens, balanced where they are a long chain."""
    if len(tokens) <= 4 * LONG:
        return parser.node(tokens)
    for word in ("OR", "AND"):
        cuts = _cuts(tokens, word)
        if not cuts:
            continue
        if len(cuts) < LONG and len(tokens) <= 64 * LONG and _joins(tokens) <= DEPTH:
            return parser.node(tokens)
        parts = [
            tokens[start + 1 : end]
            for start, end in zip([-1, *cuts], [*cuts, len(tokens)], strict=True)
        ]
        if not all(parts):
            raise refusal(parser.text, f"an expression is expected beside {word}")
        if all(len(part) <= LONG for part in parts):
            groups = [parts[at : at + LONG] for at in range(0, len(parts), LONG)]
            nodes = [parser.node([*_interleaved(group, Token("word", word))]) for group in groups]
        else:
            nodes = [_chain(part, parser) for part in parts]
        return _balanced(word, nodes)
    inner = _bracketed(tokens)
    if inner is not None:
        return _chain(inner, parser)
    if tokens[0].word == "NOT":
        node = _chain(tokens[1:], parser)
        return Node(~node.expr, "Not", [node], constant=node.constant)
    return parser.node(tokens)


def _joins(tokens: Sequence[Token]) -> int:
    return sum(token.word in ("AND", "OR") for token in tokens)


def _cuts(tokens: Sequence[Token], word: str) -> list[int]:
    """Return where a word joins conditions outside of brackets; BETWEEN has an AND of its own."""
    found, depth, between = [], 0, 0
    for number, token in enumerate(tokens):
        if token.text in ("(", "[") or token.word == "CASE":
            depth += 1
        elif token.text in (")", "]") or token.word == "END":
            depth -= 1
        elif depth:
            continue
        elif token.word == "BETWEEN":
            between += 1
        elif token.word == "AND" and between:
            between -= 1
        elif token.word == word:
            found.append(number)
    return found


def _bracketed(tokens: Sequence[Token]) -> Sequence[Token] | None:
    """Return what one pair of brackets holds, None where they do not hold all."""
    if tokens[0].text != "(" or tokens[-1].text != ")":
        return None
    depth = 0
    for number, token in enumerate(tokens):
        if token.kind == "sign":
            depth += (token.text == "(") - (token.text == ")")
        if not depth and number < len(tokens) - 1:
            return None
    return tokens[1:-1]


def _interleaved(parts: Sequence[Sequence[Token]], word: Token) -> list[Token]:
    found = list(parts[0])
    for part in parts[1:]:
        found += [word, *part]
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
    for node in reversed(order):
        _finish(node)
    return top[0]


def _node(expr: Expr, inside: bool) -> Node:
    variant = expr.variant_name()
    if variant not in PLAIN and not (variant == "Case" and inside):
        raise QueryRefused(f"Expression '{expr}' is not supported SQL in lance")
    if variant == "Column":
        return Node(expr, variant, names=(expr.to_variant().name(),), constant=False)
    op = expr.rex_call_operator() if variant in NAMED else variant
    if variant == "BinaryExpr" and op not in BINARY and not inside:
        raise QueryRefused(f"Operator {op} is not supported SQL in lance")
    if variant in ("Between", "InList"):
        return Node(expr, op, negated=bool(expr.to_variant().negated()))
    return Node(expr, op)


def _finish(node: Node) -> None:
    """Set what follows from the parts of a node."""
    if node.op == "get_field":  # of fields inside each other there is one call
        inner, names = node.parts[0].names, [one.text for one in node.parts[1:]]
        texts = [name for name in names if name is not None]
        node.names = (*inner, *texts) if inner and len(texts) == len(names) else ()
    if node.parts or node.op in VOLATILE:
        node.constant = all(one.constant for one in node.parts) and node.op not in VOLATILE

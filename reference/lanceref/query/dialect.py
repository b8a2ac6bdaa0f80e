"""SQL of filters and column expressions: PostgreSQL's, but for its quotes.

Text stands in single or double quotes, a name that is no plain word in backticks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from lanceref.core.errors import QueryRefused
from lanceref.query.budget import QueryTooLarge
from lanceref.query.sqltypes import TYPES

UNKNOWN = ("<=>", "ISNULL", "NOTNULL", "UNKNOWN")
"""Words of PostgreSQL and of others that are none here."""

TYPE_WORDS = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("STRING", "BINARY", "DATE", "TIMESTAMP", "DATETIME"),
)
"""Words for types; others that PostgreSQL has for the same types are none here."""

NEGATED = "negated"
"""Mark of a negation that is part of its operator, as in `NOT IN` and `NOT BETWEEN`."""


NAMED = frozenset((*(kind.name for kind in TYPES), "DECIMAL"))
"""Types that have a name here."""


class _Lance(Postgres):
    """The quotes."""

    class Tokenizer(Postgres.Tokenizer):
        """Backticks for names; a backslash is a letter like others."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]
        QUOTES: ClassVar[list[tuple[str, str] | str]] = ["'", '"']
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **{
                word: kind
                for word, kind in Postgres.Tokenizer.KEYWORDS.items()
                if word not in UNKNOWN and (kind.name not in NAMED or word in TYPE_WORDS)
            },
            "FLOAT": TokenType.FLOAT,
        }

    class Parser(PostgresParser):
        """Functions keep the names they are written with."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            name: PostgresParser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")
        }
        UNARY_PARSERS: ClassVar[dict[TokenType, Callable[..., exp.Expr | None]]] = {
            kind: parse
            for kind, parse in PostgresParser.UNARY_PARSERS.items()
            if kind is not TokenType.PLUS
        }

        def _parse_is_rhs(self, distinct: bool = False) -> exp.Expr | None:
            """Parse what stands behind IS; behind DISTINCT FROM all that follows."""
            return self._parse_disjunction() if distinct else super()._parse_is_rhs()

        def _negate_range(self, this: exp.Expr | None = None) -> exp.Expr | None:
            """Mark the negation of a range."""
            negation = super()._negate_range(this)
            if isinstance(negation, exp.Not):
                negation.meta[NEGATED] = True
            return negation


TEXT_BYTES = 1 << 20
"""Bytes of a text: its tree takes some hundred times as many."""

NESTING = 48
"""Brackets that stand inside of each other: pylance refuses 50."""

_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def _check_nesting(tokens: list[Token]) -> None:
    """Raise QueryTooLarge for brackets nested too deep."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > NESTING:
            raise QueryTooLarge(f"brackets are nested at most {NESTING} deep")


def parse_expression(text: str) -> exp.Expr:
    """Return the syntax tree of one expression. Raises QueryRefused."""
    try:
        size = len(text.encode())
        if size > TEXT_BYTES:
            raise QueryTooLarge(f"a text of {size} bytes; {TEXT_BYTES} are the most")
        tokens = _Lance().tokenize(text)
        _check_nesting(tokens)
        tree = _Lance().parser().parse(tokens, text)
    except (SqlglotError, RecursionError) as error:
        raise QueryRefused(f"Error parsing statement: {text} ({error})") from error
    if not tree or not isinstance(tree[0], exp.Expr):
        raise QueryRefused(f"Error parsing statement: {text} (an expression is expected)")
    return tree[0]

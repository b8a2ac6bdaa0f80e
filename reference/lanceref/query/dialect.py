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
from sqlglot.tokenizer_core import TokenType

from lanceref.errors import QueryRefused

UNKNOWN = ("<=>", "ISNULL", "NOTNULL")
"""Words of PostgreSQL and of others that are none here."""


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
                if word not in UNKNOWN
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


def parse_expression(text: str) -> exp.Expr:
    """Return the syntax tree of one expression. Raises QueryRefused."""
    try:
        tree = _Lance().parser().parse(_Lance().tokenize(text), text)
    except (SqlglotError, RecursionError) as error:
        raise QueryRefused(f"Error parsing statement: {text} ({error})") from error
    if not tree or not isinstance(tree[0], exp.Expr):
        raise QueryRefused(f"Error parsing statement: {text} (an expression is expected)")
    return tree[0]

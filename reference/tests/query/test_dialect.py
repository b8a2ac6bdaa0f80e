"""The text of queries, by hand."""

from __future__ import annotations

import pytest
from lanceref.core.errors import QueryRefused
from lanceref.query.dialect import parse_expression
from sqlglot import exp


def test_quotes():
    """Text in single and double ones, names in backticks; a backslash is a letter."""
    assert parse_expression("'a\\'").name == parse_expression('"a\\"').name == "a\\"
    assert "it's" == parse_expression("'it''s'").name
    assert isinstance(parse_expression("`a b`"), exp.Column)


def test_functions_keep_their_names():
    """Also those SQL has a form of its own for."""
    for name in ("length", "Array_Contains", "now", "coalesce"):
        assert name == parse_expression(f"{name}(a)").this


@pytest.mark.parametrize("text", ["", "a =", "(a", "a)", "a b c", "a <=> 1", "+a = 1"])
def test_other_text_is_refused(text):
    """PostgreSQL's own words too."""
    with pytest.raises(QueryRefused):
        parse_expression(text)

"""What the parts of a query are, by hand."""

from __future__ import annotations

import pytest
from lanceref.query.dialect import parse_expression
from lanceref.query.trees import conditions, is_literal, is_match, is_plain, is_top


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = 1", ["a = 1"]),
        ("a = 1 and (b = 2 or c)", ["a = 1", "b = 2", "c"]),
        ("a not in (1)", ["a IN (1)"]),
        ("not a in (1)", ["NOT a IN (1)"]),
        ("a not between 1 and 2 or b", ["a BETWEEN 1 AND 2", "b"]),
    ],
)
def test_conditions(text, wanted):
    """A negation that is part of its operator is none of its own."""
    assert wanted == [one.sql() for one in conditions(parse_expression(text))]


def test_kinds():
    """Of values, columns and calls."""
    assert is_plain(parse_expression("-1")) and not is_plain(parse_expression("1 + 1"))
    assert is_literal(parse_expression("(1 + 1)")) and not is_literal(parse_expression("a"))
    assert is_top(parse_expression("a")) and not is_top(parse_expression("a.b"))
    assert is_match(parse_expression("regexp_match(a, 'b')"))

"""The SQL of filters."""

import pytest
from lanceref.errors import QueryRefused
from lanceref.query.dialect import parse_expression
from sqlglot import exp


def test_quotes():
    """Text in both, names in backticks; a backslash is a letter."""
    for quoted in ("'a b'", '"a b"'):
        tree = parse_expression(quoted)
        assert (True, "a b") == (tree.is_string, tree.this)
    assert "a b" == parse_expression("`a b`").name
    assert "a\\n" == parse_expression("'a\\n'").this


def test_functions_keep_their_names():
    """Whatever they are called in another dialect."""
    tree = parse_expression("ArRay_Has(a, 1)")

    assert isinstance(tree, exp.Anonymous)
    assert ("ArRay_Has", 2) == (tree.this, len(tree.expressions))


@pytest.mark.parametrize("text", ["", "a >", "a = = 1", "(", "'open", "a b c"])
def test_what_is_no_expression_is_refused(text):
    """A ValueError that shows the text."""
    with pytest.raises(QueryRefused, match="Error parsing statement"):
        parse_expression(text)


def test_depth_is_bounded():
    """Deep nesting is refused, it does not end the process."""
    with pytest.raises(QueryRefused):
        parse_expression("(" * 20_000 + "1" + ")" * 20_000)

"""Identifiers."""

from __future__ import annotations

import pytest
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.parameters import requested
from lanceref.index.full_text.tokenizers import code, parts_of, split_code


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("XMLHttp_parse2JSON", ["XML", "Http", "parse", "2", "JSON"]),
        ("__x__", ["x"]),
        ("ABC", ["ABC"]),
        ("aBC", ["a", "BC"]),
        ("ABc", ["A", "Bc"]),
        ("ÀbCd", ["Àb", "Cd"]),
        ("___", []),
    ],
)
def test_worked_parts(word, parts):
    """Low lines, capitals and digits end a part."""
    assert parts == parts_of(word, numerics=True)


def test_digits_stay_where_they_are_not_asked_for():
    """Only capitals cut then."""
    assert ["parse2JSON"] == parts_of("parse2JSON", numerics=False)


def test_worked_text():
    """A word lies where its first part does; operators are words where they are asked for."""
    text = "getName a::b -> c"
    assert (["getName", "a", "b", "c"], range(4)) == code(operators=False)(text)
    assert ["getName", "a", "::", "b", "->", "c"] == code(operators=True)(text)[0]
    both = split_code(operators=False, numerics=True, whole=True)(text)
    assert (["getName", "get", "Name", "a", "b", "c"], [0, 0, 1, 2, 3, 4]) == both
    parts = split_code(operators=False, numerics=True, whole=False)(text)
    assert (["get", "Name", "a", "b", "c"], [0, 1, 2, 3, 4]) == parts


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("parse::<usize>()", ["parse", "::", "<", "usize", ">"]),
        ("a====b", ["a", "===", "=", "b"]),
        ("a<<<=b", ["a", "<<", "<=", "b"]),
        ("x>>>=->>", ["x", ">>>=", "->", ">"]),
        ("^?%-:::", ["^", "?", "%", "-", "::", ":"]),
        ("a.b;[c]", ["a", "b", "c"]),
    ],
)
def test_operators_stand_alone(text, tokens):
    """The longest that there is first; other signs are none."""
    assert tokens == code(operators=True)(text)[0]


@pytest.mark.oracle
def test_the_oracle_cuts_operators_alike():
    """Every text of up to three of the signs."""
    import itertools

    import lance

    options = {"analyzer": "code", "index_operators": True}
    analyzer = Analyzer(requested(options, json_documents=False).analysis)
    signs = [*"!%&*+-/:<=>?^|~._", "a"]
    texts = map("".join, itertools.chain(*(itertools.product(signs, repeat=n) for n in (1, 2, 3))))
    for text in itertools.islice(texts, 0, None, 3):
        assert [one.text for one in lance.tokenize(text, **options)] == [
            token for token, _ in analyzer.tokens(text)
        ]

"""Tokens of a query."""

from __future__ import annotations

import pytest
from pylanceref.fts_tokens import FtsToken, tokenize

WORKED = [
    ("the cats and dogs", {}, [("cat", 0), ("dog", 2)]),
    ("the skip alpha", {"stem": False, "custom_stop_words": ["skip"]}, [("the", 0), ("alpha", 2)]),
    ("x" * 41, {"stem": False}, []),
    ("x" * 41, {"stem": False, "max_token_length": None}, [("x" * 41, 0)]),
    ("Hello World", {"base_tokenizer": "raw"}, [("hello world", 0)]),
    ("Über café", {"ascii_folding": False}, [("über", 0), ("café", 1)]),
    ("a::b", {"analyzer": "code", "index_operators": True}, [("a", 0), ("::", 1), ("b", 2)]),
    ("", {}, []),
]


@pytest.mark.parametrize(("query", "options", "wanted"), WORKED)
def test_tokens_and_their_places(query, options, wanted):
    """Counted from the first that is kept."""
    assert [FtsToken(*one) for one in wanted] == tokenize(query, **options)


@pytest.mark.oracle
@pytest.mark.parametrize(("query", "options", "_"), WORKED)
def test_the_oracle_finds_the_same(query, options, _):
    """And shows tokens alike."""
    import lance

    assert [repr(one) for one in lance.tokenize(query, **options)] == [
        repr(one) for one in tokenize(query, **options)
    ]


@pytest.mark.parametrize(
    ("query", "options", "error"),
    [
        ("aB", {"split_identifiers": True}, ValueError),
        ("a", {"base_tokenizer": "unknown"}, ValueError),
        ("a", {"block_size": 256}, TypeError),
        ("a", {"lower_case": 3}, TypeError),
        (5, {}, TypeError),
    ],
)
def test_other_options_are_refused(query, options, error):
    """As of an index."""
    with pytest.raises(error):
        tokenize(query, **options)

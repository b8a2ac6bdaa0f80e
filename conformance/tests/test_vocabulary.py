"""Tests of the vocabulary: it is closed, and the schema of cases says so."""

from __future__ import annotations

import pytest
from lance_conformance import schemas
from lance_conformance.vocabulary import ENCODINGS, FEATURES, INDICES, TYPES, type_words


def test_the_schema_of_cases_lists_every_word():
    """An implementer needs no Python to find the words."""
    requires = schemas.load("case")["properties"]["requires"]["properties"]

    assert sorted(TYPES) == requires["types"]["items"]["enum"]
    assert sorted(ENCODINGS) == requires["encodings"]["items"]["enum"]
    assert sorted(FEATURES) == requires["features"]["items"]["enum"]
    assert sorted(INDICES) == requires["index"]["enum"]


@pytest.mark.parametrize(
    ("logical_type", "words"),
    [
        ("int32", {"int32"}),
        ("halffloat", {"float16"}),
        ("list.struct", {"list"}),
        ("fixed_size_list:fixed_size_list:int8:2:2", {"fixed_size_list", "int8"}),
        ("fixed_size_list:lance.bfloat16:2", {"fixed_size_list", "bfloat16"}),
        ("dict:string:int8:false", {"dictionary", "string", "int8"}),
        ("timestamp:us:-", {"timestamp:us"}),
        ("timestamp:ns:+05:30", {"timestamp:ns", "timezone"}),
        ("decimal:256:40:0", {"decimal256"}),
        ("date32:day", {"date32"}),
        ("fixed_size_binary:16", {"fixed_size_binary"}),
    ],
)
def test_a_logical_type_has_words_of_the_vocabulary(logical_type, words):
    """Children that have fields of their own have words of their own."""
    assert words == type_words(logical_type)
    assert words <= TYPES.keys()

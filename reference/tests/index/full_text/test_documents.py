"""Documents."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import LimitExceeded
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.documents import documents, json_tokens
from lanceref.index.full_text.parameters import Analysis


def found(values, *, list_elements=False) -> list[tuple]:
    """Return row, element and tokens of each document."""
    analyzer = Analyzer(Analysis())
    return [
        (one.row, one.element, one.tokens)
        for one in documents(pa.array(values), analyzer, list_elements=list_elements)
    ]


def test_rows_without_tokens_are_none():
    """Null, an empty text and stop words only."""
    assert [(3, 0, [("fox", 0)])] == found([None, "", "the", "fox"])


def test_lists():
    """One document, whose positions go on, or one for each element, also the empty ones."""
    values = [["a fox", None, "dog"], None, [], ["cow"]]
    assert [(0, 0, [("fox", 1), ("dog", 2)]), (3, 0, [("cow", 0)])] == found(values)
    assert [
        (0, 0, [("fox", 1)]),
        (0, 1, []),
        (0, 2, [("dog", 0)]),
        (3, 0, [("cow", 0)]),
    ] == found(values, list_elements=True)


def test_json():
    """Every scalar has a path and a type; numbers stay as they are written."""
    text = '{"a":{"b":["The foxes",1.50,{"c":null}]},"ok":true,"e":""}'
    tokens = ["a.b,str,fox", "a.b,number,1.50", "a.b.c,null,null", "ok,bool,true"]
    wanted = [(token, number) for number, token in enumerate(tokens)]
    assert wanted == json_tokens(text, Analyzer(Analysis()))
    assert [(",str,top", 0)] == json_tokens('"top"', Analyzer(Analysis()))


def test_json_that_nests_too_deep_is_refused():
    """20,000 arrays inside each other are legal; the parser of the standard library stops."""
    with pytest.raises(LimitExceeded, match="nests too deep"):
        json_tokens("[" * 20_000 + "]" * 20_000, Analyzer(Analysis()))

"""Texts of the metadata."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.index.vector.storage import compact, parse_object, parse_texts

PLACE = Context("f").at(0, 0)


@given(st.text(max_size=20))
def test_any_text_is_json_or_an_error(text):
    """Nothing else escapes."""
    for parse in (parse_object, parse_texts):
        try:
            parse(text, PLACE, "x")
        except FormatError as error:
            assert "L.index.vector.metadata" == error.clause


def test_forms():
    """An object is none that is a list, a list of texts has only texts."""
    assert {"a": 1} == parse_object('{"a":1}', PLACE, "x")
    assert ["", "{}"] == parse_texts('["","{}"]', PLACE, "x")
    for parse, text in ((parse_object, "[]"), (parse_texts, "[1]"), (parse_texts, "{}")):
        with pytest.raises(FormatError):
            parse(text, PLACE, "x")
    with pytest.raises(FormatError):
        parse_texts("[" * 100_000, PLACE, "x")
    assert '{"a":["b"]}' == compact({"a": ["b"]})

"""Document granularity."""

from __future__ import annotations

import pyarrow as pa
import pylanceref.query
import pytest
from lanceref.index.full_text.parameters import DocumentGranularity, is_list


def test_values_are_those_of_details():
    """A row or an element; the class is exported with the queries."""
    assert ["row", "list_element"] == [one.value for one in DocumentGranularity]
    assert pylanceref.query.DocumentGranularity is DocumentGranularity


def test_a_query_is_told_what_is_a_document_by_the_class():
    """Its name as text is none."""
    assert ["Row", "ListElement"] == [one.shown for one in DocumentGranularity]
    made = pylanceref.query.MatchQuery("a", "b", document_granularity=DocumentGranularity.ROW)
    assert made.document_granularity is DocumentGranularity.ROW
    with pytest.raises(AttributeError):
        pylanceref.query.PhraseQuery("a", "b", document_granularity="row")


@pytest.mark.parametrize(
    ("type_", "found"),
    [(pa.list_(pa.utf8()), True), (pa.large_list(pa.utf8()), True), (pa.utf8(), False)],
)
def test_lists_have_elements(type_, found):
    """Of either size."""
    assert is_list(type_) is found

"""Document granularity."""

from __future__ import annotations

import lanceref.query
from lanceref.index.fulltext.granularity import DocumentGranularity


def test_values_are_those_of_details():
    """A row or an element; the class is exported with the queries."""
    assert ["row", "list_element"] == [one.value for one in DocumentGranularity]
    assert lanceref.query.DocumentGranularity is DocumentGranularity

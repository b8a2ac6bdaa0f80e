"""Full-text requests."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.index.full_text.parameters import DocumentGranularity
from pylanceref.query import MatchQuery

ROWS = pa.table({"s": ["was a fox", "fox a was"], "l": [["fox"], ["dog", "fox"]], "i": [0, 1]})


def table(root, *columns, **parameters):
    """Two rows with indices over columns."""
    dataset = pylanceref.write_dataset(ROWS, root / "t")
    for column in columns:
        dataset.create_scalar_index(
            column, "INVERTED", with_position=True, remove_stop_words=False, **parameters
        )
    return dataset


def found(dataset, given):
    """Numbers of the rows."""
    return sorted(dataset.to_table(full_text_query=given, columns=["i"])["i"].to_pylist())


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ('"was a fox"', [0]),
        ("was a fox", [0, 1]),
        ('"was a fox', [0, 1]),
        ('"', []),
        ('""', []),
        ({"query": '"was a fox"', "columns": ["s"]}, [0]),
        ({"query": MatchQuery('"was a fox"', "s")}, [0, 1]),
    ],
)
def test_quotes_make_a_phrase(tmp_path, given, rows):
    """Where they are around all words of a text."""
    assert rows == found(table(tmp_path, "s"), given)


@pytest.mark.parametrize("given", ["fox", {"query": "fox", "columns": []}])
def test_no_index_is_an_error(tmp_path, given):
    """There is no column to look in."""
    with pytest.raises(QueryRefused, match="Cannot perform full text search"):
        found(table(tmp_path), given)


def test_a_phrase_has_one_column(tmp_path):
    """Whether they are given or those with an index."""
    dataset = table(tmp_path, "s", "l")
    with pytest.raises(QueryRefused, match="column must be specified"):
        found(dataset, '"was a fox"')
    with pytest.raises(QueryRefused, match="multiple columns"):
        found(dataset, {"query": '"a fox"', "columns": ["s", "l"]})
    assert [1] == found(dataset, "dog")


def test_rows_are_meant_where_both_are_indexed(tmp_path):
    """A list whose elements are documents too is searched by row."""
    dataset = table(tmp_path, "l")
    element = DocumentGranularity.LIST_ELEMENT
    dataset.create_scalar_index("l", "INVERTED", name="e", document_granularity=element)
    assert [0, 1] == found(pylanceref.dataset(dataset.uri), "fox")


def test_deleted_rows_are_not_searched(tmp_path):
    """That is refused."""
    dataset = table(tmp_path, "s")
    with pytest.raises(QueryRefused, match="Cannot include deleted rows"):
        dataset.to_table(full_text_query="fox", include_deleted_rows=True, with_row_id=True)

"""Text columns."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.search.text_column import text_column

VALUES = pa.table({"s": ["Red fox", "cow", None], "i": range(3), "l": [["fox"], [], ["a", "cow"]]})


def column(root, path="s", granularity=None, **options):
    """Return a column of a fresh table."""
    found = pylanceref.dataset(str(root / "t"))._snapshot
    return text_column(found, path, granularity, fast=False, **options)


def test_rows_beyond_the_index_are_read(tmp_path):
    """And rows deleted from it are at no place."""
    dataset = pylanceref.write_dataset(VALUES, tmp_path / "t")
    dataset.create_scalar_index("s", "INVERTED")
    dataset.insert(VALUES.slice(0, 1))
    dataset.delete("i = 1")
    own = column(tmp_path)
    assert (2, 1) == (
        own.indexed[0].documents.corpus.num_documents,
        own.read.documents.corpus.num_documents,
    )
    assert [0, -1] == own.indexed[0].places(pa.array([0, 1]).to_numpy()).tolist()
    assert [2 << 32] == own.read.places(pa.array([0]).to_numpy()).tolist()
    assert [("red", 0), ("fox", 1)] == own.tokens("RED foxes")
    assert [("RED", 0)] == own.tokens("RED", plain=True)


def test_lists_beyond_the_index_are_one_text(tmp_path):
    """A blank lies between two texts, but none where nothing stands yet; null adds nothing."""
    lists = [["red", "fox"], [None, "", "red"], ["red", None, ""], ["a", "", "b"], [], None]
    values = pa.table({"l": pa.array(lists, pa.list_(pa.string()))})
    dataset = pylanceref.write_dataset(values, tmp_path / "t")
    dataset.create_scalar_index("l", "INVERTED", base_tokenizer="raw", remove_stop_words=False)
    dataset.insert(values)
    own = column(tmp_path, "l")
    assert {"red fox": 0, "red": 1, "red ": 2, "a  b": 3, "": 4} == own.read.documents.tokens
    assert 6 == own.read.documents.corpus.num_documents
    part = own.indexed[0]
    assert (True, None) == (
        part.documents.number_of("red") is not None,
        part.documents.number_of("red fox"),
    )


def test_without_an_index_words_stand_as_they_are(tmp_path):
    """No lower case, no stems, no stop words."""
    pylanceref.write_dataset(VALUES, tmp_path / "t")
    own = column(tmp_path)
    assert [("The", 0), ("foxes", 1)] == own.tokens("The foxes")
    assert {"Red": 0, "fox": 1, "cow": 2} == own.read.documents.tokens


def test_wrong_columns_are_refused(tmp_path):
    """One that is not there, one of numbers, and a granularity that no index has."""
    dataset = pylanceref.write_dataset(VALUES, tmp_path / "t")
    element = DocumentGranularity.LIST_ELEMENT
    dataset.create_scalar_index("l", "INVERTED", document_granularity=element)
    for path, granularity in (("x", None), ("i", None), ("l", DocumentGranularity.ROW)):
        with pytest.raises(QueryRefused):
            column(tmp_path, path, granularity)
    assert column(tmp_path, "l", element).list_elements


def test_queries_of_json_name_path_and_type(tmp_path):
    """Texts are analysed, other values are as they are, anything else is refused."""
    values = pa.array(['{"a":"The foxes","n":1}'], pa.json_())
    dataset = pylanceref.write_dataset(pa.table({"s": values}), tmp_path / "t")
    dataset.create_scalar_index("s", "INVERTED")
    own = column(tmp_path)
    assert [("a,str,fox", 0)] == own.tokens("a,str,the fox")
    assert [("n,number,1", 0)] == own.tokens("n,number,1")
    for text in ("fox", "a,foo,fox"):
        with pytest.raises(QueryRefused, match="Invalid triple"):
            own.tokens(text)


def test_rows_are_found_where_a_compaction_moved_them(tmp_path):
    """Also one that left the index as it was."""
    texts = pa.table({"s": ["old lance", "none", "lance", "other", "a lance", "end"]})
    dataset = pylanceref.write_dataset(texts, tmp_path / "t", max_rows_per_file=2)
    dataset.create_scalar_index("s", "INVERTED")
    dataset.delete("s = 'none'")
    dataset.optimize.compact_files(defer_index_remap=True)
    found = pylanceref.dataset(tmp_path / "t").to_table(full_text_query="lance")

    assert ["a lance", "lance", "old lance"] == sorted(found["s"].to_pylist())


def test_elements_may_be_documents_without_an_index(tmp_path):
    """Where a query says so, of a list; else rows are."""
    pylanceref.write_dataset(VALUES, tmp_path / "t")
    own = column(tmp_path, "l", DocumentGranularity.LIST_ELEMENT)
    assert own.list_elements
    assert own.read.documents.corpus.num_documents == 3
    assert not column(tmp_path, "l").list_elements
    with pytest.raises(QueryRefused, match="no List layer"):
        column(tmp_path, "s", DocumentGranularity.LIST_ELEMENT)


def test_a_query_says_which_of_two_indices_it_means(tmp_path):
    """One of rows and one of elements; unless it does, it is refused."""
    dataset = pylanceref.write_dataset(VALUES, tmp_path / "t")
    dataset.create_scalar_index(
        "l", "INVERTED", document_granularity=DocumentGranularity.LIST_ELEMENT
    )
    with pytest.raises(
        QueryRefused, match=r"requested Row .* 'l_list_element_idx' \(ListElement\)"
    ):
        column(tmp_path, "l", DocumentGranularity.ROW)
    dataset.create_scalar_index("l", "INVERTED")
    with pytest.raises(QueryRefused, match=r"ambiguous .*specify document_granularity"):
        column(tmp_path, "l")
    for granularity in DocumentGranularity:
        own = column(tmp_path, "l", granularity)
        assert own.list_elements == (granularity is DocumentGranularity.LIST_ELEMENT)

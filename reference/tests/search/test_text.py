"""Full-text queries: arguments, matching and scores; questions that are refused as by pylance."""

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import NotYet, QueryRefused
from lanceref.search.full_text import leaves
from lanceref.search.text_column import text_column
from lanceref.search.text_matching import follows
from pylanceref.query import (
    BooleanQuery,
    BoostQuery,
    CombinedFieldsQuery,
    DocumentGranularity,
    FullTextOperator,
    MatchQuery,
    MinHashQuery,
    MultiMatchQuery,
    Occur,
    PhraseQuery,
)

VALUES = pa.table({"s": ["Red fox", "cow", None], "i": range(3), "l": [["fox"], [], ["a", "cow"]]})


def column(root, path="s", granularity=None, **options):
    """Return a column of a fresh table."""
    found = pylanceref.dataset(str(root / "t"))._snapshot
    return text_column(found, path, granularity, fast=False, **options)


def test_lists_are_one_text(tmp_path):
    """A blank lies between two texts, but none where nothing stands yet; null adds nothing."""
    lists = [["red", "fox"], [None, "", "red"], ["red", None, ""], ["a", "", "b"], [], None]
    values = pa.table({"l": pa.array(lists, pa.list_(pa.string()))})
    dataset = pylanceref.write_dataset(values, tmp_path / "t")
    dataset.create_scalar_index("l", "INVERTED", base_tokenizer="raw", remove_stop_words=False)
    dataset.insert(values)
    own = column(tmp_path, "l")
    assert {"red fox": 0, "red": 1, "red ": 2, "a  b": 3, "": 4} == own.read.documents.tokens
    assert 6 == own.read.documents.corpus.num_documents
    assert 2 == dataset.to_table(full_text_query=MatchQuery("red fox", "l")).num_rows


def test_without_an_index_words_stand_as_they_are(tmp_path):
    """No lower case, no stems, no stop words."""
    pylanceref.write_dataset(VALUES, tmp_path / "t")
    own = column(tmp_path)
    assert [("The", 0), ("foxes", 1)] == own.tokens("The foxes")
    assert {"Red": 0, "fox": 1, "cow": 2} == own.read.documents.tokens


def asked(text: str, phrase: str, slop: int = 0) -> bool:
    """Return whether a text of letters has a phrase of letters."""
    positions = [
        np.array([at for at, own in enumerate(text) if own == one], np.uint32) for one in phrase
    ]
    return all(map(len, positions)) and follows(positions, [1] * (len(phrase) - 1), slop)


@given(st.text("abx", max_size=8), st.text("ab", min_size=2, max_size=3), st.integers(0, 3))
def test_every_choice_of_places_is_tried(text, phrase, slop):
    """As if all were tried one by one."""
    choices = product(*([at for at, own in enumerate(text) if own == one] for one in phrase))
    wanted = any(all(0 < b - a <= 1 + slop for a, b in pairwise(one)) for one in choices)
    assert wanted is asked(text, phrase, slop)


def table(root, texts, **parameters):
    """Texts with an index, and their numbers."""
    dataset = pylanceref.write_dataset(pa.table({"s": texts, "i": range(len(texts))}), root / "t")
    dataset.create_scalar_index("s", "INVERTED", **parameters)
    return dataset


def found(dataset, query, **scan):
    """Numbers of the rows that a query finds."""
    rows = dataset.to_table(full_text_query=query, columns=["i"], **scan)
    return sorted(rows["i"].to_pylist())


def test_forms_at_one_place_are_one_word(tmp_path):
    """A whole identifier and its first part; all n-grams of a text."""
    texts = ["getUserName", "get user name", "user", "name user get"]
    code = table(tmp_path, texts, base_tokenizer="code", split_identifiers=True, with_position=True)
    every = FullTextOperator.AND
    assert [0, 1, 3] == found(code, MatchQuery("getUserName", "s", operator=every))
    assert [0, 1] == found(code, PhraseQuery("getUserName", "s"))
    assert [0, 1] == found(code, PhraseQuery("UserName", "s"))
    ngrams = table(
        tmp_path / "n", ["abcd", "bcd", "zzz"], base_tokenizer="ngram", with_position=True
    )
    assert [0, 1] == found(ngrams, MatchQuery("abcd", "s", operator=every))
    assert [0, 1] == found(ngrams, PhraseQuery("bcd abc", "s"))


def test_a_filter_before_changes_what_is_counted(tmp_path):
    """Of rows that no index covers only those that pass it count."""
    dataset = table(tmp_path, ["red fox", "dog"])
    dataset.insert(pa.table({"s": ["red cow", "red", "owl"], "i": [2, 3, 4]}))
    scores = [
        {
            row["i"]: row["_score"]
            for row in dataset.to_table(full_text_query="red", columns=["i"], **scan).to_pylist()
        }
        for scan in ({}, {"filter": "i < 3"}, {"filter": "i < 3", "prefilter": True})
    ]
    assert scores[0][2] == scores[1][2] != scores[2][2]
    assert scores[0][0] == scores[1][0] == scores[2][0]


@pytest.mark.parametrize("query", ["red fox red red cow", "red", "dog owl dog"])
def test_words_that_are_asked_often_count_as_often(tmp_path, monkeypatch, query):
    """Of very many words equal ones are scored together, which changes no row and no score."""
    dataset = table(tmp_path, ["red fox", "red red dog", "fox", None, "cow"] * 20)
    wanted = dataset.to_table(full_text_query=query, limit=7)
    monkeypatch.setattr("lanceref.search.text_matching.MANY", 1)
    monkeypatch.setattr("lanceref.search.text_matching.SPARE", 1)
    again = pylanceref.dataset(dataset.uri).to_table(full_text_query=query, limit=7)

    assert wanted["i"] == again["i"]
    np.testing.assert_allclose(wanted["_score"], again["_score"], rtol=1e-6)


def test_combined_columns_by_hand(tmp_path):
    """Of weights 1 and 2: N = 3 and n = 2 are those of `s`, and lengths are 4, 1 and 3."""
    texts = {"s": ["fox cow", "fox", "cow"], "t": ["dog", None, "fox"], "i": range(3)}
    dataset = pylanceref.write_dataset(pa.table(texts), tmp_path / "t")
    for name in "st":
        dataset.create_scalar_index(name, "INVERTED")
    query = CombinedFieldsQuery("fox", ["s", "t"], boosts=[1.0, 2.0])
    found = dataset.to_table(full_text_query=query, columns=["i", "_score"])
    pairs, mean = [(1, 4), (1, 1), (2, 3)], (4 + 2 * 2) / 3
    wanted = [
        np.log(1.5 / 2.5 + 1) * 2.2 * f / (f + 1.2 * (0.25 + 0.75 * size / mean))
        for f, size in pairs
    ]
    scores = dict(zip(found["i"].to_pylist(), found["_score"].to_pylist(), strict=True))
    np.testing.assert_allclose([scores[row] for row in range(3)], wanted, rtol=1e-6)


A, B = MatchQuery("a", "s"), PhraseQuery("b", "t")
_, ELEMENT = DocumentGranularity
S, L, E = (MatchQuery("a", column, document_granularity=ELEMENT) for column in "sle")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: MatchQuery(3, "s"), TypeError),
        (lambda: MatchQuery("a", "s", operator="AND"), AttributeError),
        (lambda: MatchQuery("a", "s", fuzziness=-1), OverflowError),
        (lambda: PhraseQuery("a", "s", slop=-1), OverflowError),
        (lambda: PhraseQuery("a", "s", document_granularity="row"), AttributeError),
        (lambda: BoostQuery(A, B, negative_boost="x"), TypeError),
        (lambda: MultiMatchQuery("a", []), ValueError),
        (lambda: MultiMatchQuery("a", ["s"], boosts=[1.0, 2.0]), ValueError),
        (lambda: CombinedFieldsQuery("a", ["s"], boosts=[0.5]), ValueError),
        (lambda: BooleanQuery([("MUST", A)]), AttributeError),
        (lambda: leaves(BooleanQuery([])), QueryRefused),
        (lambda: leaves(BooleanQuery([(Occur.MUST_NOT, A)])), QueryRefused),
        (lambda: leaves(MatchQuery("a", "s", boost=-1)), QueryRefused),
        (lambda: leaves(MatchQuery("a", "s", boost=1e39)), QueryRefused),
        (lambda: leaves(BoostQuery(A, B, negative_boost=-1.0)), QueryRefused),
    ],
)
def test_wrong_arguments_are_refused(make, error):
    """As they are given, or when the queries of columns are taken out of a query."""
    with pytest.raises(error):
        make()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A table with full-text indices of rows and of elements, and an index over vectors."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(8, dtype=np.float32)), 4)
    documents = pa.array(['{"a":"fox"}', '{"a":"dog"}'], pa.json_())
    lists = [["fox"], ["a", "dog"]]
    table = {"s": ["red fox", "dog"], "l": lists, "e": lists, "j": documents, "i": [1, 2]}
    values = {"v": vectors, "w": vectors, "query_index": [0, 1], "t": ["a", "b"]}
    made = pylanceref.write_dataset(pa.table({**table, **values}), tmp_path_factory.mktemp("r"))
    for column in "slj":
        made.create_scalar_index(column, "INVERTED")
    for column in "le":
        made.create_scalar_index(column, "INVERTED", document_granularity=ELEMENT)
    for column in "vw":
        made.create_index(column, "IVF_FLAT", num_partitions=1)
    return pylanceref.dataset(made.uri)


def test_a_word_of_a_document_is_named_by_its_path(dataset):
    """And its type; the text after them may hold commas."""
    for text, rows in (("a,str,fox", [1]), ("a,str,a,dog", [2]), ("a,str,cat", [])):
        assert rows == dataset.to_table(full_text_query=MatchQuery(text, "j"))["i"].to_pylist()


NEAR = {"column": "v", "q": [0.0] * 4}


@pytest.mark.parametrize(
    ("scan", "error", "told"),
    [
        ({"full_text_query": MatchQuery("a", "x")}, QueryRefused, "does not exist"),
        ({"full_text_query": MatchQuery("a", "i")}, QueryRefused, "must resolve to Utf8"),
        ({"full_text_query": MatchQuery("fox", "j")}, QueryRefused, "Invalid triple format"),
        ({"full_text_query": MatchQuery("a,str,fox;", "j")}, QueryRefused, "Invalid triple format"),
        ({"full_text_query": MatchQuery("a,foo,fox", "j")}, QueryRefused, "Invalid triple type"),
        ({"full_text_query": PhraseQuery("red fox", "s")}, QueryRefused, "position is not found"),
        ({"full_text_query": MatchQuery("a", "l")}, QueryRefused, "ambiguous"),
        ({"full_text_query": S}, QueryRefused, "no List"),
        ({"full_text_query": MatchQuery("a", "e") & A}, QueryRefused, "cannot mix"),
        ({"full_text_query": L & E}, QueryRefused, "the same field"),
        ({"full_text_query": CombinedFieldsQuery("a", ["s", "e"])}, NotYet, "combined_fields"),
        ({"full_text_query": CombinedFieldsQuery("a", ["t"])}, QueryRefused, "needs an FTS index"),
        ({"nearest": MinHashQuery("x", "s")}, QueryRefused, "No MinHash LSH index found"),
        ({"nearest": "abc"}, TypeError, "must be a mapping"),
        ({"nearest": {**NEAR, "x": 1}}, TypeError, "takes 'column' and 'q'"),
        ({"nearest": {**NEAR, "column": "i"}}, TypeError, "must be a vector"),
        ({"nearest": {**NEAR, "column": "zz"}}, ValueError, "zz is not in the dataset"),
        ({"nearest": {**NEAR, "q": [0.0]}}, ValueError, "does not match"),
        ({"nearest": {**NEAR, "q": None}}, TypeError, "Query vectors should be an array of floats"),
        ({"nearest": {**NEAR, "k": 0}}, ValueError, "must be > 0 but got 0"),
        ({"nearest": {**NEAR, "q": object()}}, TypeError, "array of floats"),
        ({"nearest": {**NEAR, "q": [[0.0] * 4] * 2}}, QueryRefused, "query_index"),
        ({"nearest": {**NEAR, "distance_range": ("a", 1)}}, TypeError, "must be real number"),
    ],
)
def test_questions_that_cannot_be_answered_are_refused(dataset, scan, error, told):
    """With a text that names what is wrong."""
    with pytest.raises(error, match=told):
        dataset.to_table(**scan)

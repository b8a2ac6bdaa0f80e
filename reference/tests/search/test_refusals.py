"""Questions that are refused, each with the class that pylance has."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotYet, QueryRefused
from lanceref.search.full_text import leaves
from pylanceref.query import (
    BooleanQuery,
    BoostQuery,
    CombinedFieldsQuery,
    DocumentGranularity,
    MatchQuery,
    MinHashQuery,
    MultiMatchQuery,
    Occur,
    PhraseQuery,
)

A, B = MatchQuery("a", "s"), PhraseQuery("b", "t")
_, ELEMENT = DocumentGranularity


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
    values = {"v": vectors, "w": vectors, "query_index": [0, 1]}
    made = pylanceref.write_dataset(pa.table({**table, **values}), tmp_path_factory.mktemp("r"))
    for column in "slj":
        made.create_scalar_index(column, "INVERTED")
    for column in "le":
        made.create_scalar_index(column, "INVERTED", document_granularity=ELEMENT)
    for column in "vw":
        made.create_index(column, "IVF_FLAT", num_partitions=1)
    return pylanceref.dataset(made.uri)


NEAR = {"column": "v", "q": [0.0] * 4}


@pytest.mark.parametrize(
    ("scan", "error", "told"),
    [
        ({"full_text_query": MatchQuery("a", "x")}, QueryRefused, "does not exist"),
        ({"full_text_query": MatchQuery("a", "i")}, QueryRefused, "must resolve to Utf8"),
        ({"full_text_query": MatchQuery("fox", "j")}, QueryRefused, "Invalid triple format"),
        ({"full_text_query": MatchQuery("a,foo,fox", "j")}, QueryRefused, "Invalid triple type"),
        ({"full_text_query": PhraseQuery("red fox", "s")}, QueryRefused, "position is not found"),
        ({"full_text_query": MatchQuery("a", "l")}, QueryRefused, "ambiguous"),
        (
            {"full_text_query": MatchQuery("a", "s", document_granularity=ELEMENT)},
            QueryRefused,
            "no List layer",
        ),
        ({"full_text_query": MatchQuery("a", "e") & A}, QueryRefused, "cannot mix"),
        ({"full_text_query": CombinedFieldsQuery("a", ["s", "e"])}, NotYet, "combined_fields"),
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

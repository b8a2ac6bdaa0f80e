"""Search filters: rows near and with words, one search kept to the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.compute import pc
from pylanceref.dataset import VectorSearchQuery
from pylanceref.query import MatchQuery, PhraseQuery

COUNT = 60
MATCH = MatchQuery("text", "t")
NEAR = {"column": "v", "q": [float(COUNT)] * 4, "k": 5, "minimum_nprobes": 9}


@pytest.fixture(scope="module", params=[False, True], ids=["no index", "indices"])
def dataset(request, tmp_path_factory):
    """Vectors in a row; words are missing in rows 50 to 57, every third row is of `g`."""
    ids = np.arange(1, COUNT + 1)
    vectors = np.repeat(ids.astype(np.float32), 4)
    table = pa.table(
        {
            "id": ids,
            "v": pa.FixedSizeListArray.from_arrays(pa.array(vectors), 4),
            "t": [f"{'noop' if 50 <= one < 58 else 'text'} {one}" for one in ids],
            "c": ["g" if one % 3 == 0 else "l" for one in ids],
        }
    )
    made = pylanceref.write_dataset(table, tmp_path_factory.mktemp("filters") / "t")
    if request.param:
        made.create_index("v", index_type="IVF_FLAT", num_partitions=2)
        made.create_scalar_index("t", "INVERTED", with_position=True)
    return made


def _ids(dataset, **scan) -> list[int]:
    return dataset.scanner(["id"], **scan).to_table()["id"].to_pylist()


BOTH = {"expr_filter": "c = 'g'", "search_filter": MATCH}


@pytest.mark.parametrize(
    ("filter", "before", "behind"),
    [
        (MATCH, [60, 59, 58, 49, 48], [60, 59, 58]),
        (BOTH, [60, 48, 45, 42, 39], [60]),
        ({**BOTH, "expr_filter": pc.field("c") == "g"}, [60, 48, 45, 42, 39], [60]),
        ({"expr_filter": "c = 'g'"}, [60, 57, 54, 51, 48], [60, 57]),
        ({}, [60, 59, 58, 57, 56], [60, 59, 58, 57, 56]),
    ],
)
def test_what_is_near_is_kept_to_rows_with_words(dataset, filter, before, behind):
    """Before the search others take the places of those without; behind it nobody does."""
    assert before == _ids(dataset, nearest=NEAR, filter=filter, prefilter=True)
    assert behind == _ids(dataset, nearest=NEAR, filter=filter)
    assert behind[:2] == _ids(dataset, nearest=NEAR, filter=filter, limit=2)


def test_words_are_kept_to_what_is_near(dataset):
    """Near among all rows that pass, or among those with the words."""
    near = VectorSearchQuery("v", [float(COUNT)] * 4, k=5, minimum_nprobes=9)
    both = {"expr_filter": "c = 'g'", "search_filter": near}
    cases = [
        (near, True, {60, 59, 58}),
        (both, True, {60, 48}),
        (near, False, {60, 59, 58, 49, 48}),
        (both, False, {60, 48}),
    ]
    for filter, prefilter, found in cases:
        scan = {"full_text_query": MATCH, "filter": filter, "prefilter": prefilter}
        assert found == set(_ids(dataset, **scan))


def test_a_phrase_is_a_filter_before_only(dataset):
    """As is every search for words but a match; that is told when rows are asked for."""
    phrase = PhraseQuery("text 3", "t")

    assert [3] == _ids(dataset, nearest=NEAR, filter=phrase, prefilter=True)
    scan = dataset.scanner(["id"], nearest=NEAR, filter=phrase)
    with pytest.raises(ValueError, match="Only Match queries are supported"):
        scan.to_table()


def test_a_search_is_kept_to_one_of_the_other_kind(dataset):
    """Neither to its own kind, nor is a plain scan kept to any."""
    near = VectorSearchQuery("v", [0.0] * 4)
    cases = [
        ({"filter": MATCH}, "can only be used with full text search or vector search"),
        ({"filter": near}, "can only be used with full text search or vector search"),
        ({"filter": near, "nearest": NEAR}, "can't be used with vector search"),
        ({"filter": MATCH, "full_text_query": MATCH}, "Fts filter can't be used with fts search"),
    ]
    for scan, told in cases:
        with pytest.raises(ValueError, match=told):
            _ids(dataset, **scan)
    assert "k" not in near.inner()


@pytest.mark.oracle
@pytest.mark.parametrize("prefilter", [False, True])
def test_the_oracle_keeps_to_the_same_rows(dataset, prefilter):
    """Of the same table."""
    import lance
    import lance.query

    other = lance.dataset(dataset.uri)
    match = lance.query.MatchQuery("text", "t")
    for theirs, ours in ((match, MATCH), ({**BOTH, "search_filter": match}, BOTH)):
        scan = {"nearest": NEAR, "prefilter": prefilter}
        assert _ids(other, filter=theirs, **scan) == _ids(dataset, filter=ours, **scan)

"""Text search."""

from __future__ import annotations

import lanceref
import pyarrow as pa
import pytest
from lanceref.errors import NotYet, QueryRefused
from lanceref.query import (
    BooleanQuery,
    BoostQuery,
    CombinedFieldsQuery,
    DocumentGranularity,
    FullTextOperator,
    MatchQuery,
    MultiMatchQuery,
    Occur,
    PhraseQuery,
)
from lanceref.query.text_search import TextSearch

TABLE = pa.table(
    {
        "s": ["red fox", "red red dog", "fox dog", "cow"],
        "t": ["cow", "red", None, "dog"],
        "l": [["red fox", "cow"], ["fox"], [], None],
    }
)
ROW, ELEMENT = DocumentGranularity


@pytest.fixture
def dataset(tmp_path):
    """A table with an index over each column."""
    found = lanceref.write_dataset(TABLE, tmp_path / "t")
    for column in "st":
        found.create_scalar_index(column, "INVERTED", with_position=True)
    found.create_scalar_index("l", "INVERTED", document_granularity=ELEMENT)
    return found


def found(dataset, query) -> dict[int, float]:
    """Return rows, or rows and elements, and scores."""
    search = TextSearch(dataset._snapshot, query)
    hits = search.hits()
    places = hits.places.tolist()
    keys = [(one >> 32, one & 0xFFFF) if search.list_elements else one >> 32 for one in places]
    return dict(zip(keys, hits.scores.tolist(), strict=True))


def test_matches(dataset):
    """Any word, every word, the boost, and edits."""
    red, both = MatchQuery("red", "s"), "red dog"
    assert {0, 1} == found(dataset, red).keys()
    assert {0, 1, 2} == found(dataset, MatchQuery(both, "s")).keys()
    every = MatchQuery(both, "s", operator=FullTextOperator.AND)
    assert {1} == found(dataset, every).keys()
    single = found(dataset, red)
    boosted = found(dataset, MatchQuery("red", "s", boost=2))
    assert {row: pytest.approx(2 * score) for row, score in single.items()} == boosted
    assert {0, 2} == found(dataset, MatchQuery("fix", "s", fuzziness=1)).keys()
    assert {} == found(dataset, MatchQuery("fix", "s", fuzziness=1, prefix_length=2))
    assert {2, 1} == found(
        dataset, MatchQuery("dog fox", "s", fuzziness=1, max_expansions=1)
    ).keys()


def test_joined_queries(dataset):
    """What each part finds is joined, and so are the scores."""
    red, dog = found(dataset, MatchQuery("red", "s")), found(dataset, MatchQuery("dog", "s"))
    one, other = MatchQuery("red", "s"), MatchQuery("dog", "s")
    assert {1: pytest.approx(red[1] + dog[1])} == found(dataset, one & other)
    assert {0, 1, 2} == found(dataset, one | other).keys()
    less = BooleanQuery([(Occur.MUST, one), (Occur.MUST_NOT, other)])
    assert {0: red[0]} == found(dataset, less)
    boost = found(dataset, BoostQuery(one, other, negative_boost=0.5))
    assert {0: red[0], 1: pytest.approx(red[1] - 0.5 * dog[1])} == boost
    best = found(dataset, MultiMatchQuery("red", ["s", "t"]))
    assert {
        0: red[0],
        1: pytest.approx(max(red[1], found(dataset, MatchQuery("red", "t"))[1])),
    } == best


def test_combined_columns_are_one(dataset):
    """A word of each column makes a row a match of every word."""
    every = CombinedFieldsQuery("fox cow", ["s", "t"], operator=FullTextOperator.AND)
    assert {0} == found(dataset, every).keys()
    with pytest.raises(NotYet):
        found(dataset, CombinedFieldsQuery("fox", ["s", "l"]))


def test_elements_are_documents(dataset):
    """Each is found by itself, and they are not mixed with rows."""
    assert {(0, 0), (1, 0)} == found(dataset, MatchQuery("fox", "l")).keys()
    with pytest.raises(QueryRefused, match="mix"):
        found(dataset, MatchQuery("fox", "l") & MatchQuery("fox", "s"))


def test_phrases_need_positions(dataset):
    """An index without them cannot answer."""
    assert {0} == found(dataset, PhraseQuery("red fox", "s")).keys()
    with pytest.raises(QueryRefused, match="position"):
        found(dataset, PhraseQuery("red fox", "l"))

"""Full-text queries: arguments."""

from __future__ import annotations

import pytest
from lanceref.core.errors import QueryRefused
from lanceref.search.full_text import leaves
from pylanceref.query import (
    BooleanQuery,
    BoostQuery,
    CombinedFieldsQuery,
    FullTextQueryType,
    MatchQuery,
    MultiMatchQuery,
    Occur,
    PhraseQuery,
)

A, B = MatchQuery("a", "s"), PhraseQuery("b", "t")


def test_kinds():
    """Each class has its own, and queries are joined by signs."""
    made = [A, B, BoostQuery(A, B), MultiMatchQuery("a", ["s"]), CombinedFieldsQuery("a", ["s"])]
    assert [*FullTextQueryType][:5] == [one.query_type() for one in made]
    assert [(Occur.MUST, A), (Occur.MUST, B)] == (A & B).queries
    assert [(Occur.SHOULD, A), (Occur.SHOULD, B)] == (A | B).queries
    assert FullTextQueryType.BOOLEAN is (A | B).query_type()


def test_leaves():
    """The queries of columns that a query is made of."""
    assert [A, B] == leaves(BoostQuery(A, B))
    assert [A, B, A] == leaves((A | B) & A)
    assert ["s", "t"] == [one.column for one in leaves(MultiMatchQuery("a", ["s", "t"]))]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: MatchQuery(3, "s"), TypeError),
        (lambda: MatchQuery("a", "s", operator="AND"), AttributeError),
        (lambda: MatchQuery("a", "s", fuzziness=-1), OverflowError),
        (lambda: MatchQuery("a", "s", max_expansions=-1), OverflowError),
        (lambda: PhraseQuery("a", "s", slop=-1), OverflowError),
        (lambda: BoostQuery(A, B, negative_boost="x"), TypeError),
        (lambda: MultiMatchQuery("a", []), ValueError),
        (lambda: MultiMatchQuery("a", ["s"], boosts=[1.0, 2.0]), ValueError),
        (lambda: CombinedFieldsQuery("a", []), ValueError),
        (lambda: CombinedFieldsQuery("a", ["s"], boosts=[0.5]), ValueError),
        (lambda: BooleanQuery([("MUST", A)]), AttributeError),
        (lambda: leaves(BooleanQuery([])), QueryRefused),
        (lambda: leaves(BooleanQuery([(Occur.MUST_NOT, A)])), QueryRefused),
        (lambda: leaves(MatchQuery("a", "s", boost=-1)), QueryRefused),
    ],
)
def test_wrong_arguments_are_refused(make, error):
    """With the classes that pylance has."""
    with pytest.raises(error):
        make()

"""Subjects."""

from __future__ import annotations

from collections import Counter

from lance_conformance.campaigns.answers.subjects import named, subjects


def test_every_kind_of_index_that_filters_ask_is_there():
    """With every type of values it is for, each by a name of its own."""
    every = list(subjects())
    assert len({one.name for one in every}) == len(every)
    kinds = Counter(one.kind for one in every)
    assert kinds.keys() == {
        "btree", "bitmap", "zonemap", "bloomfilter", "labellist", "ngram", "fm", "json", "rtree",
    }  # fmt: skip
    assert kinds["btree"] == 2 * kinds["bitmap"] == 2 * kinds["zonemap"] > 60
    assert all(named(one.name).column.type == one.column.type for one in every)

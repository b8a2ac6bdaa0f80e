"""Text matching."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import QueryRefused
from lanceref.search.text_matching import follows
from pylanceref.query import FullTextOperator, MatchQuery, PhraseQuery


def asked(text: str, phrase: str, slop: int = 0) -> bool:
    """Return whether a text of letters has a phrase of letters."""
    positions = [
        np.array([at for at, own in enumerate(text) if own == one], np.uint32) for one in phrase
    ]
    return all(map(len, positions)) and follows(positions, [1] * (len(phrase) - 1), slop)


@pytest.mark.parametrize(
    ("text", "phrase", "slop", "wanted"),
    [
        ("ab", "ab", 0, True),
        ("axb", "ab", 0, False),
        ("axb", "ab", 1, True),
        ("ba", "ab", 3, False),
        ("aba", "aba", 1, True),
        ("abxab", "abb", 2, True),
        ("abxab", "abb", 1, False),
        ("aab", "aab", 0, True),
        ("axxbxc", "abc", 1, False),
    ],
)
def test_worked_phrases(text, phrase, slop, wanted):
    """In order, each at most `slop` late; the third from last is D.index.fts-slop."""
    assert wanted is asked(text, phrase, slop)


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


def test_a_token_counts_once_at_a_place(tmp_path):
    """`and ` is twice among the n-grams of one text; `fox` is at two places of another."""
    own = table(tmp_path, ["and so", "zzzz"], base_tokenizer="ngram", min_ngram_length=4,
                max_ngram_length=4)  # fmt: skip
    scores = [
        own.to_table(full_text_query=MatchQuery(text, "s"))["_score"].to_pylist()
        for text in ("and ", "and and ")
    ]
    assert scores[0] == scores[1]
    other = table(tmp_path / "o", ["fox", "dog"])
    once, twice = (
        other.to_table(full_text_query=MatchQuery(text, "s"))["_score"][0].as_py()
        for text in ("fox", "fox fox")
    )
    assert 2 * once == pytest.approx(twice)


def test_every_repeat_counts_in_rows_that_are_read(tmp_path):
    """The n-gram `and ` gives its score once from the index, and here as often as it is asked."""
    dataset = table(tmp_path, ["and so", "zzzz"], base_tokenizer="ngram", min_ngram_length=4,
                    max_ngram_length=4)  # fmt: skip
    dataset.insert(pa.table({"s": ["and me"], "i": [2]}))
    once, twice = (
        {
            row["i"]: row["_score"]
            for row in dataset.to_table(full_text_query=query, columns=["i"]).to_pylist()
        }
        for query in (MatchQuery("and ", "s"), MatchQuery("and and ", "s"))
    )
    assert twice == {0: once[0], 2: pytest.approx(2 * once[2])}


def test_phrases_need_every_form_in_rows_that_are_read(tmp_path):
    """The whole identifier and its parts, all n-grams; the index takes any form at a place."""
    texts = ["getUserName", "get user name"]
    code = table(tmp_path, texts, base_tokenizer="code", split_identifiers=True, with_position=True)
    code.insert(pa.table({"s": [*texts, "x getUserName"], "i": [2, 3, 4]}))
    assert [0, 1, 2, 4] == found(code, PhraseQuery("getUserName", "s"))
    assert [0, 1, 2, 3, 4] == found(code, PhraseQuery("user name", "s"))
    ngrams = table(
        tmp_path / "n", ["abcd", "bcd", "zzz"], base_tokenizer="ngram", with_position=True
    )
    ngrams.insert(pa.table({"s": ["abcd", "bcd"], "i": [3, 4]}))
    assert [0, 1, 3] == found(ngrams, PhraseQuery("abcd", "s"))


@pytest.mark.parametrize("text", ["fox", "zzz", ""])
def test_phrases_need_positions(tmp_path, text):
    """Even of one word, or of none."""
    dataset = table(tmp_path, ["red fox"])
    with pytest.raises(QueryRefused, match="position is not found"):
        found(dataset, PhraseQuery(text, "s"))


def test_the_path_of_a_triple_is_never_nearly(tmp_path):
    """Edits count in the value, and so does the length of the beginning."""
    documents = ['{"a":"fox"}', '{"b":"fox"}', '{"a":"fix"}', '{"a":"box"}', '{"a":"fo"}']
    dataset = table(tmp_path, pa.array(documents, pa.json_()))
    near = MatchQuery("a,str,fox", "s", fuzziness=1)
    assert [0, 2, 3, 4] == found(dataset, near)
    near = MatchQuery("a,str,fox", "s", fuzziness=1, prefix_length=1)
    assert [0, 2, 4] == found(dataset, near)


def test_the_first_near_words_are_those_of_all_segments(tmp_path):
    """`fob` comes before `foy`, which another segment has."""
    dataset = table(tmp_path, ["foy", "foz"])
    dataset.insert(pa.table({"s": ["fob", "foy"], "i": [2, 3]}))
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    every = [
        found(dataset, MatchQuery("fo", "s", fuzziness=1, max_expansions=most)) for most in range(4)
    ]
    assert [[], [2], [0, 2, 3], [0, 1, 2, 3]] == every


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

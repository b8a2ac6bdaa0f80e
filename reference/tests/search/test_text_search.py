"""Text search."""

from __future__ import annotations

from importlib import import_module

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotYet, QueryRefused
from lanceref.search.text_search import TextSearch
from pylanceref.query import (
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
    found = pylanceref.write_dataset(TABLE, tmp_path / "t")
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


def answers(lance, path, make, **scan) -> list[dict[int, float]]:
    """Return rows and scores that the oracle finds, then those of the reference."""
    every = []
    for module in (lance, pylanceref):
        query = make(import_module(f"{module.__name__}.query"))
        rows = module.dataset(path).to_table(full_text_query=query, columns=["i", "_score"], **scan)
        every.append(dict(zip(rows["i"].to_pylist(), rows["_score"].to_pylist(), strict=True)))
    return every


def grown(path, first, more, **parameters) -> str:
    """A table with an index over some texts, and further rows that it does not cover."""
    dataset = pylanceref.write_dataset(pa.table({"i": range(len(first)), "s": first}), path)
    dataset.create_scalar_index("s", "INVERTED", **parameters)
    dataset.insert(pa.table({"i": range(100, 100 + len(more)), "s": more}))
    return str(path)


CODE = {"base_tokenizer": "code", "split_identifiers": True, "with_position": True}
NGRAM = {"base_tokenizer": "ngram", "with_position": True}
WORDS = pa.array(["getUserName", "get user name", "user user", "rururu ru", ""])
LISTS = pa.array([["runs", "dog"], ["dog"], [None, "", "dog"], ["dog", ""], []])
NO_LISTS = pa.array([None], LISTS.type)


@pytest.mark.oracle
@pytest.mark.parametrize("text", ["getUserName", "user name", "ruruname", "dog", "runs dog", ""])
@pytest.mark.parametrize("parameters", [CODE, NGRAM, {"base_tokenizer": "raw"}])
@pytest.mark.parametrize("values", [WORDS, LISTS])
def test_rows_that_no_index_covers_are_found_as_the_oracle_does(tmp_path, text, parameters, values):
    """With repeats, forms at one place and joined lists; alone, with others and within a limit."""
    import lance

    more = pa.concat_arrays([values, NO_LISTS]) if values is LISTS else values
    path = grown(tmp_path / "t", values, more, **parameters)
    for kind in ("MatchQuery", "PhraseQuery"):
        if kind == "PhraseQuery" and "with_position" not in parameters:
            continue
        for scan in ({}, {"limit": 20}, {"filter": "i % 2 = 0", "prefilter": True}):
            wanted, own = answers(
                lance, path, lambda names, k=kind: getattr(names, k)(text, "s"), **scan
            )
            assert wanted == pytest.approx(own)
    wanted, own = answers(lance, path, lambda names: names.CombinedFieldsQuery(text, ["s"]))
    assert wanted == pytest.approx(own)


@pytest.mark.oracle
def test_the_oracle_finds_texts_that_were_replaced(tmp_path):
    """The row keeps its id, and the older of two segments has its old text for it."""
    import lance

    path = str(tmp_path / "t")
    table = pa.table({"i": range(4), "s": ["cat", "dog", "cat", "fox"]})
    lance.write_dataset(table, path, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("s", "INVERTED")
    lance.dataset(path).update({"s": "'bird'"}, "i = 2")
    wanted, own = answers(lance, path, lambda names: names.MatchQuery("cat", "s"))
    assert {0} == wanted.keys() == own.keys()
    lance.dataset(path).optimize.optimize_indices(num_indices_to_merge=0)
    wanted, own = answers(lance, path, lambda names: names.MatchQuery("cat", "s"))
    assert ({0, 2}, {0}) == (wanted.keys(), own.keys())
    wanted, own = answers(lance, path, lambda names: names.MatchQuery("bird cat", "s"))
    assert wanted[0] == own[0]
    assert wanted[2] < own[2]


@pytest.mark.oracle
def test_the_oracle_counts_texts_that_a_compaction_dropped(tmp_path):
    """The best document is gone, and takes a place; without a limit all others come."""
    import lance

    path = str(tmp_path / "t")
    table = pa.table({"i": range(4), "s": ["cat cat", "dog", "cat", "fox cat"]})
    lance.write_dataset(table, path, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("s", "INVERTED")
    lance.dataset(path).delete("i = 0")

    def asked(names):
        return names.MatchQuery("cat", "s")

    assert {2} == answers(lance, path, asked, limit=1)[0].keys()
    lance.dataset(path).optimize.compact_files()
    wanted, own = answers(lance, path, asked, limit=1)
    assert (set(), {2}) == (wanted.keys(), own.keys())
    wanted, own = answers(lance, path, asked)
    assert {2, 3} == wanted.keys() == own.keys()


@pytest.mark.oracle
def test_the_oracle_takes_null_for_a_text_within_a_limit(tmp_path):
    """Only of rows that no index covers, in queries that are made of others."""
    import lance

    path = grown(tmp_path / "t", ["a", "b"], ["a", "", None], base_tokenizer="raw", stem=False)

    def asked(names):
        return names.MultiMatchQuery("", ["s"])

    wanted, own = answers(lance, path, asked)
    assert {101} == wanted.keys() == own.keys()
    wanted, own = answers(lance, path, asked, limit=5)
    assert ({101, 102}, {101}) == (wanted.keys(), own.keys())
    wanted, own = answers(lance, path, lambda names: names.MatchQuery("", "s"), limit=5)
    assert {101} == wanted.keys() == own.keys()


@pytest.mark.oracle
def test_the_oracle_cannot_find_elements_nearly(tmp_path):
    """Where rows are read beside the index, and a word of it is near one that is asked for."""
    import lance

    granularity = {"document_granularity": ELEMENT}
    path = grown(tmp_path / "t", [["fox"], ["dog"]], [["fix"], ["fax"]], **granularity)
    with pytest.raises(ValueError, match="missing compound FTS token 'fox'"):
        answers(lance, path, lambda names: names.MatchQuery("fax", "s", fuzziness=1))
    near = MatchQuery("fax", "s", fuzziness=1)
    rows = pylanceref.dataset(path).to_table(full_text_query=near, columns=["i"])
    assert [0, 101] == sorted(rows["i"].to_pylist())
    scan = {"fast_search": True}
    wanted, own = answers(
        lance, path, lambda names: names.MatchQuery("fax", "s", fuzziness=1), **scan
    )
    assert {0} == wanted.keys() == own.keys()


@pytest.mark.oracle
def test_a_committed_segment_has_no_staged_files(tmp_path):
    """The oracle copies what the folder of a segment holds: it could not clone the table deeply."""
    import lance

    uri = str(tmp_path / "t")
    made = pylanceref.write_dataset(pa.table({"s": ["a b", "c d"]}), uri, max_rows_per_file=1)
    parts = [
        made.create_index_uncommitted("s", "INVERTED", fragment_ids=[part]) for part in range(2)
    ]
    made.commit_existing_index_segments("s_idx", "s", parts)

    assert [] == list((tmp_path / "t" / "_indices").glob("*/staging/*"))
    assert ["c d"] == made.to_table(full_text_query="c")["s"].to_pylist()
    theirs = lance.dataset(uri)
    assert 2 == theirs.deep_clone(str(tmp_path / "clone"), theirs.version).count_rows()

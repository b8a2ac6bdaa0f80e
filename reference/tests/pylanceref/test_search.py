"""Searches in scans, for the nearest vectors and for texts: requests, and what is returned."""

from itertools import product

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.query import DocumentGranularity, MatchQuery
from tests.index.vector.indexed import fixed


@pytest.fixture
def line(tmp_path):
    """Points of a line."""
    vectors = pa.array([[2], [0], [1], [3]], pa.list_(pa.float32(), 1))
    table = pa.table({"i": range(4), "v": vectors})
    return pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=3)


def nearest(line, **scan):
    """Return a search for the points nearest to 0."""
    return line.scanner(nearest={"column": "`v`", "q": [0]}, **scan)


def test_what_is_returned(line):
    """What the search knows of a row can be filtered by and computed with."""
    table = nearest(line, filter="_distance > 1", columns={"d": "_distance + 1"}).to_table()
    assert [5, 10] == table["d"].to_pylist()
    assert ["d", "_distance"] == table.schema.names
    alone = nearest(line, columns=["i"], disable_scoring_autoprojection=True)
    assert ["i"] == alone.to_table().schema.names
    assert nearest(line).projected_schema == nearest(line).to_table().schema


ROWS = 60
VALUES = np.random.default_rng(0).normal(size=(ROWS, 8)).astype(np.float32)


def written(root):
    """Write vectors of every type, in fragments, some rows without and one deleted."""
    holes = VALUES.tolist()
    holes[3], holes[5], holes[6] = None, [float("nan")] * 8, [0.0] * 8
    several = [[VALUES[n].tolist(), VALUES[n - 1].tolist()] for n in range(ROWS)]
    several[4], several[7] = [], None
    table = pa.table(
        {
            "i": range(ROWS),
            "f": fixed(VALUES),
            "h": fixed(VALUES.astype(np.float16)),
            "d": fixed(VALUES.astype(np.float64)),
            "u": fixed((VALUES * 50 + 100).clip(0, 255).astype(np.uint8)),
            "w": pa.array(holes, pa.list_(pa.float32(), 8)),
            "m": pa.array(several, pa.list_(pa.list_(pa.float32(), 8))),
            "s": pa.StructArray.from_arrays([fixed(VALUES)], ["v"]),
        }
    )
    found = pylanceref.write_dataset(table, root / "t", max_rows_per_file=25)
    found.delete("i = 2")
    return found


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """The table of vectors, which no test changes."""
    return written(tmp_path_factory.mktemp("vectors"))


def test_what_has_no_answer(vectors):
    """Some fragments only, and rows that are deleted, are not searched."""
    asked = {"column": "f", "q": VALUES[0]}
    with pytest.raises(QueryRefused):
        vectors.scanner(nearest=asked, fragments=vectors.get_fragments()[:1])
    with pytest.raises(QueryRefused):
        vectors.scanner(nearest=asked, include_deleted_rows=True, with_row_id=True)
    with pytest.raises(QueryRefused):
        vectors.scanner(nearest=asked, filter="_distance < 1", prefilter=True)


def test_a_plan_says_what_is_done(vectors):
    """What is looked at, and what is asked before and after."""
    asked = {"column": "f", "q": VALUES[0], "k": 3}
    plan = vectors.scanner(nearest=asked, filter="i > 3", limit=1).explain_plan()
    assert ["Projection", "Limit", "Filter", "Sort", "KNNVectorDistance", "LanceRead"] == [
        line.strip().partition(":")[0] for line in plan.splitlines()
    ]
    before = vectors.scanner(nearest=asked, filter="i > 3", prefilter=True, order_by=["i"])
    *_, asked_of, read = before.explain_plan().splitlines()
    assert "Filter: columns=[i]" == asked_of.strip()
    assert "LanceRead: projection=[i], num_fragments=3" == read.strip()


def test_a_plan_says_how_an_index_is_asked(tmp_path):
    """The metric by its name, and how many partitions are looked at."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(64, dtype=np.float32)), 4)
    made = pylanceref.write_dataset(pa.table({"v": vectors}), tmp_path)
    made = made.create_index("v", "IVF_FLAT", num_partitions=2, metric="cosine")
    for asked, least, most in (
        ({}, 1, "None"),
        ({"nprobes": 2}, 2, "Some(2)"),
        ({"minimum_nprobes": 2}, 2, "None"),
        ({"maximum_nprobes": 3}, 1, "Some(3)"),
    ):
        scanner = made.scanner(nearest={"column": "v", "q": [1.0] * 4, "k": 3, **asked})
        plan = scanner.explain_plan()
        assert "ANNSubIndex: name=v_idx, k=3, metric=Cosine" in plan
        assert f"minimum_nprobes={least}, maximum_nprobes={most}" in plan
        assert "output_rows=3" in scanner.analyze_plan()


@pytest.mark.parametrize("index", [False, True])
def test_fragments_are_searched_when_the_filter_comes_first(tmp_path, index):
    """Only rows of theirs, indexed or not; without a filter before it is refused."""
    vectors = written(tmp_path)
    if index:
        vectors.create_index("f", index_type="IVF_FLAT", num_partitions=2)
        vectors.insert(vectors.to_table().slice(0, 5))
    chosen = vectors.get_fragments()[1:2]
    asked = {"column": "f", "q": VALUES[0], "k": 40, "nprobes": 2}
    scan = {"columns": ["i"], "nearest": asked, "fragments": chosen}
    found = vectors.scanner(**scan, prefilter=True).to_table()["i"].to_pylist()
    fewer = vectors.scanner(**scan, prefilter=True, filter="i < 30").to_table()["i"].to_pylist()

    assert set(chosen[0].to_table(["i"])["i"].to_pylist()) == set(found)
    assert [one for one in found if one < 30] == fewer
    exact = ((VALUES[found] - VALUES[0]) ** 2).sum(1)
    assert np.array_equal(np.sort(exact), exact)
    with pytest.raises(QueryRefused, match="fragment scan"):
        vectors.scanner(**scan)
    if index:
        last = vectors.get_fragments()[-1:]
        found = vectors.scanner(**{**scan, "fragments": last}, prefilter=True).to_table()
        assert {0, 1, 3, 4, 5} == set(found["i"].to_pylist())


TABLE = pa.table(
    {
        "s": ["red fox", "red red red dog", "fox dog", "cow red red"],
        "i": range(4),
        "l": [["a red"], ["cow", "red cow"], None, []],
    }
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A table of two fragments with an index, which no test changes."""
    path = tmp_path_factory.mktemp("texts") / "t"
    found = pylanceref.write_dataset(TABLE, path, max_rows_per_file=2)
    found.create_scalar_index("s", "INVERTED")
    return found


def rows(dataset, **scan) -> list[int]:
    """Return the rows that are found for a word, in their order."""
    return dataset.to_table(full_text_query="red", **scan)["i"].to_pylist()


def test_the_best_come_first(dataset):
    """With limit and offset, an order, in batches of any size, and by fragment."""
    assert [1, 3, 0] == rows(dataset)
    assert [1, 3] == rows(dataset, limit=2)
    assert [3] == rows(dataset, limit=1, offset=1)
    assert [1, 3] == rows(dataset, order_by=["i"], offset=1)
    batches = dataset.to_batches(full_text_query="red", batch_size=2)
    assert [2, 1] == [batch.num_rows for batch in batches]
    scanner = dataset.scanner(full_text_query="red", fragments=dataset.get_fragments()[1:])
    assert [3] == scanner.to_table()["i"].to_pylist()
    assert 3 == dataset.scanner(full_text_query="red").count_rows()
    assert [1] == dataset.scanner(full_text_query="red", limit=1).to_table()["i"].to_pylist()


def test_columns(dataset):
    """The score is added unless it is not wanted, and can be computed with."""

    def names(**scan):
        return dataset.scanner(full_text_query="red", **scan).to_table().schema.names

    assert ["s", "i", "l", "_score"] == names()
    assert ["i", "_score", "_rowid"] == names(columns=["i"], with_row_id=True)
    assert ["_score", "i"] == names(columns=["_score", "i"])
    assert ["_score"] == names(columns=[])
    assert ["i"] == names(columns=["i"], disable_scoring_autoprojection=True)
    table = dataset.to_table(full_text_query="red", columns={"j": "i + 1", "d": "_score * 2"})
    assert ["j", "d", "_score"] == table.schema.names
    doubled = [2 * one for one in table["_score"].to_pylist()]
    assert pytest.approx(doubled) == table["d"].to_pylist()


def test_filters_before_and_after(dataset):
    """After: the limit is of all rows that were found; before: of those that pass."""
    assert [3, 0] == rows(dataset, filter="i != 1")
    assert [] == rows(dataset, filter="i != 1", limit=1)
    assert [3] == rows(dataset, filter="i != 1", limit=1, prefilter=True)
    best = dataset.to_table(full_text_query="red")["_score"][0].as_py()
    assert [1] == rows(dataset, filter=f"_score > {best - 0.001}")


def test_ways_to_ask(dataset, tmp_path):
    """Text, a query, or words and columns; something else is no search."""
    assert [1, 3, 0] == rows(dataset)
    for given in ({"query": "red"}, {"query": "red", "columns": ["`S`"]}, MatchQuery("red", "s")):
        assert [1, 3, 0] == dataset.to_table(full_text_query=given)["i"].to_pylist()
    assert TABLE.schema.names == dataset.to_table(full_text_query=5).schema.names
    with pytest.raises(TypeError):
        dataset.to_table(full_text_query={"columns": ["s"]})
    plain = pylanceref.write_dataset(TABLE, tmp_path / "plain")
    with pytest.raises(QueryRefused, match="INVERTED"):
        plain.to_table(full_text_query="red")
    assert [1, 3, 0] == plain.to_table(full_text_query=MatchQuery("red", "`S`"))["i"].to_pylist()


@pytest.mark.parametrize(("column", "levels"), [("l", 1), ("n.t", 1), ("n.l", 2)])
def test_elements_have_a_column(tmp_path, column, levels, monkeypatch):
    """It says which element was found, a list or its structs being in the list."""
    nested = [one and [{"t": text, "l": one} for text in one[:2]] for one in TABLE["l"].to_pylist()]
    table = TABLE.append_column("n", pa.array(nested))
    dataset = pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=2)
    dataset.create_scalar_index("s", "INVERTED")
    element = {"document_granularity": DocumentGranularity.LIST_ELEMENT}
    dataset.create_scalar_index(column, "INVERTED", **element)
    found = dataset.to_table(full_text_query=MatchQuery("cow", column), columns=["i"])
    assert ["i", "_doc_index", "_score"] == found.schema.names
    assert [1] * 2**levels == found["i"].to_pylist()
    assert [*map(list, product([0, 1], repeat=levels))] == sorted(found["_doc_index"].to_pylist())
    assert [1, 3, 0] == rows(dataset)
    monkeypatch.setattr("lanceref.search.text_column.ELEMENT_BITS", 0)
    with pytest.raises(QueryRefused, match="more than 1 elements"):
        dataset.to_table(full_text_query=MatchQuery("cow", column))


@pytest.mark.parametrize("gone", ["i < 0", "i % 3 > 0", "n > 1", "i >= 0"])
def test_the_best_of_many_are_the_first_of_all(tmp_path, gone):
    """Where documents score alike, and where most of the best ones have been deleted."""
    many = pa.table(
        {"s": ["red " * (1 + i % 5) + "fox" for i in range(300)], "i": range(300)}
    ).append_column("n", pa.array([1 + i % 5 for i in range(300)]))
    dataset = pylanceref.write_dataset(many, tmp_path / "t", max_rows_per_file=128)
    dataset.create_scalar_index("s", "INVERTED")
    dataset.delete(gone)
    all_rows = rows(dataset)

    assert len(all_rows) == dataset.count_rows()
    for limit in (0, 1, 7, 300):
        assert all_rows[:limit] == rows(dataset, limit=limit)
    assert all_rows[2:5] == rows(dataset, limit=3, offset=2)


FOXES = pa.table({"s": ["was a fox", "fox a was"], "l": [["fox"], ["dog", "fox"]], "i": [0, 1]})


def indexed(root, *columns, **parameters):
    """Two rows with indices over columns."""
    dataset = pylanceref.write_dataset(FOXES, root / "t")
    parameters |= {"with_position": True, "remove_stop_words": False}
    for column in columns:
        dataset.create_scalar_index(column, "INVERTED", **parameters)
    return dataset


def found(dataset, given):
    """Numbers of the rows."""
    return sorted(dataset.to_table(full_text_query=given, columns=["i"])["i"].to_pylist())


@pytest.fixture(scope="module")
def phrases(tmp_path_factory):
    """The two rows with an index of positions over the texts."""
    return indexed(tmp_path_factory.mktemp("phrases"), "s")


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
def test_quotes_make_a_phrase(phrases, given, rows):
    """Where they are around all words of a text."""
    assert rows == found(phrases, given)


def test_a_phrase_has_one_column(tmp_path):
    """Whether they are given or those with an index."""
    dataset = indexed(tmp_path, "s", "l")
    with pytest.raises(QueryRefused, match="column must be specified"):
        found(dataset, '"was a fox"')
    with pytest.raises(QueryRefused, match="multiple columns"):
        found(dataset, {"query": '"a fox"', "columns": ["s", "l"]})
    assert [1] == found(dataset, "dog")

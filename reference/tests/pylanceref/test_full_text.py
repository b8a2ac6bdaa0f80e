"""Full-text searches: requests, and what a scan returns."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.query import DocumentGranularity, MatchQuery

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
    assert [0, 1, 3] == rows(dataset, order_by=["i"])
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
    for given in ({"query": "red"}, {"query": "red", "columns": ["s"]}, MatchQuery("red", "s")):
        assert [1, 3, 0] == dataset.to_table(full_text_query=given)["i"].to_pylist()
    assert TABLE.schema.names == dataset.to_table(full_text_query=5).schema.names
    with pytest.raises(TypeError):
        dataset.to_table(full_text_query={"columns": ["s"]})
    plain = pylanceref.write_dataset(TABLE, tmp_path / "plain")
    with pytest.raises(QueryRefused, match="INVERTED"):
        plain.to_table(full_text_query="red")
    assert [1, 3, 0] == plain.to_table(full_text_query=MatchQuery("red", "s"))["i"].to_pylist()


def test_elements_have_a_column(tmp_path):
    """It says which element was found."""
    dataset = pylanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=2)
    dataset.create_scalar_index("s", "INVERTED")
    dataset.create_scalar_index(
        "l", "INVERTED", document_granularity=DocumentGranularity.LIST_ELEMENT
    )
    found = dataset.to_table(full_text_query=MatchQuery("cow", "l"), columns=["i"])
    assert ["i", "_doc_index", "_score"] == found.schema.names
    assert [(1, [0]), (1, [1])] == sorted(
        zip(found["i"].to_pylist(), found["_doc_index"].to_pylist(), strict=True)
    )
    assert [1, 3, 0] == rows(dataset)


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
    for column in columns:
        dataset.create_scalar_index(
            column, "INVERTED", with_position=True, remove_stop_words=False, **parameters
        )
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

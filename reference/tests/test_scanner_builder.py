"""Scans described step by step, by hand and against the oracle's names."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.search.minhash_search import MinHashQuery
from pylanceref.dataset import ColumnOrdering, ScannerBuilder

from .sql.written import write


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Two fragments."""
    table = pa.table({"i": range(6), "s": list("abcdef")})
    return write(table, tmp_path_factory.mktemp("builder"), max_rows_per_file=3)


def test_all_steps_together(dataset):
    """Are one scan."""
    builder = (
        ScannerBuilder(dataset)
        .columns(["s"])
        .filter("i > 0")
        .limit(3)
        .offset(1)
        .with_row_id()
        .with_row_address()
        .batch_size(2)
        .order_by([ColumnOrdering("i", ascending=False)])
        .with_fragments(dataset.get_fragments())
        .late_materialization(True)
        .use_stats(False)
        .scan_in_order(True)
        .prefilter(True)
        .use_scalar_index(False)
        .fast_search(False)
        .io_buffer_size(1)
        .batch_readahead(1)
        .fragment_readahead(1)
        .blob_handling(None)
        .strict_batch_size(False)
        .include_deleted_rows(False)
    )
    table = builder.to_scanner().to_table()

    assert ["e", "d", "c"] == table["s"].to_pylist()
    assert ["s", "_rowid", "_rowaddr"] == table.column_names
    assert [2, 1] == [batch.num_rows for batch in builder.to_scanner().to_batches()]


def test_defaults_are_steps_by_name(dataset):
    """Unknown ones are refused."""
    builder = ScannerBuilder(dataset).apply_defaults({"limit": 1, "columns": ["i"]})

    assert {"i": [0]} == builder.to_scanner().to_table().to_pydict()
    with pytest.raises(ValueError, match="Unknown option nope"):
        builder.apply_defaults({"nope": 1})


@pytest.mark.parametrize(
    ("step", "value", "kind"),
    [
        ("limit", -1, ValueError),
        ("offset", -1, ValueError),
        ("columns", "i", TypeError),
        ("with_fragments", [1], TypeError),
        ("order_by", ["i"], TypeError),
        ("batch_readahead", 0, ValueError),
        ("fragment_readahead", -1, ValueError),
    ],
)
def test_wrong_values_are_refused_at_once(step, value, kind, dataset):
    """As the classes of pylance."""
    with pytest.raises(kind):
        getattr(ScannerBuilder(dataset), step)(value)


def test_searches_are_refused_in_the_end(dataset):
    """Text without an index is looked for nowhere."""
    with pytest.raises(ValueError, match="INVERTED"):
        ScannerBuilder(dataset).full_text_search("a").to_scanner()


@pytest.fixture
def vectors(tmp_path):
    """One vector of two numbers."""
    rows = pa.FixedSizeListArray.from_arrays(pa.array([0.0, 1.0], pa.float32()), 2)
    return pylanceref.write_dataset(pa.table({"v": rows, "i": [1]}), tmp_path / "v")


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        ({"column": "zz", "q": [0.0, 0.0]}, ValueError, "zz is not in the dataset"),
        ({"column": "i", "q": [0.0, 0.0]}, TypeError, "must be a vector"),
        ({"column": "v", "q": [0.0]}, ValueError, "does not match"),
        ({"column": "v", "q": None}, TypeError, "Query vectors should be an array of floats"),
        ({"column": "v", "q": [0.0, 0.0], "k": 0}, ValueError, "must be > 0 but got 0"),
    ],
)
def test_a_query_that_fits_no_column_is_refused_at_once(vectors, asked, kind, words):
    """Another column, size or number."""
    with pytest.raises(kind, match=words):
        ScannerBuilder(vectors).nearest(**asked)


def test_a_query_by_position(vectors):
    """The number of rows and the metric come after the vector; other names are refused."""
    builder = ScannerBuilder(vectors).nearest("v", [0.0, 0.0], 3, "l2", use_index=False)
    asked = builder._arguments["nearest"]

    assert (3, "l2", False) == (asked["k"], asked["metric"], asked["use_index"])
    assert "nprobes" not in asked
    with pytest.raises(TypeError, match="nprobe"):
        ScannerBuilder(vectors).nearest("v", [0.0, 0.0], nprobe=1)


def test_steps_of_searches_are_arguments(dataset):
    """Similar texts, the statistics callback, and whether scores are added."""
    query = MinHashQuery("s", "text")
    told = []
    builder = (
        ScannerBuilder(dataset)
        .minhash_search(query)
        .scan_stats_callback(told.append)
        .disable_scoring_autoprojection()
        .with_index_segments(None)
    )

    assert builder._arguments == {
        "nearest": query,
        "scan_stats_callback": told.append,
        "disable_scoring_autoprojection": True,
        "index_segments": None,
    }
    with pytest.raises(TypeError, match="expects a MinHashQuery, got str"):
        ScannerBuilder(dataset).minhash_search("text")

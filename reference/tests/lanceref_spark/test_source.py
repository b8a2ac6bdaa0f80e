"""Data source: a data frame has the rows of the table."""

import pyarrow as pa
import pylanceref
import pytest
from pyspark.errors import AnalysisException

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path):
    """100 rows in four fragments; every tenth row is deleted."""
    rows = pa.table(
        {
            "a": pa.array(range(100), pa.int64()),
            "u": pa.array([None if i % 7 == 0 else i for i in range(100)], pa.uint64()),
            "s": pa.array([str(i) for i in range(100)], pa.large_string()),
            "v": pa.array([[i, -i] for i in range(100)], pa.list_(pa.float32(), 2)),
        }
    )
    made = pylanceref.write_dataset(rows, str(tmp_path / "t.lance"), max_rows_per_file=30)
    made.delete("a % 10 = 3")
    return made


def load(spark, table, **options):
    return spark.read.format("lance_reference").options(**options).load(table.uri)


def rows_of(frame):
    return [row.asDict() for row in frame.collect()]


def expected(table, **arguments):
    return table.to_table(**arguments).to_pylist()


def test_a_table_is_a_data_frame(spark, table):
    """Without registration: all rows in order, one partition for each fragment."""
    frame = load(spark, table)
    assert rows_of(frame) == expected(table)
    assert frame.rdd.getNumPartitions() == 4
    assert frame.count() == 90


def test_columns_and_filter_are_read_by_the_table(spark, table):
    """By options; filters of Spark apply afterwards, with the same rows."""
    frame = load(spark, table, columns="s,a", filter="a < 20 AND u IS NOT NULL")
    assert frame.columns == ["s", "a"]
    assert rows_of(frame) == expected(table, columns=["s", "a"], filter="a < 20 AND u IS NOT NULL")
    on_top = load(spark, table).filter("a < 20").select("a")
    assert rows_of(on_top) == expected(table, columns=["a"], filter="a < 20")


def test_one_frame_can_be_used_twice(spark, table):
    """A filtered use changes nothing for another use of the same frame."""
    frame = load(spark, table)
    assert [frame.count(), frame.filter("a < 10").count(), frame.count()] == [90, 9, 90]
    assert frame.filter("a < 10").join(frame.select("a"), "a").count() == 9


def test_row_ids_and_addresses_are_columns(spark, table):
    """They follow the other columns, as unsigned 64-bit integers."""
    frame = load(spark, table, columns="a", with_row_id="true", with_row_address="true")
    wanted = table.to_table(columns=["a"], with_row_id=True, with_row_address=True)
    assert frame.columns == ["a", "_rowid", "_rowaddr"]
    assert [int(row._rowaddr) for row in frame.collect()] == wanted["_rowaddr"].to_pylist()


def test_versions_tags_and_branches_can_be_read(spark, table):
    """The given version is read, or the latest one at load."""
    table.tags.create("all", 1)
    line = table.create_branch("line", 1)
    line.delete("a < 99")
    assert load(spark, table, version="1").count() == 100
    assert load(spark, table, tag="all").count() == 100
    assert load(spark, table, branch="line").count() == 1
    frame = load(spark, table)
    before = frame.count()
    table.delete("a < 50")
    assert (before, frame.count(), load(spark, table).count()) == (90, 90, 45)


def test_large_fragments_are_split(spark, table):
    """A fragment of more live rows than `split_rows` is several partitions, with the same rows."""
    frame = load(spark, table, split_rows="10")
    assert frame.rdd.getNumPartitions() == 10
    assert rows_of(frame) == expected(table)


def test_a_table_without_rows_is_an_empty_frame(spark, tmp_path):
    """It has no partition and no row."""
    empty = pylanceref.write_dataset(pa.table({"a": pa.array([], pa.int8())}), str(tmp_path / "e"))
    assert load(spark, empty).collect() == []


def test_errors_are_raised_at_load(spark, table, tmp_path):
    """A missing table, column or path fails before any task, with its name."""
    for path, options, text in (
        (str(tmp_path / "none.lance"), {}, "none.lance"),
        (table.uri, {"columns": "a,zz"}, "zz"),
        (table.uri, {"colums": "a"}, "no such option: colums"),
    ):
        with pytest.raises(AnalysisException, match=text):
            spark.read.format("lance_reference").options(**options).load(path)


def test_damage_reaches_the_user_with_its_clause(spark, table):
    """The error of a task ends with file, offset and clause."""
    (file, *_) = sorted((pathlib_of(table) / "data").iterdir())
    data = bytearray(file.read_bytes())
    data[-4:] = b"LANX"
    file.write_bytes(data)
    with pytest.raises(Exception, match=r"L\.file\.footer\.magic"):
        load(spark, table).collect()


def pathlib_of(table):
    from pathlib import Path

    return Path(table.uri)


@pytest.mark.oracle
def test_both_readers_return_the_same_rows(spark, table):
    """The oracle and the reference read equal rows."""
    ours, theirs = load(spark, table).cache(), load(spark, table, reader="pylance").cache()
    assert ours.schema == theirs.schema
    assert ours.exceptAll(theirs).count() == theirs.exceptAll(ours).count() == 0

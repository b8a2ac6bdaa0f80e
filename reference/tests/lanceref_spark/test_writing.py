"""Writing: one job is one version, whatever becomes of its tasks."""

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest

pytestmark = pytest.mark.spark


def save(frame, uri, mode="append", source="lance_reference", **options):
    frame.write.format(source).mode(mode).options(**options).save(str(uri))
    return pylanceref.dataset(str(uri))


def numbers(spark, stop, parts=4):
    return spark.range(0, stop, 1, parts)


def files_of(uri):
    folder = Path(uri, "data")
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def named_files(dataset):
    fragments = (one for n in dataset.versions() for one in _fragments(dataset, n["version"]))
    return {file.path for fragment in fragments for file in fragment.data_files()}


def _fragments(dataset, version):
    return pylanceref.dataset(dataset.uri, version=version).get_fragments()


def test_a_frame_becomes_a_table(spark, tmp_path):
    """The first save makes version 1, with the rows in the order of the partitions."""
    made = save(numbers(spark, 100), tmp_path / "t")
    assert made.version == 1
    assert made.to_table()["id"].to_pylist() == list(range(100))
    assert len(made.get_fragments()) == 4


def test_append_and_overwrite_are_one_version_each(spark, tmp_path):
    """Rows go after those there are, or in their place; older versions stay."""
    save(numbers(spark, 10), tmp_path / "t")
    assert save(numbers(spark, 10), tmp_path / "t").count_rows() == 20
    made = save(numbers(spark, 3), tmp_path / "t", "overwrite")
    assert (made.version, made.count_rows()) == (3, 3)
    assert pylanceref.dataset(made.uri, version=2).count_rows() == 20


def test_rows_of_a_table_are_written_in_its_types(spark, tmp_path):
    """Through Spark and back, a table has the same schema and rows; so has what it appends to."""
    rows = pa.table(
        {
            "u": pa.array([1, None], pa.uint64()),
            "v": pa.array([[1, 2], None], pa.list_(pa.float16(), 2)),
            "d": pa.array(["x", "y"]).dictionary_encode(),
            "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.uint8())),
        }
    )
    given = pylanceref.write_dataset(rows, str(tmp_path / "a"), data_storage_version="2.2")
    frame = spark.read.format("lance_reference").load(given.uri)
    made = save(frame, tmp_path / "b", data_storage_version="2.2")
    assert made.schema == given.schema
    assert made.to_table().to_pylist() == rows.to_pylist()
    plain = spark.createDataFrame([(5, [1.0, 2.0], "z", {"q": 9})], ["u", "v", "d", "m"])
    assert save(plain, tmp_path / "b").to_table().to_pylist()[-1] == {
        "u": 5,
        "v": [1.0, 2.0],
        "d": "z",
        "m": [("q", 9)],
    }


def test_rows_of_other_columns_are_refused(spark, tmp_path):
    """The refusal comes before a file is written."""
    made = save(numbers(spark, 3), tmp_path / "t")
    before = files_of(made.uri)
    with pytest.raises(Exception, match="has no columns other"):
        save(numbers(spark, 3).withColumnRenamed("id", "other"), tmp_path / "t")
    assert files_of(made.uri) == before


def test_a_frame_without_rows_makes_an_empty_table(spark, tmp_path):
    """The table has the schema, and no data file."""
    made = save(numbers(spark, 0), tmp_path / "t")
    assert (made.count_rows(), made.schema.names, files_of(made.uri)) == (0, ["id"], set())


def test_a_transaction_is_committed_once(spark, tmp_path):
    """A job that is run again under the id of its transaction leaves the table as it is."""
    save(numbers(spark, 3), tmp_path / "t")
    one = save(numbers(spark, 5), tmp_path / "t", transaction_id="0b" * 16)
    frame = numbers(spark, 5)
    from lanceref_spark.options import parse
    from lanceref_spark.writing import aim, commit

    aimed = aim(parse({"path": one.uri, "version": "1"}), frame.schema, False)
    replayed = type(aimed)(aimed.options, 1, aimed.schema, False)
    assert commit(replayed, [], "0b" * 16, {}) == one.version
    assert pylanceref.dataset(one.uri).count_rows() == 8


def test_a_table_that_is_made_meanwhile_is_not_written_over(spark, tmp_path):
    """A job that found no table does not take the place of one that another job made since."""
    from lanceref.core.errors import CommitConflict
    from lanceref_spark.options import parse
    from lanceref_spark.writing import aim, commit

    uri = str(tmp_path / "t")
    aimed = aim(parse({"path": uri}), numbers(spark, 1).schema, False)
    save(numbers(spark, 5), uri)
    with pytest.raises(CommitConflict):
        commit(aimed, [], "0c" * 16, {})
    assert pylanceref.dataset(uri).count_rows() == 5


@pytest.mark.oracle
def test_the_oracle_reads_what_spark_wrote(spark, tmp_path):
    """Rows, schema and version are those that were saved."""
    import lance

    frame = numbers(spark, 1000).selectExpr("id", "cast(id as string) s", "array(id, 1) l")
    made = save(frame, tmp_path / "t")
    theirs = lance.dataset(made.uri)
    assert theirs.to_table().to_pylist() == made.to_table().to_pylist()
    assert theirs.count_rows() == 1000

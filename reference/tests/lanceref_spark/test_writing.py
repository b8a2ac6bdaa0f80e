"""Writing with Spark: one job is one version or none, also with failed tasks."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from lanceref_spark.faulty import FAULTS, FaultySource, journal_errors
from lanceref_spark.streaming import EPOCH, QUERY

pytestmark = pytest.mark.spark


def save(frame, uri, mode="append", source="lance_reference", **options):
    frame.write.format(source).mode(mode).options(**options).save(str(uri))
    return pylanceref.dataset(str(uri))


def numbers(spark, stop, parts=4):
    return spark.range(0, stop, 1, parts)


def files_of(uri):
    folder = Path(uri, "data")
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def test_a_frame_becomes_a_table(spark, tmp_path):
    """The first save makes version 1 with rows in the order of partitions."""
    made = save(numbers(spark, 100), tmp_path / "t")
    assert made.version == 1
    assert made.to_table()["id"].to_pylist() == list(range(100))
    assert len(made.get_fragments()) == 4


def test_append_and_overwrite_are_one_version_each(spark, tmp_path):
    """Append and overwrite commit one version each, and older versions remain."""
    save(numbers(spark, 10), tmp_path / "t")
    assert save(numbers(spark, 10), tmp_path / "t").count_rows() == 20
    made = save(numbers(spark, 3), tmp_path / "t", "overwrite")
    assert (made.version, made.count_rows()) == (3, 3)
    assert pylanceref.dataset(made.uri, version=2).count_rows() == 20


def test_rows_of_a_table_are_written_in_its_types(spark, tmp_path):
    """A table that Spark reads and writes keeps its schema and rows."""
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
    """Other columns are refused before a file is written."""
    made = save(numbers(spark, 3), tmp_path / "t")
    before = files_of(made.uri)
    with pytest.raises(Exception, match="has no columns other"):
        save(numbers(spark, 3).withColumnRenamed("id", "other"), tmp_path / "t")
    assert files_of(made.uri) == before


def test_a_frame_without_rows_makes_an_empty_table(spark, tmp_path):
    """An empty frame makes a table with a schema and no data file."""
    made = save(numbers(spark, 0), tmp_path / "t")
    assert (made.count_rows(), made.schema.names, files_of(made.uri)) == (0, ["id"], set())


def test_a_transaction_is_committed_once(spark, tmp_path):
    """A job that runs again with its id changes nothing, also after other commits."""
    save(numbers(spark, 3), tmp_path / "t")
    one = save(numbers(spark, 5), tmp_path / "t", transaction_id="0b" * 16)
    other = save(numbers(spark, 1), tmp_path / "t")
    again = save(numbers(spark, 5), tmp_path / "t", transaction_id="0b" * 16)
    assert (one.version + 1, 9) == (other.version, again.count_rows())
    assert again.version == other.version


def test_a_table_created_concurrently_is_not_overwritten(spark, tmp_path):
    """A table that another job has created concurrently is a conflict."""
    from lanceref.core.errors import CommitConflict
    from lanceref_spark.options import parse
    from lanceref_spark.writing import commit, open_target

    uri = str(tmp_path / "t")
    target = open_target(parse({"path": uri}), numbers(spark, 1).schema, False)
    save(numbers(spark, 5), uri)
    with pytest.raises(CommitConflict):
        commit(target, [], "0c" * 16, {})
    assert pylanceref.dataset(uri).count_rows() == 5


SCHEDULES = int(os.environ.get("LANCEREF_FAULT_SCHEDULES", "4"))
"""Number of schedules of faults."""

_ATTEMPTS = some.lists(some.sampled_from(FAULTS), min_size=1, max_size=2)


@given(some.dictionaries(some.sampled_from("0123"), _ATTEMPTS))
@settings(max_examples=SCHEDULES)
def test_faults_leave_exactly_the_rows_and_known_orphans(spark, tmp_path_factory, schedule):
    """After survivable faults every row occurs once, and late failures leave orphans."""
    spark.dataSource.register(FaultySource)
    journal = tmp_path_factory.mktemp("faulty")
    uri = pylanceref.write_dataset(pa.table({"id": range(7)}), str(journal / "t")).uri
    told = {"schedule": json.dumps(schedule), "journal": str(journal)}
    made = save(numbers(spark, 100), uri, source="faulty", **told)
    assert sorted([*range(7), *range(100)]) == sorted(made.to_table()["id"].to_pylist())
    versions = [pylanceref.dataset(uri, version=one["version"]) for one in made.versions()]
    assert 2 == len(versions)
    fragments = [fragment for one in versions for fragment in one.get_fragments()]
    named = {file.path for fragment in fragments for file in fragment.data_files()}
    happened = [faults[: [*faults, "ok"].index("ok")] for faults in schedule.values()]
    assert sum(one.endswith("after") for faults in happened for one in faults) == len(
        files_of(uri) - named
    )
    assert [] == journal_errors(files_of(uri) - named, named, journal)


def test_a_job_that_fails_changes_nothing(spark, tmp_path):
    """A failed job commits no version and removes no file."""
    spark.dataSource.register(FaultySource)
    made = pylanceref.write_dataset(pa.table({"id": range(7)}), str(tmp_path / "t"))
    schedule = json.dumps({"2": ["after"] * 3})
    with pytest.raises(Exception, match="fault: after"):
        save(numbers(spark, 100), tmp_path / "t", source="faulty", schedule=schedule)
    after = pylanceref.dataset(made.uri)
    assert (after.version, after.count_rows()) == (1, 7)
    assert len(files_of(made.uri)) >= 1 + 3


def rows(start, stop):
    return pa.table({"a": pa.array(range(start, stop), pa.int64())})


def follow(spark, source, tmp_path, **options):
    """Copy a table by a stream; return the copy."""
    given = spark.readStream.format("lance_reference").options(**options).load(source.uri)
    target, marks = str(tmp_path / "copy"), str(tmp_path / "marks")
    query = (
        given.writeStream.format("lance_reference")
        .option("checkpointLocation", marks)
        .trigger(availableNow=True)
        .start(target)
    )
    query.awaitTermination()
    return pylanceref.dataset(target)


def test_a_stream_follows_appends_and_not_compactions(spark, tmp_path):
    """Each run copies new rows once, and no compacted rows again."""
    source = pylanceref.write_dataset(rows(0, 10), str(tmp_path / "t"), max_rows_per_file=4)
    assert follow(spark, source, tmp_path).count_rows() == 10
    source = pylanceref.write_dataset(rows(10, 15), source.uri, mode="append")
    source.optimize.compact_files()
    source.create_scalar_index("a", "BTREE")
    source = pylanceref.write_dataset(rows(15, 18), source.uri, mode="append")
    copy = follow(spark, source, tmp_path)
    assert sorted(copy.to_table()["a"].to_pylist()) == list(range(18))
    assert follow(spark, source, tmp_path).version == copy.version


def test_changed_rows_are_refused_or_skipped(spark, tmp_path):
    """Deletes end a stream unless changes are skipped."""
    source = pylanceref.write_dataset(rows(0, 4), str(tmp_path / "t"))
    source.delete("a = 1")
    with pytest.raises(Exception, match="changes=skip"):
        follow(spark, source, tmp_path / "x")
    assert follow(spark, source, tmp_path / "y", changes="skip").count_rows() == 4


def test_an_epoch_is_committed_once(spark, tmp_path):
    """A transaction has query and epoch, and an epoch is committed once."""
    source = pylanceref.write_dataset(rows(0, 3), str(tmp_path / "t"))
    copy = follow(spark, source, tmp_path)
    properties = copy.read_transaction(copy.version).transaction_properties
    assert properties[EPOCH] == "0"
    from lanceref_spark.options import parse
    from lanceref_spark.streaming import StreamWriter
    from lanceref_spark.types import spark_schema
    from lanceref_spark.writing import Fragments

    writer = StreamWriter(parse({"path": copy.uri}), spark_schema(copy.schema), False)
    again = Fragments((), 0, 0, properties[QUERY])
    writer.commit([again], 0)
    assert pylanceref.dataset(copy.uri).version == copy.version
    writer.commit([again], 1)
    assert pylanceref.dataset(copy.uri).version == copy.version + 1

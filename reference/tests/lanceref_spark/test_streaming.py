"""Streams: every appended row once, in and out."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref_spark.streaming import EPOCH, QUERY

pytestmark = pytest.mark.spark


def rows(start, stop):
    return pa.table({"a": pa.array(range(start, stop), pa.int64())})


def follow(spark, source, tmp_path, **options):
    """Let a stream copy what there is from one table to another, and return the other."""
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
    """Each run brings what came since the last one; rows that were compacted do not come again."""
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
    """A delete is none of what a stream can follow; `changes=skip` passes over it."""
    source = pylanceref.write_dataset(rows(0, 4), str(tmp_path / "t"))
    source.delete("a = 1")
    with pytest.raises(Exception, match="changes=skip"):
        follow(spark, source, tmp_path / "x")
    assert follow(spark, source, tmp_path / "y", changes="skip").count_rows() == 4


def test_an_epoch_is_committed_once(spark, tmp_path):
    """The transaction names query and epoch, and a second commit of the epoch adds nothing."""
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

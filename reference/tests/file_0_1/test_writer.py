"""The writer, by hand and against the oracle."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused, LegacyRefused
from lanceref.core.file_versions import V0_1
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.writer import LegacyWriter
from lanceref_testing import random_sample

from .building import WORKED, BytesSink, metadata_of, opened, read, written


def test_the_worked_example_is_311_bytes():
    """Page, page table, statistics, manifest, metadata, footer."""
    data = written(WORKED)
    assert 311 == len(data)
    assert bytes.fromhex("01000000 00000000 03000000") == data[:12]
    assert bytes.fromhex("ac00000000000000 0000 0200 4c414e43") == data[-16:]


@pytest.mark.parametrize("sizes", [[10], [3, 3, 4], [1] * 10, [4, 0, 6]])
def test_batches_have_the_rows_asked_for_whatever_comes_in(sizes):
    """Ten rows in batches of four."""
    sink, schema = BytesSink(), pa.schema([("a", pa.int64())])
    writer, at = LegacyWriter(sink, schema_of(schema), 4), 0
    for size in sizes:
        writer.write_batch(pa.record_batch([pa.array(range(at, at + size))], schema=schema))
        at += size
    writer.finish()

    data = bytes(sink.data)
    assert [0, 4, 8, 10] == list(metadata_of(data)[1].batch_offsets)
    assert {"a": list(range(10))} == read(data)


def test_a_file_says_who_wrote_it():
    """Not the oracle, unless asked to."""
    sink = BytesSink()
    writer = LegacyWriter(sink, schema_of(WORKED.schema))
    writer.write_batch(WORKED.to_batches()[0])
    assert 3 == writer.finish()
    assert b"lanceref" in sink.data
    assert opened(bytes(sink.data)).num_rows == 3


def test_a_file_without_rows_or_pages_is_refused():
    """Tables without rows have no data file."""
    with pytest.raises(DataRefused):
        written(WORKED.slice(0, 0))
    with pytest.raises(LegacyRefused):
        written(pa.table({"s": pa.array([{}], pa.struct([]))}))


def test_another_dictionary_is_refused():
    """The official writer would change the rows."""
    first = pa.array(["a", "b"]).dictionary_encode()
    table = pa.table({"d": pa.chunked_array([first, pa.array(["c"]).dictionary_encode()])})
    with pytest.raises(DataRefused):
        written(table, 2)


def test_a_null_where_none_may_be_is_refused():
    """Nothing is written of it."""
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False)])
    sink = BytesSink()
    with pytest.raises(DataRefused):
        LegacyWriter(sink, schema_of(schema)).write_batch(WORKED.to_batches()[0])
    assert 0 == sink.position


@pytest.mark.oracle
def test_files_are_those_of_the_oracle_byte_for_byte(tmp_path):
    """Random tables of every type, in batches of several sizes."""
    import lance

    compared = 0
    for seed in range(220):
        sample = random_sample(seed, V0_1)
        rows = Random(seed).choice([7, 64, 1024, 3000])
        if not sample.table.num_rows:
            continue
        path = tmp_path / str(seed)
        lance.write_dataset(
            sample.table, str(path), data_storage_version="legacy", max_rows_per_group=rows
        )
        (file,) = Path(path, "data").iterdir()
        assert file.read_bytes() == written(sample.table, rows), f"seed {seed}"
        compared += 1
    assert compared >= 180

"""Reading with Spark: options, partitions, readers in subprocesses, validation."""

import pickle
import sys

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError, NotFound, QueryRefused
from lanceref_spark.options import Rows, parse, reader_module
from lanceref_spark.reading import rows_of

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "the path"),
        ({"path": "t", "verison": "1"}, "no such option: verison"),
        ({"path": "t", "version": "-1"}, "option version"),
        ({"path": "t", "batch_size": "0"}, "option batch_size"),
        ({"path": "t", "with_row_id": "yes"}, "one of false, true"),
        ({"path": "t", "ns": "round"}, "one of refuse, truncate"),
        ({"path": "t", "transaction_id": "a/b"}, "no part of a file's name: 'a/b'"),
        ({"path": "t", "version": "1", "tag": "x"}, "exclude each other"),
    ],
)
def test_wrong_options_are_refused(given, text):
    """The refusal names the option."""
    with pytest.raises(QueryRefused, match=text):
        parse(given)


def test_keys_of_object_stores_are_not_shown(monkeypatch):
    """Secrets come from the environment and appear in no pickle or text."""
    with pytest.raises(QueryRefused, match="env:NAME") as refused:
        parse({"path": "t", "storage.AWS_Secret_Access_Key": "hush"})
    assert "hush" not in str(refused.value)
    options = parse({"path": "t", "storage.aws_secret_access_key": "env:THE_KEY"})
    with pytest.raises(QueryRefused, match="THE_KEY"):
        assert options.storage_options
    monkeypatch.setenv("THE_KEY", "hush")
    assert options.storage_options == {"aws_secret_access_key": "hush"}
    assert b"hush" not in pickle.dumps(options)
    assert "hush" not in repr(options)


def test_the_reader_is_this_implementation():
    """A reader is named by its entry point."""
    assert reader_module("reference") is pylanceref
    with pytest.raises(QueryRefused, match="no such reader"):
        reader_module("nobody")


@pytest.mark.oracle
def test_the_oracle_is_a_reader():
    """The entry point of the suite loads the oracle."""
    import lance

    assert reader_module("pylance") is lance


@pytest.fixture
def fifty(tmp_path):
    """50 rows in three fragments, of which five are deleted from the second."""
    rows = pa.table({"a": pa.array(range(50), pa.uint8())})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=20)
    made.delete("a >= 20 and a < 25")
    return made


def test_rows_of_a_partition_are_its_live_rows(fifty):
    """A partition has live rows in the types of Spark."""
    schema = pa.schema([("a", pa.int16())])
    batches = rows_of(parse({"path": fifty.uri}), Rows(2, 1, 12, 3), ["a"], schema)
    found = pa.Table.from_batches(batches, schema)
    assert found["a"].to_pylist() == [37, 38, 39]
    with pytest.raises(NotFound, match="fragment 9"):
        list(rows_of(parse({"path": fifty.uri}), Rows(2, 9), ["a"], schema))


READER = """
import os, pylanceref

class Table:
    def __init__(self, table):
        self.table = table
    def get_fragment(self, number):
        return self
    def scanner(self, **arguments):
        return self
    def to_batches(self):
        yield from self.table.to_batches()
        END

def dataset(uri, **arguments):
    return Table(pylanceref.dataset(uri).to_table())
"""


@pytest.fixture
def options(tmp_path):
    """Options of a load of ten rows."""
    from lanceref_spark.options import parse

    uri = pylanceref.write_dataset(pa.table({"a": range(10)}), str(tmp_path / "t")).uri
    return parse({"path": uri, "reader": "ending"})


def install(tmp_path, monkeypatch, end):
    """Install the entry point of a reader that runs the code `end` after its rows."""
    folder = tmp_path / "packages"
    marks = folder / "ending_reader-1.dist-info"
    marks.mkdir(parents=True)
    (marks / "METADATA").write_text("Metadata-Version: 2.1\nName: ending-reader\nVersion: 1\n")
    (marks / "entry_points.txt").write_text("[lanceref.readers]\nending = ending_reader\n")
    (folder / "ending_reader.py").write_text(READER.replace("END", end))
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def rows(options):
    from lanceref_spark.options import Rows
    from lanceref_spark.subprocess_reader import read_in_subprocess

    schema = pa.schema([("a", pa.int64())])
    return read_in_subprocess(options, Rows(1, 0), ["a"], schema)


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("os.abort()", "ending at fragment 0 of version 1 of .*: ended by signal 6"),
        ("raise ValueError('no such page')", "exit 1: ValueError: no such page"),
        ("os._exit(0)", "exit 0"),
    ],
)
def test_a_reader_that_ends_is_an_error_after_its_rows(tmp_path, monkeypatch, options, end, told):
    """The rows before it are returned; the error has the fragment and the exit status."""
    install(tmp_path, monkeypatch, end)
    found = rows(options)
    assert next(found).num_rows == 10
    with pytest.raises(LanceError, match=told):
        next(found)


def test_an_iteration_that_stops_ends_the_child(tmp_path, monkeypatch, options):
    """A reader that does not end is killed."""
    install(tmp_path, monkeypatch, "import time; time.sleep(1000)")
    found = rows(options)
    next(found)
    found.close()

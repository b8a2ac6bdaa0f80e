"""Apart: a reader that ends its process ends no worker, and loses no row silently."""

import sys

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError

pytestmark = pytest.mark.spark

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
    """Make the entry point of a reader that ends as is said, after its rows."""
    folder = tmp_path / "packages"
    marks = folder / "ending_reader-1.dist-info"
    marks.mkdir(parents=True)
    (marks / "METADATA").write_text("Metadata-Version: 2.1\nName: ending-reader\nVersion: 1\n")
    (marks / "entry_points.txt").write_text("[lanceref.readers]\nending = ending_reader\n")
    (folder / "ending_reader.py").write_text(READER.replace("END", end))
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def rows(options):
    from lanceref_spark.partition import Rows
    from lanceref_spark.subprocess_reader import rows_apart

    schema = pa.schema([("a", pa.int64())])
    return rows_apart(options, Rows(1, 0), ["a"], schema)


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("os.abort()", "ending at fragment 0 of version 1 of .*: ended by signal 6"),
        ("raise ValueError('no such page')", "exit 1: ValueError: no such page"),
        ("os._exit(0)", "exit 0"),
    ],
)
def test_a_reader_that_ends_is_an_error_after_its_rows(tmp_path, monkeypatch, options, end, told):
    """What came is given, and the error says where it was and how it ended."""
    install(tmp_path, monkeypatch, end)
    found = rows(options)
    assert next(found).num_rows == 10
    with pytest.raises(LanceError, match=told):
        next(found)


def test_a_reader_that_ends_well_gives_all_rows(tmp_path, monkeypatch, options):
    """The rows are those of the table; what it prints is none of them."""
    install(tmp_path, monkeypatch, "print('done')")
    assert [n for batch in rows(options) for n in batch["a"].to_pylist()] == list(range(10))


def test_who_wants_no_more_rows_ends_the_child(tmp_path, monkeypatch, options):
    """A reader that would never end is not waited for."""
    install(tmp_path, monkeypatch, "import time; time.sleep(1000)")
    found = rows(options)
    next(found)
    found.close()

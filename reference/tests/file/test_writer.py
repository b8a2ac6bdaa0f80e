"""The file writer under the name pylance has for it."""

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused, NotStorable, SchemaRefused
from pylanceref.lance_file import LanceFileWriter


@pytest.mark.parametrize("name", ["1", "2", "0.2", "v2", "3.0", ""])
def test_an_unknown_version_is_refused(tmp_path, name):
    """The names are those of the format, and nothing near them."""
    with pytest.raises(ValueError, match="Unknown Lance storage version"):
        LanceFileWriter(tmp_path / "f", version=name)


def test_a_0_1_file_is_refused(tmp_path):
    """0.1 files come from write_dataset."""
    with pytest.raises(NotStorable):
        LanceFileWriter(tmp_path / "f", version="legacy")


def test_a_file_without_schema_and_rows_is_refused(tmp_path):
    """Nothing says what its columns would be."""
    with pytest.raises(DataRefused, match="Schema is unknown"):
        LanceFileWriter(tmp_path / "f").close()


def test_no_file_is_left_behind_by_a_schema_that_is_refused(tmp_path):
    """The folder stays as it was."""
    with pytest.raises(SchemaRefused):
        LanceFileWriter(tmp_path / "f", pa.schema([("a.b", pa.int8())]))

    assert list(tmp_path.iterdir()) == []


def _page_of_nothing(library, path):
    library(path, BATCH.schema, max_page_bytes=0).write_batch(BATCH)


WRONG_CALLS = {
    "no batch": (lambda library, path: library(path, BATCH.schema).write_batch(5), TypeError),
    "page": (_page_of_nothing, ValueError),
    "version": (lambda library, path: library(path, version="0.1"), NotImplementedError),
    "name": (lambda library, path: library(path, version="2"), ValueError),
    "column": (
        lambda library, path: library(path, BATCH.schema).write_batch(
            BATCH.rename_columns(["other"])
        ),
        ValueError,
    ),
    "no schema": (lambda library, path: library(path).close(), ValueError),
}
BATCH = pa.record_batch({"a": [1, 2, 3]})


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_calls_are_refused(tmp_path, name):
    """With the class pylance raises."""
    call, error = WRONG_CALLS[name]
    with pytest.raises(error):
        call(LanceFileWriter, str(tmp_path / "x"))


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_the_oracle_refuses_them_too(tmp_path, name):
    """The same classes."""
    from lance.file import LanceFileWriter as Theirs

    call, error = WRONG_CALLS[name]
    with pytest.raises(error):
        call(Theirs, str(tmp_path / "x"))


def test_a_closed_file_takes_no_rows(tmp_path):
    """It stays whole."""
    writer = LanceFileWriter(tmp_path / "x")
    writer.write_batch(BATCH)
    assert writer.close() == 3
    with pytest.raises(DataRefused, match="closed"):
        writer.write_batch(BATCH)

"""The file reader under its public name."""

import pyarrow as pa
import pytest
from lanceref.core.errors import NotFound
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from .files import DESCRIPTOR, WORKED_FILE

ROWS = pa.table({"a": pa.array([1, None, 3], pa.int32())})


def _reader(**options) -> LanceFileReader:
    return LanceFileReader("f.lance", source=BytesSource(WORKED_FILE, "f.lance"), **options)


def test_the_worked_file_reads_as_its_rows():
    """All rows, a range, and single rows."""
    reader = _reader()

    assert ROWS.equals(reader.read_all().to_table())
    assert ROWS.slice(1, 2).equals(reader.read_range(1, 2).to_table())
    assert ROWS.take([0, 2, 2]).equals(reader.take_rows([0, 2, 2]).to_table())


def test_batches_have_the_size_asked_for():
    """Two rows and one."""
    batches = list(_reader().read_all(batch_size=2).to_batches())

    assert [2, 1] == [len(batch) for batch in batches]


@pytest.mark.parametrize("rows", [[2, 1], [3]])
def test_rows_ascend_and_exist(rows):
    """Unsorted and missing rows are wrong arguments."""
    with pytest.raises(ValueError, match="Indices"):
        _reader().take_rows(rows)


def test_a_range_lies_inside_the_file():
    """Rows 2 to 4 of three."""
    with pytest.raises(ValueError, match="rows"):
        _reader().read_range(2, 2)


def test_rows_are_no_negative_numbers():
    """Neither single ones nor those of a range."""
    for read in (
        lambda reader: reader.take_rows([-1]),
        lambda reader: reader.read_range(-1, 1),
        lambda reader: reader.read_range(0, -1),
    ):
        with pytest.raises(OverflowError):
            read(_reader())


def test_a_missing_column_or_file_is_not_found(tmp_path):
    """Both are also ValueErrors, a column also the OSError that pylance raises."""
    with pytest.raises(NotFound) as caught:
        _reader(columns=["b"])
    assert isinstance(caught.value, OSError)
    with pytest.raises(NotFound):
        LanceFileReader(tmp_path / "none.lance")


def test_metadata_says_what_the_file_says():
    """Rows, the words of the version, pages, sizes."""
    metadata = _reader().metadata()

    assert (3, 0, 3) == (metadata.num_rows, metadata.major_version, metadata.minor_version)
    assert [(0, 1), (64, 12)] == [
        (buffer.position, buffer.size) for buffer in metadata.columns[0].pages[0].buffers
    ]
    assert 13 == _reader().file_statistics().columns[0].size_bytes


def test_global_buffer_0_is_the_descriptor():
    """Others do not exist here."""
    assert DESCRIPTOR == _reader().read_global_buffer(0)
    with pytest.raises(NotFound):
        _reader().read_global_buffer(1)


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_the_oracle_says_the_same(version, tmp_path):
    """Rows, statistics and global buffers of one file, read by both."""
    import lance.file

    table = pa.table({"a": range(5000), "s": [str(i % 300) for i in range(5000)]})
    path = str(tmp_path / "f.lance")
    with lance.file.LanceFileWriter(path, table.schema, version=version) as writer:
        writer.write_batch(table)
        writer.add_global_buffer(b"mine")
    ours, theirs = LanceFileReader(path), lance.file.LanceFileReader(path)

    assert theirs.read_all().to_table().equals(ours.read_all().to_table())
    assert theirs.num_rows() == ours.num_rows()
    assert theirs.read_global_buffer(1) == ours.read_global_buffer(1)
    for name in ("num_data_bytes", "num_column_metadata_bytes", "num_global_buffer_bytes"):
        assert getattr(theirs.metadata(), name) == getattr(ours.metadata(), name)
    assert [(c.num_pages, c.size_bytes) for c in theirs.file_statistics().columns] == [
        (c.num_pages, c.size_bytes) for c in ours.file_statistics().columns
    ]

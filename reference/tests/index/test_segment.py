"""Segments of an index."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError

from .tables import ids, write

TABLE = pa.table({"i": range(100)})


@pytest.fixture
def dataset(tmp_path):
    """A table with an index."""
    written = write(TABLE, tmp_path, max_rows_per_file=60)
    written.create_scalar_index("i", "BTREE")
    return written


def segment_of(dataset):
    """Return the first segment."""
    return pylanceref.dataset(dataset.uri)._snapshot.indices.segments[0]


def test_a_segment_knows_its_folder_and_coverage(dataset):
    """The folder is named by the uuid; every fragment is covered."""
    segment = segment_of(dataset)
    assert segment.folder == f"_indices/{dataset.list_indices()[0]['uuid']}"
    assert list(segment.covers) == [0, 1]
    assert segment.file("page_data.lance") is segment.file("page_data.lance")


def test_a_missing_file_is_an_error_and_no_scan(dataset, tmp_path):
    """Rows must not be lost in silence, nor found by luck."""
    (tmp_path / "t" / segment_of(dataset).folder / "page_data.lance").unlink()
    with pytest.raises(FormatError) as caught:
        ids(pylanceref.dataset(dataset.uri), "i = 5")
    assert caught.value.clause == "L.index.segment.files"
    with pytest.raises(FormatError):
        segment_of(dataset).bytes_of("page_data.lance")


def test_a_file_of_another_size_is_an_error(dataset, tmp_path):
    """One byte short."""
    path = tmp_path / "t" / segment_of(dataset).folder / "page_data.lance"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FormatError):
        ids(pylanceref.dataset(dataset.uri), "i = 5")

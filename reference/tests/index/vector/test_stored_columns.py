"""Columns of stored vectors."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.core.file_versions import FileVersion
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.vector.storage import arrow_column, read_column
from lanceref.storage import open_store

WIDE = pa.list_(pa.uint8(), 3)


def written(tmp_path, batch) -> IndexFile:
    """Write a file of one batch and open it."""
    store = open_store(tmp_path)
    write_index_file(store, "f", batch.schema, FileVersion(2, 1), [batch], {})
    return IndexFile(store.open("f"), Context("f"))


def test_what_is_written_is_read(tmp_path):
    """Numbers, and several of them in a row."""
    one, many = np.arange(5, dtype=np.float32), np.arange(15, dtype=np.uint8).reshape(5, 3)
    batch = pa.record_batch(
        [arrow_column(one, pa.float32()), arrow_column(many, WIDE)], names=["a", "b"]
    )
    file = written(tmp_path, batch)
    assert [1, 2] == read_column(file, pa.field("a", pa.float32()), 1, 3).tolist()
    assert many[1:3].tolist() == read_column(file, pa.field("b", WIDE), 1, 3).tolist()
    assert (0, 3) == read_column(file, pa.field("b", WIDE), 2, 2).shape


def test_nulls_and_other_types_are_refused(tmp_path):
    """Of rows, and within them."""
    batch = pa.record_batch(
        [pa.array([1, None]), pa.array([[1, 2, 3], None], WIDE)], names=["a", "b"]
    )
    file = written(tmp_path, batch)
    for field in (pa.field("a", pa.int64()), pa.field("b", WIDE), pa.field("a", pa.uint8())):
        with pytest.raises(FormatError):
            read_column(file, field, 0, 2)

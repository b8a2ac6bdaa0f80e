"""Segments, written."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused
from lanceref.core.file_versions import V2_1
from lanceref.index.segment import SegmentWriter
from lanceref.storage import LocalStore

SCHEMA = pa.schema([pa.field("n", pa.int64())])


def test_files_are_listed_with_their_sizes(tmp_path):
    """Index files and others."""
    with SegmentWriter(LocalStore(tmp_path), V2_1) as writer:
        writer.write_file("a.lance", SCHEMA, [pa.record_batch({"n": [1]})])
        writer.write_bytes("b.bin", b"123")
    for file in writer.files:
        assert (tmp_path / writer.folder / file.path).stat().st_size == file.size_bytes
    assert [file.path for file in writer.files] == ["a.lance", "b.bin"]


def test_an_error_leaves_nothing(tmp_path):
    """Not even the folder."""
    with pytest.raises(DataRefused), SegmentWriter(LocalStore(tmp_path), V2_1) as writer:
        writer.write_file("a.lance", SCHEMA, [pa.record_batch({"n": [1]})])
        writer.write_file("b.lance", SCHEMA, [pa.record_batch({"n": ["x"]})])
    assert not (tmp_path / writer.folder).exists()

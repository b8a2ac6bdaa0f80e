"""Index files, segments and their builds: what is written, read again, reported and counted."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import DataRefused, FormatError
from lanceref.core.file_versions import V2_1
from lanceref.index import index_file
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.segment import SegmentWriter
from lanceref.storage import LocalStore

SCHEMA = pa.schema([pa.field("n", pa.uint32(), nullable=False)])


@pytest.fixture
def written(tmp_path):
    """A file of ten rows with metadata and two buffers."""
    store = LocalStore(tmp_path)
    batch = pa.record_batch([pa.array(range(10), pa.uint32())], schema=SCHEMA)
    size = write_index_file(
        store, "f.lance", SCHEMA, V2_1, [batch], {"k": "12", "t": "x"}, [b"one", b"two"]
    )
    return store, size


def opened(written, size=None) -> IndexFile:
    """Open the file."""
    return IndexFile(written[0].open("f.lance"), Context("f.lance"), size)


def test_what_was_written_is_read(written):
    """Rows, some of them, metadata, buffers."""
    file = opened(written, written[1])
    assert file.read("n", pa.uint32(), 2, 4).to_pylist() == [2, 3]
    assert file.take("n", np.array([1, 9])).to_pylist() == [1, 9]
    assert (file.number("k"), file.text("t"), file.num_rows) == (12, "x", 10)
    assert bytes(file.buffer(2).take(3, "two", "L.index.files.buffer")) == b"two"


def test_keys_have_an_order(tmp_path):
    """Numbers are keys, lists and structs of them are not."""
    schema = pa.schema({"n": pa.int8(), "l": pa.list_(pa.int8()), "s": pa.struct({"x": pa.int8()})})
    batch = pa.record_batch([[2, 1], [[2], [1]], [{"x": 2}, {"x": 1}]], schema=schema)
    store = LocalStore(tmp_path)
    file = opened((store, 0), write_index_file(store, "f.lance", schema, V2_1, [batch], {}))
    assert file.read_ordered("n").to_pylist() == [2, 1]
    for name in ("l", "s"):
        with pytest.raises(FormatError, match="a type that has an order"):
            file.read_ordered(name)


def test_a_small_file_is_read_once(tmp_path, monkeypatch):
    """Its columns then cost no request; a larger one stays as it is."""
    schema = pa.schema([SCHEMA.field("n"), ("wide", pa.large_binary()), ("m", pa.uint64())])
    wide = [bytes([number]) * 30_000 for number in range(10)]
    columns = [list(range(10)), wide, [number * number for number in range(10)]]
    arrays = [pa.array(one, field.type) for one, field in zip(columns, schema, strict=True)]
    store = LocalStore(tmp_path)
    batch = pa.record_batch(arrays, schema=schema)
    size = write_index_file(store, "f.lance", schema, V2_1, [batch], {})
    for most, is_read in ((size, 1), (size - 1, 0)):
        monkeypatch.setattr(index_file, "SMALL_BYTES", most)
        file = opened((store, 0))
        store.stats.incremental()
        file.hold()
        assert store.stats.incremental().read_iops == is_read
        assert file.read("n", pa.uint32()).to_pylist() == columns[0]
        assert file.read("m", pa.uint64()).to_pylist() == columns[2]
        assert file.take("wide", np.array([3, 4])).to_pylist() == wide[3:5]
        assert (store.stats.incremental().read_iops == 0) == bool(is_read)


NUMBERS = pa.schema([pa.field("n", pa.int64())])


def test_files_are_listed_with_their_sizes(tmp_path):
    """Index files and others."""
    with SegmentWriter(LocalStore(tmp_path), V2_1) as writer:
        writer.write_file("a.lance", NUMBERS, [pa.record_batch({"n": [1]})])
        writer.write_bytes("b.bin", b"123")
    for file in writer.files:
        assert (tmp_path / writer.folder / file.path).stat().st_size == file.size_bytes
    assert [file.path for file in writer.files] == ["a.lance", "b.bin"]


def test_an_error_leaves_nothing(tmp_path):
    """Not even the folder."""
    with pytest.raises(DataRefused), SegmentWriter(LocalStore(tmp_path), V2_1) as writer:
        writer.write_file("a.lance", NUMBERS, [pa.record_batch({"n": [1]})])
        writer.write_file("b.lance", NUMBERS, [pa.record_batch({"n": ["x"]})])
    assert not (tmp_path / writer.folder).exists()

"""Files of an index."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.core.file_versions import V2_1
from lanceref.index.index_file import IndexFile, write_index_file
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


@pytest.mark.parametrize(
    ("ask", "clause"),
    [
        (lambda file: file.read("m"), "L.index.files.column"),
        (lambda file: file.read("n", pa.int32()), "L.index.files.column"),
        (lambda file: file.text("q"), "L.index.files.metadata"),
        (lambda file: file.number("t"), "L.index.files.metadata"),
        (lambda file: file.buffer(0), "L.index.files.buffer"),
        (lambda file: file.buffer(3), "L.index.files.buffer"),
    ],
)
def test_what_is_missing_is_an_error(written, ask, clause):
    """Each by its clause."""
    with pytest.raises(FormatError) as caught:
        ask(opened(written))
    assert caught.value.clause == clause


def test_numbers_are_never_null(tmp_path):
    """They are an array; a null where a number belongs is an error, whatever the schema says."""
    store, schema = LocalStore(tmp_path), pa.schema([pa.field("n", pa.uint64())])
    for name, last in (("whole", 2**64 - 1), ("holed", None)):
        batch = pa.record_batch([pa.array([7, last], pa.uint64())], schema=schema)
        write_index_file(store, name, schema, V2_1, [batch], {})
    files = {name: IndexFile(store.open(name), Context(name)) for name in ("whole", "holed")}

    assert [7, 2**64 - 1] == files["whole"].numbers("n", np.uint64).tolist()
    assert [7] == files["holed"].numbers("n", np.uint64, 0, 1).tolist()
    with pytest.raises(FormatError, match="1 nulls in 'n'") as caught:
        files["holed"].numbers("n", np.uint64)
    assert "L.index.files.column" == caught.value.clause


def test_small_parts_are_read_once(tmp_path):
    """All of two short columns and the row index of a wide one: then a row costs one request."""
    schema = pa.schema([SCHEMA.field("n"), ("wide", pa.large_binary()), ("m", pa.uint64())])
    wide = [bytes([number]) * 30_000 for number in range(10)]
    columns = [list(range(10)), wide, [number * number for number in range(10)]]
    arrays = [pa.array(one, field.type) for one, field in zip(columns, schema, strict=True)]
    store = LocalStore(tmp_path)
    batch = pa.record_batch(arrays, schema=schema)
    write_index_file(store, "f.lance", schema, V2_1, [batch], {})
    file = opened((store, 0))
    file.hold()
    store.stats.incremental()
    assert file.read("n", pa.uint32()).to_pylist() == columns[0]
    assert file.read("m", pa.uint64()).to_pylist() == columns[2]
    assert store.stats.incremental().read_iops == 0
    assert file.take("wide", np.array([3, 4])).to_pylist() == wide[3:5]
    assert store.stats.incremental().read_iops == 1


def test_another_size_than_stated_is_an_error(written):
    """The manifest knows it."""
    with pytest.raises(FormatError) as caught:
        opened(written, written[1] + 1)
    assert caught.value.clause == "L.index.files.size"

"""Blobs that are stored before their rows."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from lanceref.data_file.descriptors import PREPARED, sidecar_path
from pylanceref.file import LanceFileSession
from pylanceref.prepared_blobs import BlobDescriptorArrayBuilder

PACKED = {"kind": 1, "data": None, "uri": None, "blob_id": 7}


@pytest.fixture
def session(tmp_path):
    """Files of a folder."""
    return LanceFileSession(tmp_path)


@pytest.mark.parametrize("payload", [b"ab", bytearray(b"ab"), memoryview(b"ab"), [97, 98]])
def test_bytes_come_in_many_forms(session, tmp_path, payload):
    """Each blob stands behind the last one."""
    writer = session.open_packed_blob_writer("x.lance", 7)
    writer.write_blob(payload)
    writer.write_blob(b"")
    assert [
        "Packed { blob_id: 7, offset: 0, size: 2 }",
        "Packed { blob_id: 7, offset: 2, size: 0 }",
    ] == [repr(one) for one in writer.finish()]
    assert b"ab" == (tmp_path / sidecar_path("x.lance", 7)).read_bytes()
    assert writer.path.endswith(f"{tmp_path.name}/{sidecar_path('x.lance', 7)}")


@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary(), pa.binary_view()])
@pytest.mark.parametrize("chunked", [False, True])
def test_arrays_are_stored_without_their_nulls(session, tmp_path, type_, chunked):
    """A null has no bytes; an empty blob has a place."""
    values = pa.array([b"-", b"a", None, b"", b"bc"], pa.binary()).cast(type_)[1:]
    writer = session.open_packed_blob_writer("x.lance", 7)
    with pytest.raises(DataRefused, match="after finish_array"):
        _ = writer.field
    writer.write_blobs(pa.chunked_array([values[:2], values[2:]]) if chunked else values)
    rows = writer.finish_array("b")
    assert [
        {**PACKED, "blob_size": 1, "position": 0},
        None,
        {**PACKED, "blob_size": 0, "position": 1},
        {**PACKED, "blob_size": 2, "position": 1},
    ] == rows.to_pylist()
    assert writer.field == BlobDescriptorArrayBuilder("b").field
    assert b"abc" == (tmp_path / sidecar_path("x.lance", 7)).read_bytes()


def test_broken_arrays_are_refused_whole(session, tmp_path):
    """Nothing of them is written, and the writer goes on."""
    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 2, 1, 2)))
    broken = pa.Array.from_buffers(pa.binary(), 3, [None, offsets, pa.py_buffer(b"ab")])
    writer = session.open_packed_blob_writer("x.lance", 7)
    for given, text in (
        (broken, "array has invalid Arrow data.*non-monotonic"),
        (pa.chunked_array([pa.array([b"x"]), broken]), "chunk 1 has invalid Arrow data"),
        (pa.array([1]), "Binary"),
        ([b"x"], "BinaryArray"),
    ):
        with pytest.raises(DataRefused, match=text):
            writer.write_blobs(given)
    for given, error in ((5, TypeError), ("x", TypeError), ([256], OverflowError)):
        with pytest.raises(error):
            writer.write_blob(given)
    writer.write_blob(b"left")
    assert 1 == len(writer.finish())
    assert b"left" == (tmp_path / sidecar_path("x.lance", 7)).read_bytes()
    with pytest.raises(DataRefused, match="already finished"):
        writer.finish()


def test_a_blob_alone_is_written_in_parts(session, tmp_path):
    """The file is the blob."""
    writer = session.open_dedicated_blob_writer("x.lance", 1 << 31)
    writer.write(b"ab")
    writer.write([99])
    assert "Dedicated { blob_id: 2147483648, size: 3 }" == repr(writer.finish())
    assert b"abc" == (tmp_path / sidecar_path("x.lance", 1 << 31)).read_bytes()


@pytest.mark.parametrize(
    ("path", "number", "error"),
    [("x.lance", 0, DataRefused), ("x.lance", 1 << 32, OverflowError), ("x", 1, DataRefused)],
)
def test_files_have_numbers_and_belong_to_data_files(session, path, number, error):
    """Zero is nobody's number."""
    with pytest.raises(error):
        session.open_packed_blob_writer(path, number)


def test_rows_are_collected():
    """Of every kind, in their order; then no more."""
    builder = BlobDescriptorArrayBuilder("b")
    builder.append_null()
    builder.append_inline(b"in")
    builder.append_dedicated(4, 10)
    builder.extend_packed(3, [0, 5], [5, 6])
    rows = builder.finish()
    assert rows.type == PREPARED == builder.field.type
    assert [None, 0, 2, 1, 1] == [row and row["kind"] for row in rows.to_pylist()]
    assert b"in" == rows[1].as_py()["data"]
    with pytest.raises(DataRefused, match="already finished"):
        builder.append_null()
    with pytest.raises(TypeError):
        BlobDescriptorArrayBuilder("b").append(5)
    with pytest.raises(DataRefused, match="same length"):
        BlobDescriptorArrayBuilder("b").extend_packed(1, [0], [])


def test_prepared_rows_take_the_place_of_others(tmp_path):
    """Written by hand beside a table, committed, and read back."""
    rows = pa.table(
        {"b": pylanceref.blob_array([b"old"])}, schema=pa.schema([pylanceref.blob_field("b")])
    )
    table = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.2")
    session = LanceFileSession(tmp_path / "data")
    writer = session.open_packed_blob_writer("new.lance", 1)
    writer.write_blob(b"new")
    made = writer.finish_array("b")
    schema = pa.schema([writer.field])
    with session.open_writer("new.lance", schema=schema, version="2.2") as file:
        file.write_batch(pa.record_batch([made], schema=schema))
    replaced = pylanceref.LanceOperation.DataReplacementGroup(
        0, pylanceref.DataFile.create(table, "new.lance")
    )
    operation = pylanceref.LanceOperation.DataReplacement([replaced])
    table = pylanceref.LanceDataset.commit(table, operation, read_version=1)
    (blob,) = table.take_blobs("b", indices=[0])
    assert b"new" == blob.readall()


@pytest.mark.parametrize(
    ("uri", "offset", "size", "error"),
    [
        ("", 0, 1, DataRefused),
        ("/x", 0, 1, DataRefused),
        ("a//b", 0, 1, DataRefused),
        ("a/../b", 0, 1, DataRefused),
        ("x", -1, 1, OverflowError),
        ("x", 0, -1, OverflowError),
        ("x", 2**64 - 1, 5, DataRefused),
    ],
)
def test_what_is_no_object_of_a_table_is_refused(uri, offset, size, error):
    """A path that leaves it, a range that no file has."""
    with pytest.raises(error):
        BlobDescriptorArrayBuilder("b").append_managed(uri, offset, size)


def test_objects_of_a_table_are_named_below_it_or_a_base():
    """The kind says which."""
    builder = BlobDescriptorArrayBuilder("b")
    builder.append_managed("x", 1, 2)
    builder.append_managed("x", 1, 2, base_id=0)
    rows = builder.finish().to_pylist()

    assert [(4, None), (5, 0)] == [(row["kind"], row["blob_id"]) for row in rows]
    assert [("x", 1, 2)] * 2 == [(row["uri"], row["position"], row["blob_size"]) for row in rows]

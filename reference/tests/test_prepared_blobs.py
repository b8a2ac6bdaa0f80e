"""Blobs that are stored before their rows."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from lanceref.data_file.descriptors import PREPARED, sidecar_path
from pylanceref.blob import BlobDescriptorArrayBuilder
from pylanceref.file import LanceFileSession

PACKED = {"kind": 1, "data": None, "uri": None, "blob_id": 7}


@pytest.fixture
def session(tmp_path):
    """Files of a folder."""
    return LanceFileSession(tmp_path)


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
    (tmp_path / "data" / sidecar_path("new.lance", 1)).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "data" / sidecar_path("new.lance", 1)).write_bytes(b"new")
    builder = BlobDescriptorArrayBuilder("b")
    builder.extend_packed(1, [0], [3])
    made, schema = builder.finish(), pa.schema([builder.field])
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

"""Blobs that are stored before their rows."""

import pyarrow as pa
import pylanceref
from lanceref.blobs.descriptors import PACKED, PREPARED, sidecar_path
from lanceref.file.schema import BLOB_EXTENSION, EXTENSION_KEY
from pylanceref.file import LanceFileSession


def test_prepared_rows_take_the_place_of_others(tmp_path):
    """Written by hand beside a table, committed, and read back."""
    rows = pa.table(
        {"b": pylanceref.blob_array([b"old"])}, schema=pa.schema([pylanceref.blob_field("b")])
    )
    table = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.2")
    session = LanceFileSession(tmp_path / "data")
    (tmp_path / "data" / sidecar_path("new.lance", 1)).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "data" / sidecar_path("new.lance", 1)).write_bytes(b"new")
    packed = {"kind": PACKED, "blob_id": 1, "position": 0, "blob_size": 3}
    field = pa.field("b", PREPARED, metadata={EXTENSION_KEY: BLOB_EXTENSION})
    made, schema = pa.array([packed], PREPARED), pa.schema([field])
    with session.open_writer("new.lance", schema=schema, version="2.2") as file:
        file.write_batch(pa.record_batch([made], schema=schema))
    replaced = pylanceref.LanceOperation.DataReplacementGroup(
        0, pylanceref.DataFile.create(table, "new.lance")
    )
    operation = pylanceref.LanceOperation.DataReplacement([replaced])
    table = pylanceref.LanceDataset.commit(table, operation, read_version=1)
    (blob,) = table.take_blobs("b", indices=[0])
    assert b"new" == blob.readall()

"""Logical values: what stored columns read as."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.blobs.blob_reader import BlobFiles
from lanceref.core.context import Context
from lanceref.data_file.descriptors import BLOB_DESCRIPTOR
from lanceref.file.column_io import DESCRIPTOR
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.json.jsonb import documents
from lanceref.proto import file_pb2
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases
from lanceref.table.logical import BlobHandling, LogicalColumn, logical_schema, stored_field

from .manifests import minimal, parse
from .test_split import Held

CTX = Context("m.manifest")
PLACE = CTX.at(0, 9)
NOWHERE = BlobFiles(Bases(LocalStore("."), parse(minimal())), "", None, CTX, {})
"""Where blobs would lie."""


def _schema() -> LanceSchema:
    """Lists of json, and numbers."""
    fields = [
        file_pb2.Field(name="l", id=0, parent_id=-1, logical_type="list", nullable=True),
        file_pb2.Field(name="j", id=1, parent_id=0, logical_type="json", nullable=True),
        file_pb2.Field(name="n", id=2, parent_id=-1, logical_type="int8", nullable=True),
    ]
    fields[1].extension_name = "lance.json"
    fields[1].metadata["ARROW:extension:name"] = b"lance.json"
    return parse_schema(fields, {}, CTX, PLACE)


def test_json_reads_as_text_under_another_name() -> None:
    """A json field is a string field called arrow.json, inside whatever holds it."""
    lists, numbers = logical_schema(_schema(), BlobHandling.DECLARED).fields

    assert lists.arrow.type.value_type == pa.utf8()
    assert lists.arrow.type.value_field.metadata == {b"ARROW:extension:name": b"arrow.json"}
    assert numbers is not None
    assert numbers.arrow.type == pa.int8()


def test_the_stored_field_is_the_way_back() -> None:
    """A logical field is stored as bytes; a field that reads as stored stays the same object."""
    lists, numbers = logical_schema(_schema(), BlobHandling.DECLARED).fields

    assert stored_field(lists).arrow.type.value_type == pa.large_binary()
    assert stored_field(numbers) is numbers


def test_scan_and_take_give_text() -> None:
    """Documents below lists become text, in scans and in takes."""
    field = logical_schema(_schema(), BlobHandling.DECLARED).fields[0]
    items = documents(pa.array(['{"a":1}', None, "[]"]))
    stored = pa.ListArray.from_arrays(
        pa.array([0, 2, 2, 3], pa.int32()), items, type=stored_field(field).arrow.type
    )
    column = LogicalColumn(Held(stored, 2), field, NOWHERE, CTX)

    assert column.num_rows == 3
    assert column.type == field.arrow.type
    scanned = pa.chunked_array(column.scan(0, 3))
    assert scanned.to_pylist() == [['{"a":1}', None], [], ["[]"]]
    assert column.take(np.array([2, 0])).to_pylist() == [["[]"], ['{"a":1}', None]]


def _blobs() -> LanceSchema:
    """One blob of each kind."""
    fields = [
        file_pb2.Field(name="one", id=0, parent_id=-1, logical_type="large_binary", nullable=True),
        file_pb2.Field(name="two", id=1, parent_id=-1, logical_type="struct", nullable=True),
        file_pb2.Field(name="data", id=2, parent_id=1, logical_type="large_binary", nullable=True),
    ]
    fields[0].metadata["lance-encoding:blob"] = b"true"
    fields[1].extension_name = "lance.blob.v2"
    fields[1].metadata["ARROW:extension:name"] = b"lance.blob.v2"
    return parse_schema(fields, {}, CTX, PLACE)


def test_blobs_read_as_the_caller_likes() -> None:
    """As declared, as descriptors or as bytes; the second kind is always stored as descriptors."""
    read, described, declared = (logical_schema(_blobs(), one).arrow for one in BlobHandling)

    assert [field.type for field in read] == [pa.large_binary()] * 2
    assert [field.type for field in described] == [DESCRIPTOR, BLOB_DESCRIPTOR]
    assert declared.field("two").type == pa.struct([("data", pa.large_binary())])
    for handling in BlobHandling:
        two = stored_field(logical_schema(_blobs(), handling).fields[1])
        assert two.arrow.type == BLOB_DESCRIPTOR
        assert two.is_packed
        assert two.is_leaf


def test_handlings_have_the_oracles_names() -> None:
    """Descriptors are the default; an unknown name is refused."""
    assert BlobHandling.of(None) is BlobHandling.of("all_descriptions")
    assert BlobHandling.of("all_binary") is BlobHandling.BYTES
    with pytest.raises(ValueError, match="Invalid blob_handling"):
        BlobHandling.of("junk")

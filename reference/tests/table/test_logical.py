"""Logical values: what stored columns read as."""

import numpy as np
import pyarrow as pa
from lanceref.context import Context
from lanceref.file.schema import LanceSchema, parse_schema
from lanceref.jsontext import documents
from lanceref.proto import file_pb2
from lanceref.table.logical import LogicalColumn, logical_schema, stored_field

from tests.table.test_split import Held

CTX = Context("m.manifest")
PLACE = CTX.at(0, 9)


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
    lists, numbers = logical_schema(_schema()).fields

    assert lists.arrow.type.value_type == pa.utf8()
    assert lists.arrow.type.value_field.metadata == {b"ARROW:extension:name": b"arrow.json"}
    assert numbers is not None
    assert numbers.arrow.type == pa.int8()


def test_the_stored_field_is_the_way_back() -> None:
    """A logical field is stored as bytes; a field that reads as stored stays the same object."""
    lists, numbers = logical_schema(_schema()).fields

    assert stored_field(lists).arrow.type.value_type == pa.large_binary()
    assert stored_field(numbers) is numbers


def test_scan_and_take_give_text() -> None:
    """Documents below lists become text, in scans and in takes."""
    field = logical_schema(_schema()).fields[0]
    items = documents(pa.array(['{"a":1}', None, "[]"]))
    stored = pa.ListArray.from_arrays(
        pa.array([0, 2, 2, 3], pa.int32()), items, type=stored_field(field).arrow.type
    )
    column = LogicalColumn(Held(stored, 2), field, CTX, PLACE)

    assert column.num_rows == 3
    assert column.type == field.arrow.type
    scanned = pa.chunked_array(column.scan(0, 3))
    assert scanned.to_pylist() == [['{"a":1}', None], [], ["[]"]]
    assert column.take(np.array([2, 0])).to_pylist() == [["[]"], ['{"a":1}', None]]

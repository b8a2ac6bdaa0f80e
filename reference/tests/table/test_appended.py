"""Schemas of appended rows."""

import pyarrow as pa
import pytest
from lanceref.core.errors import AppendRefused
from lanceref.core.file_versions import V0_1, V2_2
from lanceref.file.arrow_schema import schema_of
from lanceref.table.data_files import appended_schema

STRUCT = pa.struct([pa.field("x", pa.int64()), pa.field("y", pa.list_(pa.string()))])
TABLE = schema_of(
    pa.schema([pa.field("a", pa.int32(), nullable=False), ("s", STRUCT)], metadata={"k": "v"})
)


def _ids(schema):
    return [field.id for field in schema.flat()]


def test_rows_in_another_order_keep_the_ids_of_the_table():
    """s before a, y before x; nullability and metadata are the table's."""
    swapped = pa.struct([STRUCT.field("y"), STRUCT.field("x")])
    found = appended_schema(TABLE, schema_of(pa.schema({"s": swapped, "a": pa.int32()})), V2_2)

    assert [1, 3, 4, 2, 0] == _ids(found)
    assert found.fields[1] == TABLE.fields[0]
    assert found.fields[0].arrow.type == swapped
    assert {"k": "v"} == found.metadata


def test_what_can_be_null_may_be_missing():
    """A whole column, or a part of one."""
    part = pa.struct([STRUCT.field("x")])

    assert [0] == _ids(appended_schema(TABLE, schema_of(pa.schema({"a": pa.int32()})), V2_2))
    rows = schema_of(pa.schema({"a": pa.int32(), "s": part}))
    assert [0, 1, 2] == _ids(appended_schema(TABLE, rows, V2_2))


def test_a_legacy_file_holds_every_field():
    """0.1 has no way to leave one out."""
    with pytest.raises(AppendRefused, match=r"\[1, 2, 3, 4\] are missing"):
        appended_schema(TABLE, schema_of(pa.schema({"a": pa.int32()})), V0_1)


A = ("a", pa.int32())


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ([("s", STRUCT)], r"missing=\[a\], unexpected=\[\]"),
        ([A, ("z", pa.int8())], r"missing=\[\], unexpected=\[z\]"),
        ([("a", pa.int64())], "`a` should have type int32 but type was int64"),
        ([A, ("s", pa.int64())], "`s` should have type struct but type was int64"),
        (
            [A, ("s", pa.struct({"y": pa.list_(pa.int64())}))],
            "`s` had mismatched children: `s.y` had mismatched children: "
            "`s.y.item` should have type string",
        ),
        ([A, ("s", pa.struct({"z": pa.int8()}))], r"mismatched children: .*unexpected=\[s\.z\]"),
    ],
)
def test_another_schema_is_refused(fields, text):
    """The text names the field and what is wrong with it."""
    with pytest.raises(AppendRefused, match=text):
        appended_schema(TABLE, schema_of(pa.schema(fields)), V2_2)

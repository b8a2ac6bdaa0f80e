"""Logical type strings."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import BadSchema, Place
from lanceref.core.logical_types import arrow_type, logical_type

PLACE = Place("f", 0)
NULLABLE_KEY = pa.field("entries", pa.struct([("k", pa.int8()), ("v", pa.int8())]))


@pytest.mark.parametrize(
    ("name", "arrow"),
    [
        ("int8", pa.int8()),
        ("uint64", pa.uint64()),
        ("halffloat", pa.float16()),
        ("double", pa.float64()),
        ("large_string", pa.large_string()),
        ("date64:ms", pa.date64()),
        ("time64:ns", pa.time64("ns")),
        ("duration:us", pa.duration("us")),
        ("timestamp:us:-", pa.timestamp("us")),
        ("timestamp:us:+05:30", pa.timestamp("us", "+05:30")),
        ("decimal:128:10:-2", pa.decimal128(10, -2)),
        ("decimal:256:60:5", pa.decimal256(60, 5)),
        ("fixed_size_binary:3", pa.binary(3)),
        ("fixed_size_list:float:4", pa.list_(pa.float32(), 4)),
        ("fixed_size_list:fixed_size_list:bool:2:3", pa.list_(pa.list_(pa.bool_(), 2), 3)),
        ("fixed_size_list:timestamp:s:UTC:2", pa.list_(pa.timestamp("s", "UTC"), 2)),
        ("dict:string:int16:false", pa.dictionary(pa.int16(), pa.string())),
    ],
)
def test_names_and_types_are_each_others_inverse(name, arrow):
    """The string the oracle writes for a type reads as that type, and is what we would write."""
    assert arrow == arrow_type(name, [], PLACE)
    assert name == logical_type(arrow)


def test_nested_kinds_take_their_fields_from_the_children():
    """struct, list, list.struct and map are spelled by name and child fields."""
    x = pa.field("x", pa.int32())
    key = x.with_nullable(False)
    entries = pa.field("entries", pa.struct([key, pa.field("v", pa.string())]), nullable=False)

    assert pa.struct([x]) == arrow_type("struct", [x], PLACE)
    assert pa.list_(x) == arrow_type("list", [x], PLACE)
    assert pa.map_(pa.int32(), pa.string()).key_type == arrow_type("map", [entries], PLACE).key_type
    assert "large_list.struct" == logical_type(pa.large_list(pa.struct([x])))


@pytest.mark.parametrize(
    "name",
    ["", "int7", "fhxed_size_list:float:4", "fixed_size_list:float:0x4", "decimal:128:99:0",
     "timestamp:us", "timestamp:h:-", "fixed_size_binary:99999999999", "dict:string:float:false"],
)  # fmt: skip
def test_an_unknown_name_is_a_schema_error(name):
    """A damaged type string is refused, never an exception of the library."""
    with pytest.raises(BadSchema):
        arrow_type(name, [], PLACE)


@given(st.text(alphabet="abdefilmnostuzx_:0123456789-", max_size=40))
def test_any_name_is_a_type_or_a_schema_error(name):
    """No string makes the parser fail in another way."""
    try:
        assert isinstance(arrow_type(name, [], PLACE), pa.DataType)
    except BadSchema as error:
        assert error.clause.startswith("L.file.schema.")


def test_children_are_counted():
    """A list has one child, a leaf has none."""
    x = pa.field("x", pa.int32())

    for name, children in (
        ("list", []),
        ("list", [x, x]),
        ("int32", [x]),
        ("map", [x]),
        ("map", [NULLABLE_KEY]),
    ):
        with pytest.raises(BadSchema):
            arrow_type(name, children, PLACE)


def test_a_type_the_format_lacks_is_a_type_error():
    """Writers learn that a type cannot be stored."""
    with pytest.raises(TypeError):
        logical_type(pa.month_day_nano_interval())

"""Logical type strings and extension types."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import BadSchema, Place
from lanceref.file.schema import arrow_type
from lanceref.file.schema_view import resolved, resolved_batch, storage_of

PLACE = Place("f", 0)
NULLABLE_KEY = pa.field("entries", pa.struct([("k", pa.int8()), ("v", pa.int8())]))


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


OPAQUE = pa.opaque(pa.int32(), "t", "v")


@pytest.mark.parametrize(
    ("type_", "storage", "name", "parameters"),
    [
        (pa.json_(), pa.string(), "arrow.json", ""),
        (pa.uuid(), pa.binary(16), "arrow.uuid", ""),
        (pa.bool8(), pa.int8(), "arrow.bool8", ""),
        (OPAQUE, pa.int32(), "arrow.opaque", '{"type_name":"t","vendor_name":"v"}'),
    ],
)
def test_name_and_parameters_become_metadata(type_, storage, name, parameters):
    """The two keys of the C form lie beside the metadata the field has."""
    found = storage_of(pa.field("a", type_, metadata={"k": "v"}))

    assert found == (
        storage,
        {"k": "v", "ARROW:extension:name": name, "ARROW:extension:metadata": parameters},
    )


def test_known_extension_types_are_resolved_and_unknown_ones_kept():
    """A name that pyarrow knows becomes its type, any other stays metadata."""
    named = {"ARROW:extension:name": "arrow.uuid"}
    stored = pa.schema(
        [
            pa.field("u", pa.binary(16), metadata=named),
            pa.field("wrong", pa.int8(), metadata={"ARROW:extension:name": "no.such.type"}),
        ]
    )

    shown = resolved(stored)

    assert shown.field("u").type == pa.uuid()
    assert shown.field("wrong").equals(stored.field("wrong"), check_metadata=True)


class _Strange(pa.ExtensionType):
    """A type whose class cannot read what is stored of it."""

    def __init__(self) -> None:
        super().__init__(pa.int8(), "test.strange")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> None:
        raise KeyError(serialized)


def test_a_class_that_fails_leaves_the_storage():
    """Whatever it raises: the name stays metadata."""
    pa.register_extension_type(_Strange())
    try:
        metadata = {"ARROW:extension:name": "test.strange", "ARROW:extension:metadata": "x"}
        schema = pa.schema([pa.field("a", pa.int8(), metadata=metadata)])
        assert resolved(schema) == schema
    finally:
        pa.unregister_extension_type("test.strange")


def test_a_batch_is_resolved_without_a_copy():
    """The extension array of a resolved batch lies over the stored bytes."""
    field = pa.field("u", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"})
    batch = pa.record_batch([pa.array([b"0" * 16], pa.binary(16))], schema=pa.schema([field]))

    shown = resolved_batch(batch)

    assert shown.schema == resolved(batch.schema)
    assert shown.column(0).storage.buffers()[1].address == batch.column(0).buffers()[1].address

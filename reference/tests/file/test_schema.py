"""Schemas: the flat list of fields, its tree, and what the format cannot describe."""

import struct
from contextlib import suppress

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, NotFound, Place, SchemaRefused
from lanceref.core.limits import Limits
from lanceref.file.arrow_schema import schema_message, schema_of
from lanceref.file.schema import parse_schema
from lanceref.file.schema_view import project
from lanceref.proto import file_pb2

BFLOAT16_ITEM = pa.field("item", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16"})
CLUSTERED = {"lance-schema:unenforced-clustering-key:position": "3", "k": "v"}
PRIMARY = "lance-schema:unenforced-primary-key"
SCHEMAS = {
    "extensions": pa.schema(
        [("j", pa.json_()), ("u", pa.uuid()), ("l", pa.list_(pa.uuid(), 3)), ("b", pa.bool8())]
    ),
    "own ids": pa.schema(
        [
            pa.field("a", pa.list_(pa.int32()), metadata={"lance:field_id": "7"}),
            pa.field("b", pa.int8()),
        ]
    ),
    "nested": pa.schema(
        [
            ("m", pa.map_(pa.string(), pa.field("zz", pa.int32(), False))),
            ("f", pa.list_(pa.field("q", pa.struct([("x", pa.int8())]), False), 2)),
            ("e", pa.struct([])),
            ("l", pa.large_list(pa.field("el", pa.struct([("x", pa.large_string())]), False))),
        ],
        metadata={"x": "y"},
    ),
    "keys": pa.schema(
        [
            pa.field("c", pa.int32(), False, CLUSTERED),
            pa.field("p", pa.int32(), False, {PRIMARY: "YES"}),
            pa.field("q", pa.int8(), False, {f"{PRIMARY}:position": "3"}),
        ]
    ),
    "leaves": pa.schema(
        [
            ("d", pa.decimal128(10, -2)),
            ("h", pa.list_(pa.list_(pa.float16(), 2), 3)),
            ("t", pa.timestamp("us", "+05:30")),
            ("k", pa.dictionary(pa.int8(), pa.string(), ordered=True)),
            ("n", pa.null()),
            ("v", pa.list_(BFLOAT16_ITEM, 4)),
            ("w", pa.string_view()),
        ]
    ),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_written_parses_to_the_same_tree(name):
    """The message of a schema is read as that schema."""
    written = schema_of(SCHEMAS[name])
    message = schema_message(written)

    read = parse_schema(message.fields, dict(message.metadata), Context("f"), Place("f", 0))

    assert read == written


def test_a_schema_is_as_deep_as_the_limit_at_most():
    """Of three fields below each other the last is at depth 2."""
    type_ = pa.struct([("b", pa.struct([("c", pa.int8())]))])
    fields, found = schema_message(schema_of(pa.schema([("a", type_)]))).fields, []
    for depth in (1, 2, 3):
        ctx = Context("f", limits=Limits(depth=depth))
        with suppress(BadSchema):
            found.append((depth, len([*parse_schema(fields, {}, ctx, ctx.at(0)).flat()])))
    assert [(2, 3), (3, 3)] == found


@pytest.mark.oracle
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_message_is_the_oracles(tmp_path, name):
    """Every field of every field message is equal."""
    from lance.file import LanceFileWriter

    with LanceFileWriter(str(tmp_path / "f"), SCHEMAS[name], version="2.2"):
        pass
    data = (tmp_path / "f").read_bytes()
    (table,) = struct.unpack_from("<Q", data, len(data) - 24)
    offset, size = struct.unpack_from("<QQ", data, table)
    theirs = file_pb2.FileDescriptor.FromString(data[offset : offset + size]).schema

    assert schema_message(schema_of(SCHEMAS[name])) == theirs


def test_ids_go_on_after_the_highest_given_one():
    """A field with `lance:field_id` 7 makes the others 8, 9 and so on, depth first."""
    flat = schema_of(SCHEMAS["own ids"]).flat()

    assert [("a", 7, -1), ("item", 8, 7), ("b", 9, -1)] == [
        (field.name, field.id, field.parent_id) for field in flat
    ]


def with_id(name: str, own_id: int) -> pa.Field:
    """A field whose metadata states its id."""
    return pa.field(name, pa.int8(), metadata={"lance:field_id": str(own_id)})


def test_ids_go_on_after_the_highest_of_several_and_up_to_31_bits():
    """It need not be the last one given; the last id of all is 2**31 - 1."""
    mixed = schema_of(pa.schema([with_id("a", 9), with_id("b", 3), ("c", pa.int8())]))
    last = schema_of(pa.schema([with_id("a", 2**31 - 2), ("b", pa.int8())]))

    assert [9, 3, 10] == [field.id for field in mixed.fields]
    assert [2**31 - 2, 2**31 - 1] == [field.id for field in last.fields]
    assert [field.id for field in schema_message(last).fields] == [2**31 - 2, 2**31 - 1]


REFUSED = {
    "dot": [("a.b", pa.int8())],
    "null byte": [("a\0b", pa.int8())],
    "id of 32 bits": [with_id("a", 2**31)],
    "no id left": [with_id("a", 2**31 - 1), ("b", pa.int8())],
    "id 0 twice": [with_id("a", 0), with_id("b", 0)],
    "name twice": [("a", pa.int8()), ("a", pa.int8())],
    "id twice": [with_id(name, 7) for name in "ab"],
    "decimal32": [("a", pa.decimal32(5, 2))],
    "list view": [("a", pa.list_view(pa.int8()))],
    "interval": [("a", pa.month_day_nano_interval())],
    "run-end": [("a", pa.run_end_encoded(pa.int32(), pa.int32()))],
    "dictionary of times": [("a", pa.dictionary(pa.int8(), pa.timestamp("us")))],
    "lists in vectors": [("a", pa.list_(pa.list_(pa.int8()), 2))],
    "sorted map": [("a", pa.map_(pa.int8(), pa.int8(), keys_sorted=True))],
    "key that may be null": [pa.field("a", pa.int8(), metadata={PRIMARY: "true"})],
}


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED)
def test_what_the_format_cannot_describe_is_refused(fields):
    """A RuntimeError, as pylance raises it, and a ValueError too."""
    with pytest.raises(SchemaRefused) as caught:
        schema_of(pa.schema(fields))

    assert isinstance(caught.value, RuntimeError)


TREE = schema_of(
    pa.schema(
        [
            pa.field("a", pa.int32()),
            pa.field("s", pa.struct([("x", pa.string()), ("l", pa.list_(pa.float64()))])),
        ]
    )
)


def test_projection_keeps_the_order_asked_for_and_prunes_structs():
    """`s.x` keeps x alone; the order of the names is that of the result."""
    fields = project(TREE, ["s.x", "a"])

    assert ["s", "a"] == [field.name for field in fields]
    assert pa.struct([("x", pa.string())]) == fields[0].arrow.type
    for name in ("zz", "a.b", "s.zz", "s.l.item", ""):
        with pytest.raises(NotFound):
            project(TREE, [name])

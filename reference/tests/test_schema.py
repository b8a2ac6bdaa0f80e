"""Schemas under their public names."""

import json
import pickle

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V2_2
from lanceref_testing.types import arrow_types, type_names
from pylanceref.schema import LanceSchema, json_to_schema, schema_to_json

SCHEMA = pa.schema(
    [
        pa.field("a", pa.int64(), False, {"lance-schema:unenforced-primary-key:position": "2"}),
        pa.field("s", pa.struct([pa.field("C", pa.list_(pa.utf8()))])),
        pa.field("k", pa.int8(), False, {"lance-schema:unenforced-primary-key:position": "1"}),
        pa.field("c", pa.int8(), True, {"lance-schema:unenforced-clustering-key:position": "3"}),
    ],
    metadata={"x": "y"},
)


def test_fields_have_names_ids_and_children(tmp_path):
    """A renamed field keeps its id."""
    made = pylanceref.write_dataset(SCHEMA.empty_table(), tmp_path)
    schema = made.lance_schema

    assert SCHEMA == schema.to_pyarrow()
    assert schema == LanceSchema.from_pyarrow(SCHEMA) == pickle.loads(pickle.dumps(schema))
    assert [("a", 0), ("s", 1), ("k", 4), ("c", 5)] == [(f.name(), f.id()) for f in schema.fields()]
    (inner,) = schema.fields()[1].children()
    assert ("C", 2, ["item"]) == (inner.name(), inner.id(), [f.name() for f in inner.children()])
    assert repr(schema).startswith("Schema { fields: [Field { name: 'a', id: 0, children: [")
    made.alter_columns({"path": "s.C", "name": "D"})
    assert 2 == made.lance_schema.field("s.D").id()


def test_fields_are_found_by_path():
    """In another case only where that is asked for."""
    schema = LanceSchema.from_pyarrow(SCHEMA)
    assert 3 == schema.field("s.C.item").id()
    assert schema.field("s.c") is None
    assert 2 == schema.field_case_insensitive("S.c").id()
    assert schema.field_case_insensitive("s.z") is None
    assert pa.field("item", pa.utf8()) == schema.field("s.C.item").to_arrow()


def test_keys_are_in_their_order():
    """A key without a place is one too."""
    schema = LanceSchema.from_pyarrow(SCHEMA)
    assert ["k", "a"] == [one.name() for one in schema.unenforced_primary_key()]
    assert [2, 1] == [schema.field(n).unenforced_primary_key_position() for n in "ak"]
    assert ["c"] == [one.name() for one in schema.unenforced_clustering_key()]
    assert {"lance-schema:unenforced-clustering-key:position": "3"} == schema.field("c").metadata
    marked = pa.field("a", pa.int8(), False, {"lance-schema:unenforced-primary-key": "true"})
    (key,) = LanceSchema.from_pyarrow(pa.schema([marked])).unenforced_primary_key()
    assert key.unenforced_primary_key_position() is None


def test_json_by_hand():
    """Metadata only where there is some."""
    held = {
        "fields": [
            {
                "name": "v",
                "type": {
                    "type": "fixed_size_list",
                    "fields": [{"name": "item", "type": {"type": "float"}, "nullable": True}],
                    "length": 4,
                },
                "nullable": False,
                "metadata": {"k": "v"},
            }
        ],
        "metadata": {"x": "y"},
    }
    schema = pa.schema(
        [pa.field("v", pa.list_(pa.float32(), 4), False, {"k": "v"})], metadata={"x": "y"}
    )
    assert held == schema_to_json(schema)
    assert schema.equals(json_to_schema(held), check_metadata=True)


@given(arrow_types(V2_2, 2))
def test_types_come_back_from_json(type_):
    """As text in between."""
    schema = pa.schema([pa.field("f", type_)])
    if {"map", "json"} & set(type_names(type_)):
        return
    assert schema == json_to_schema(json.loads(json.dumps(schema_to_json(schema))))


@pytest.mark.parametrize(
    "held",
    [
        {},
        {"fields": [{"name": "x", "type": {"type": "int8"}}]},
        {"fields": [{"name": "x", "nullable": True, "type": {"type": "foo"}}]},
        {"fields": [{"name": "x", "nullable": True, "type": {"type": "fixed_size_list"}}]},
    ],
)
def test_other_json_is_refused(held):
    """As a ValueError."""
    with pytest.raises(SchemaRefused):
        json_to_schema(held)


@pytest.mark.parametrize("type_", [pa.map_(pa.utf8(), pa.int8()), pa.string_view(), pa.json_()])
def test_types_without_a_form_are_refused(type_):
    """As a ValueError."""
    with pytest.raises(SchemaRefused):
        schema_to_json(pa.schema([pa.field("f", type_)]))


@pytest.mark.oracle
def test_the_oracle_has_the_same_json_and_keys():
    """Of every type that the format has by name."""
    import lance
    from lance.schema import LanceSchema as Theirs
    from lanceref.core.logical_types import _NAMES

    for type_ in [*_NAMES, pa.binary(3), pa.list_(pa.int8()), pa.list_(pa.int8(), 2)]:
        schema = pa.schema([pa.field("f", type_), pa.field("g", pa.struct([("x", type_)]))])
        try:
            wanted = lance.schema_to_json(schema)
        except ValueError:
            continue
        assert wanted == schema_to_json(schema)
    theirs, ours = Theirs.from_pyarrow(SCHEMA), LanceSchema.from_pyarrow(SCHEMA)
    for name in ("unenforced_primary_key", "unenforced_clustering_key"):
        wanted = [(one.name(), one.id()) for one in getattr(theirs, name)()]
        assert wanted == [(one.name(), one.id()) for one in getattr(ours, name)()]

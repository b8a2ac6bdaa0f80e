"""Schemas, statistics and other names of the modules of pylance."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pylanceref
import pylanceref.lance
import pytest
from hypothesis import given
from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V2_2
from lanceref_testing.types import arrow_types, type_names
from pylanceref.debug import format_fragment
from pylanceref.schema import LanceSchema, json_to_schema, schema_to_json
from pylanceref.vector import vec_to_table
from tests.index.tables import write

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
    assert repr(schema).startswith("Schema {") and "'a'" in repr(schema)
    made.alter_columns({"path": "s.C", "name": "D"})
    assert 2 == made.lance_schema.field("s.D").id()


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
    """A type is the same after its JSON was written as text and read."""
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
    """JSON that describes no schema raises a ValueError."""
    with pytest.raises(SchemaRefused):
        json_to_schema(held)


@pytest.mark.oracle
def test_the_oracle_has_the_same_json():
    """Of every type that the format has by name."""
    import lance
    from lanceref.file.arrow_schema import NAMES

    for type_ in [*NAMES, pa.binary(3), pa.list_(pa.int8()), pa.list_(pa.int8(), 2)]:
        schema = pa.schema([pa.field("f", type_), pa.field("g", pa.struct([("x", type_)]))])
        try:
            wanted = lance.schema_to_json(schema)
        except ValueError:
            continue
        assert wanted == schema_to_json(schema)


ROWS = pa.table(
    {
        "a": pa.array(range(3000)),
        "s": pa.array([{"x": n, "y": f"text {n}"} for n in range(3000)]),
        "l": pa.array([[n, n + 1] for n in range(3000)]),
    }
)


def _made(module, root, version="2.1"):
    made = module.write_dataset(ROWS, root, max_rows_per_file=1000, data_storage_version=version)
    made.delete("a < 10")
    return module.dataset(root)


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_the_oracle_counts_the_same(tmp_path, version):
    """Statistics of a table that the oracle wrote are those of the oracle."""
    import lance

    theirs = _made(lance, str(tmp_path), version)
    ours = pylanceref.dataset(str(tmp_path))
    assert theirs.stats.dataset_stats() == ours.stats.dataset_stats()
    wanted = {one.id: one.bytes_on_disk for one in theirs.stats.data_stats().fields}
    assert wanted == {one.id: one.bytes_on_disk for one in ours.stats.data_stats().fields}


VECTORS = {"a": [1.0, 2.0], "b": [3.0, 4.0]}


def test_names_of_columns():
    """A dictionary has ids, a list and an array have not."""
    table = vec_to_table(VECTORS)
    assert table.to_pydict() == {"id": ["a", "b"], "vector": [[1.0, 2.0], [3.0, 4.0]]}
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 2)
    array = np.array([[1.0, 2.0]])
    assert vec_to_table(array, names="v").column_names == ["v"]
    assert vec_to_table([[1.0, 2.0]]).column_names == ["vector"]


def test_what_is_refused():
    """Vectors of several lengths, and what holds none."""
    with pytest.raises(ValueError, match="same length"):
        vec_to_table([[1.0], [1.0, 2.0]])
    with pytest.raises(NotImplementedError):
        vec_to_table("abc")


def test_a_fragment_is_shown_with_its_files(tmp_path):
    """The version of the file format is named for each file."""
    dataset = write(pa.table({"i": [1, 2]}), tmp_path)
    (fragment,) = dataset.get_fragments()

    assert "file_major_version: 2\n" in format_fragment(fragment.metadata, dataset)


def test_a_new_table_needs_no_migration(tmp_path):
    """Unless its fragments say less than they should."""
    dataset = write(pa.table({"i": [1, 2]}), tmp_path)

    assert not pylanceref.lance.manifest_needs_migration(dataset)
    dataset._snapshot.manifest.message.fragments[0].physical_rows = 0
    assert pylanceref.lance.manifest_needs_migration(dataset)
    dataset._snapshot.manifest.message.fragments[0].physical_rows = 2
    dataset._snapshot.manifest.message.fragments[0].deletion_file.read_version = 1
    assert pylanceref.lance.manifest_needs_migration(dataset)


@pytest.mark.oracle
@pytest.mark.parametrize("name", pylanceref.lance.__all__)
def test_pylance_has_every_name(name):
    """Every name is in the same module of pylance."""
    import lance.lance

    assert hasattr(lance.lance, name)


def test_fields_are_found_by_path():
    """Of names in the same case."""
    schema = LanceSchema.from_pyarrow(SCHEMA)
    assert 3 == schema.field("s.C.item").id()
    assert schema.field("s.c") is None
    assert pa.field("item", pa.utf8()) == schema.field("s.C.item").to_arrow()


@pytest.mark.parametrize("type_", [pa.map_(pa.utf8(), pa.int8()), pa.string_view(), pa.json_()])
def test_types_without_a_form_are_refused(type_):
    """As a ValueError."""
    with pytest.raises(SchemaRefused):
        schema_to_json(pa.schema([pa.field("f", type_)]))

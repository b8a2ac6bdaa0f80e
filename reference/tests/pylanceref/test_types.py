"""Schemas, statistics and other names of the modules of pylance; its type bfloat16."""

import json
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pyarrow as pa
import pylanceref
import pylanceref.lance
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V2_2
from lanceref_testing.types import arrow_types, type_names
from pylanceref.arrow import BFloat16, BFloat16Array, BFloat16Type, bfloat16_array, cast
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
    assert 3 == schema.field("s.C.item").id() == schema.field("s.`C`.item").id()
    assert schema.field("s.c") is None
    assert pa.field("item", pa.utf8()) == schema.field("s.C.item").to_arrow()
    assert repr(schema).startswith("Schema {") and "'a'" in repr(schema)
    made.alter_columns({"path": "s.C", "name": "D"})
    assert 2 == made.lance_schema.field("s.D").id()


def test_json_by_hand():
    """Metadata only where there is some."""
    item = {"name": "item", "type": {"type": "float"}, "nullable": True}
    kind = {"type": "fixed_size_list", "fields": [item], "length": 4}
    vector = {"name": "v", "type": kind, "nullable": False, "metadata": {"k": "v"}}
    held = {"fields": [vector], "metadata": {"x": "y"}}
    field = pa.field("v", pa.list_(pa.float32(), 4), False, {"k": "v"})
    schema = pa.schema([field], metadata={"x": "y"})
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
    """JSON that describes no schema raises a ValueError, as do types that have no form in JSON."""
    with pytest.raises(SchemaRefused):
        json_to_schema(held)
    for type_ in (pa.map_(pa.utf8(), pa.int8()), pa.string_view(), pa.json_()):
        with pytest.raises(SchemaRefused):
            schema_to_json(pa.schema([pa.field("f", type_)]))


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


def test_vectors_become_a_table():
    """A dictionary has ids, a list and an array have not; vectors have one length."""
    table = vec_to_table(VECTORS)
    assert table.to_pydict() == {"id": ["a", "b"], "vector": [[1.0, 2.0], [3.0, 4.0]]}
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 2)
    array = np.array([[1.0, 2.0]])
    assert vec_to_table(array, names="v").column_names == ["v"]
    assert vec_to_table([[1.0, 2.0]]).column_names == ["vector"]
    with pytest.raises(ValueError, match="same length"):
        vec_to_table([[1.0], [1.0, 2.0]])
    with pytest.raises(NotImplementedError):
        vec_to_table("abc")


def test_a_new_table_needs_no_migration(tmp_path):
    """Unless its fragments say less than they should."""
    dataset = write(pa.table({"i": [1, 2]}), tmp_path)

    assert not pylanceref.lance.manifest_needs_migration(dataset)
    dataset._snapshot.manifest.message.fragments[0].physical_rows = 0
    assert pylanceref.lance.manifest_needs_migration(dataset)
    dataset._snapshot.manifest.message.fragments[0].physical_rows = 2
    dataset._snapshot.manifest.message.fragments[0].deletion_file.read_version = 1
    assert pylanceref.lance.manifest_needs_migration(dataset)


NEAREST = [(1.124565, "1.125"), (0.1, "0.100097656"), (-0.0, "-0"), (float("inf"), "inf")]


@pytest.mark.parametrize(("number", "text"), [*NEAREST, (float("nan"), "NaN"), (1.0, "1")])
def test_the_text_of_a_value(number, text):
    """As short as tells it from its neighbours, without an exponent."""
    assert text == str(BFloat16(number)) == repr(BFloat16(number))


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=30))
def test_numpy_has_the_same_values(numbers):
    """Values survive the way to NumPy and back."""
    values = np.array(numbers, np.float32).astype(ml_dtypes.bfloat16)
    array = BFloat16Array.from_numpy(values)

    assert array.equals(bfloat16_array(numbers))
    assert values.tobytes() == array.to_numpy().tobytes()


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_floats_are_cast(kind):
    """Floats are cast to bfloat16 and from it, also inside of lists."""
    floats = pa.array([1.0, 2.0, 3.0, 4.0]).cast(kind)
    lists = pa.FixedSizeListArray.from_arrays(floats, 2)
    made = cast(lists, pa.list_(BFloat16Type(), 2))

    assert bfloat16_array([1.0, 2.0, 3.0, 4.0]) == made.values == cast(floats, "bf16")
    assert floats == cast(cast(floats, BFloat16Type()), kind)
    assert lists == cast(made, lists.type)


def test_other_casts():
    """Those of pyarrow, and what is refused."""
    assert pa.array(["1"]) == cast(pa.array([1]), pa.string())
    for array, target, told in [
        (bfloat16_array([1.0]), pa.int32(), "to floating array,got: int32"),
        (pa.array([1]), "bfloat16", "Only support casting floating array"),
        (pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)), pa.list_(pa.float32(), 1), "same size"),
    ]:
        with pytest.raises(ValueError, match=told):
            cast(array, target)


READ = """
import sys
import pylanceref, pyarrow as pa
import pylanceref.arrow as types
tensor = pa.fixed_shape_tensor(types.BFloat16Type(), [3])
values = types.bfloat16_array([float(i) for i in range(9)])
vectors = pa.FixedSizeListArray.from_arrays(values, 3)
table = pa.table({
    "value": values.slice(0, 3),
    "vector": vectors,
    "tensor": pa.ExtensionArray.from_storage(tensor, vectors),
})
made = pylanceref.write_dataset(table, sys.argv[1])
assert table.schema == made.schema, made.schema
assert table == made.to_table()
"""


def _run(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


@pytest.mark.oracle
def test_what_we_write_is_the_oracles_type(tmp_path):
    """The oracle reads the same table with its own type."""
    path = str(tmp_path / "t")
    _run(READ, path)
    _run(
        "import lance, lance.arrow, sys\n"
        "table = lance.dataset(sys.argv[1]).to_table()\n"
        "assert isinstance(table['value'].type, lance.arrow.BFloat16Type)\n"
        "assert '8' == str(table['vector'].chunk(0).values[8].as_py())\n",
        path,
    )


def test_values_are_ordered_and_have_two_bytes():
    """Among each other only; the upper bytes of a float32, no more or fewer."""
    one, more = BFloat16(1.0), BFloat16(1.1)

    assert one < more and one <= more and more > one and more >= one and one != more
    assert BFloat16(1.124565) == BFloat16(1.125)
    assert one != 1.0
    with pytest.raises(TypeError):
        _ = one < 2.0
    assert BFloat16(1.5) == BFloat16.from_bytes(b"\xc0\x3f")
    assert 1.5 == float(str(BFloat16.from_bytes(b"\xc0\x3f")))
    for wrong in (b"", b"\x00", b"\x00\x00\x00"):
        with pytest.raises(ValueError, match=f"expected 2 bytes, got {len(wrong)}"):
            BFloat16.from_bytes(wrong)


def test_an_array_with_a_null():
    """By value, as text, as storage."""
    array = bfloat16_array([1.1, None, 3.4])

    assert [BFloat16(1.1), None, BFloat16(3.4)] == array.to_pylist()
    assert str(array) == "[\n  1.1015625,\n  None,\n  3.40625\n]"
    assert repr(array).startswith("<lance.arrow.BFloat16Array object at 0x")
    assert array.storage.to_pylist() == [b"\x8d\x3f", None, b"\x5a\x40"]
    assert array[0] == BFloat16(1.1) and array[0] == array[0] and array[0] != array[2]
    assert array[0] == ml_dtypes.bfloat16(1.1)
    long = str(bfloat16_array(range(30))).splitlines()  # ten values of each end
    assert ["[", "  0,", "...,", "  20,", "]"] == [long[i] for i in (0, 1, 11, 12, 22)]
    with pytest.raises(ValueError, match="null"):
        array.to_numpy()
    with pytest.raises(TypeError, match="must be real number, not str"):
        bfloat16_array(["x"])

"""Columns in other types."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EvolutionRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.operations.schema_evolution import (
    cast_field,
    cast_within,
    find_field,
    ids_of,
    keep_fields,
)

KIND = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.struct([("p", pa.int8())]))])
SCHEMA = schema_of(pa.schema([pa.field("n", KIND), pa.field("l", pa.list_(KIND))]))
VALUES = pa.array([{"x": 1, "y": "a", "z": {"p": 7}}, None, {"x": None, "y": "b", "z": None}], KIND)


def test_a_field_below_a_struct_gets_an_id_of_its_own():
    """It stays where it was; in a list nothing is cast."""
    held = find_field(SCHEMA, "n.z.p")
    made = cast_field(SCHEMA, held, pa.int64(), 40)

    assert (40, held.parent_id, "p", "int64") == (
        made.id,
        made.parent_id,
        made.name,
        made.logical_type,
    )
    assert {held.id} == ids_of(held)
    with pytest.raises(EvolutionRefused, match="cannot be cast"):
        cast_field(SCHEMA, find_field(SCHEMA, "l.item.x"), pa.int64(), 40)


def test_values_come_in_structs_that_are_null_where_they_were():
    """Nothing else of the struct comes along."""
    ids = [find_field(SCHEMA, "n.x").id, find_field(SCHEMA, "n.z.p").id]
    held = SCHEMA.fields[0]

    assert [{"x": 1, "z": {"p": 7}}, None, {"x": None, "z": None}] == (
        cast_within(VALUES, held, keep_fields(SCHEMA, ids).fields[0], ids).to_pylist()
    )


@pytest.mark.oracle
def test_the_oracle_casts_alike(tmp_path):
    """Schema, files and rows, nulls of structs among them."""
    import lance

    held = []
    for module in (lance, pylanceref):
        path = str(tmp_path / module.__name__)
        made = module.write_dataset(pa.table({"k": [1, 2, 3], "n": VALUES}), path)
        made.alter_columns(
            {"path": "n.z.p", "data_type": pa.int32()}, {"path": "n.x", "data_type": pa.int64()}
        )
        found = pylanceref.dataset(path)._snapshot.manifest.message
        files = [list(file.fields) for one in found.fragments for file in one.files]
        fields = [(one.id, one.parent_id, one.logical_type) for one in found.fields]
        held.append(
            (fields, files, lance.dataset(path).to_table(), pylanceref.dataset(path).to_table())
        )

    assert held[0] == held[1]


@pytest.mark.parametrize("version", ["0.1", "2.0"])
def test_a_struct_with_a_column_of_its_own_is_not_cast(tmp_path, version):
    """Its validity would lie in two files."""
    rows = pa.table({"n": [{"x": 1}]})
    made = pylanceref.write_dataset(rows, tmp_path, data_storage_version=version)
    with pytest.raises(EvolutionRefused, match="cannot be cast"):
        made.alter_columns({"path": "n.x", "data_type": pa.int32()})


@pytest.mark.oracle
def test_the_oracle_cannot_read_what_it_cast_in_2_0(tmp_path):
    """D.table.nested-cast-2-0: that is why it is refused here."""
    import lance

    rows = pa.table({"n": [{"x": 1, "y": 2}]})
    made = lance.write_dataset(rows, str(tmp_path), data_storage_version="2.0")
    made.alter_columns({"path": "n.x", "data_type": pa.int32()})

    with pytest.raises(ValueError, match="fewer column indices"):
        lance.dataset(str(tmp_path)).to_table()

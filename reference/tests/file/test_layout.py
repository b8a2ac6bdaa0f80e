"""Which fields own a column."""

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, Place
from lanceref.core.file_versions import V2_0, V2_1
from lanceref.data_file.data_file import assign_columns, column_owners, indices_of
from lanceref.file.schema import parse_schema
from lanceref.proto.file_pb2 import Field

PLACE = Place("f", 0)


def _schema(**packed):
    fields = [
        Field(name="s", id=0, parent_id=-1, logical_type="struct", metadata=packed),
        Field(name="x", id=1, parent_id=0, logical_type="int32"),
        Field(name="l", id=2, parent_id=0, logical_type="list"),
        Field(name="item", id=3, parent_id=2, logical_type="string"),
        Field(name="v", id=4, parent_id=-1, logical_type="fixed_size_list:float:4"),
    ]
    return parse_schema(fields, {}, Context("f"), PLACE)


def _owners(version, **packed):
    return [owner.id for top in _schema(**packed).fields for owner in column_owners(top, version)]


def columns(count):
    """So many columns, into which nobody looks from 2.1 on."""
    return [object()] * count


def test_in_2_0_structs_and_lists_own_a_column():
    """Header, x, offsets, item, vector: five columns."""
    assert [0, 1, 2, 3, 4] == _owners(V2_0)


def test_from_2_1_on_only_leaves_do():
    """x, item, vector: three columns."""
    assert [1, 3, 4] == _owners(V2_1)


@pytest.mark.parametrize("version", [V2_0, V2_1])
def test_a_packed_struct_is_one_column(version):
    """Its fields own none, in any version."""
    assert [0, 4] == _owners(version, packed=b"true")


def test_columns_are_assigned_in_order():
    """Leaf ids to column numbers, and back for a field."""
    schema = _schema()
    assigned = assign_columns(schema, V2_1, columns(3), Context("f"), PLACE)

    assert {1: 0, 3: 1, 4: 2} == assigned
    assert [0, 1] == list(indices_of(schema.fields[0], V2_1, assigned, PLACE))


@pytest.mark.parametrize("num_columns", [2, 4])
def test_columns_without_a_field_are_refused_as_fields_without_a_column(num_columns):
    """Three fields own a column: a lost field would else be lost rows, silently."""
    with pytest.raises(BadSchema, match=f"found {num_columns} columns, wanted 3"):
        assign_columns(_schema(), V2_1, columns(num_columns), Context("f"), PLACE)


def test_validation_goes_on_after_a_spare_column():
    """The fields still find theirs; a missing column ends it."""
    findings = []
    context = Context("f", findings=findings)

    assert {1: 0, 3: 1, 4: 2} == assign_columns(_schema(), V2_1, columns(4), context, PLACE)
    assert ["L.file.schema.num-columns"] == [finding.clause for finding in findings]
    with pytest.raises(BadSchema):
        assign_columns(_schema(), V2_1, columns(2), context, PLACE)


def test_a_field_without_a_column_is_refused():
    """The table may ask for a field that the file does not hold."""
    with pytest.raises(BadSchema):
        indices_of(_schema().fields[1], V2_1, {}, PLACE)

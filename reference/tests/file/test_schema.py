"""Schema: flat list to tree."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, NotFound, Place
from lanceref.file.schema import parse_schema, project
from lanceref.proto.file_pb2 import Field

PLACE = Place("f", 0)
FIELDS = [
    Field(name="a", id=0, parent_id=-1, logical_type="int32", nullable=True),
    Field(name="s", id=1, parent_id=-1, logical_type="struct"),
    Field(name="x", id=2, parent_id=1, logical_type="string", nullable=True),
    Field(name="l", id=3, parent_id=1, logical_type="list", nullable=True),
    Field(name="item", id=4, parent_id=3, logical_type="double", nullable=True),
]


def _parse(fields, findings=None):
    return parse_schema(fields, {}, Context("f", findings=findings), PLACE)


def test_the_list_becomes_a_tree():
    """Parents are named by id; the Arrow schema is that of the tree."""
    schema = _parse(FIELDS)
    wanted = pa.schema(
        [
            pa.field("a", pa.int32()),
            pa.field("s", pa.struct([("x", pa.string()), ("l", pa.list_(pa.float64()))]), False),
        ]
    )

    assert wanted == schema.arrow
    assert [0, 1, 2, 3, 4] == [field.id for field in schema.flat()]


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        ({"parent_id": 9}, "L.file.schema.parent-first"),
        ({"id": 0}, "L.file.schema.unique-ids"),
        ({"id": -7}, "L.file.schema.unique-ids"),
        ({"logical_type": "fhxed"}, "L.file.schema.logical-type"),
        ({"name": "a"}, "L.file.schema.top-level-names"),
        ({"name": "b.c"}, "L.file.schema.top-level-names"),
        ({"logical_type": "list"}, "L.file.schema.children"),
    ],
)
def test_a_broken_list_names_its_clause(change, clause):
    """One fault in an added top-level field."""
    last = Field(name="z", id=9, parent_id=-1, logical_type="int8")
    for name, value in change.items():
        setattr(last, name, value)

    with pytest.raises(BadSchema) as caught:
        _parse([*FIELDS, last])
    assert clause == caught.value.clause


def test_a_parent_after_its_child_is_refused():
    """Order matters: parents come first."""
    with pytest.raises(BadSchema):
        _parse([FIELDS[2], FIELDS[1]])


def test_extension_names_agree_with_metadata():
    """A lone extension_name fills the metadata, and a validator reports it."""
    field = Field(name="e", id=0, parent_id=-1, logical_type="fixed_size_binary:16")
    field.extension_name = "arrow.uuid"
    findings = []
    schema = _parse([field], findings)

    assert "arrow.uuid" == schema.fields[0].metadata["ARROW:extension:name"]
    assert ["L.file.schema.extension-name"] == [finding.clause for finding in findings]


def test_deep_nesting_is_bounded():
    """Types nested deeper than the limit are refused, not recursed into."""
    chain = [Field(name="l", id=i, parent_id=i - 1, logical_type="list") for i in range(500)]

    with pytest.raises(BadSchema):
        _parse(chain)


def test_projection_keeps_the_order_asked_for_and_prunes_structs():
    """`s.x` keeps only x; the order of the names is that of the result."""
    fields = project(_parse(FIELDS), ["s.x", "a"])

    assert ["s", "a"] == [field.name for field in fields]
    assert pa.struct([("x", pa.string())]) == fields[0].arrow.type


@pytest.mark.parametrize("name", ["zz", "a.b", "s.zz", "s.l.item", ""])
def test_an_unknown_column_is_not_found(name):
    """Projection of what the schema does not have."""
    with pytest.raises(NotFound):
        project(_parse(FIELDS), [name])

"""Projection: names to columns."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import NotFound
from lanceref.file.schema import parse_schema
from lanceref.proto.file_pb2 import Field
from lanceref.search.projection import scan_projection, take_projection

CTX = Context("m")


def _field(number, parent, name, type_, nullable=True):
    return Field(id=number, parent_id=parent, name=name, logical_type=type_, nullable=nullable)


SCHEMA = parse_schema(
    [
        _field(0, -1, "a", "int64", nullable=False),
        _field(1, -1, "s", "struct"),
        _field(2, 1, "x", "int32", nullable=False),
        _field(3, 1, "t", "struct"),
        _field(4, 3, "p", "string"),
        _field(5, 3, "q", "string"),
    ],
    {},
    CTX,
    CTX.at(0),
)
A = pa.array([1, 2])


def _names(columns, *system):
    return [(f.name, str(f.type)) for f in scan_projection(SCHEMA, columns, system).schema]


def test_a_scan_returns_nested_parts_as_columns():
    """In the order asked for, system columns asked for by argument last."""
    assert [
        ("a", "int64"),
        ("s", "struct<x: int32 not null, t: struct<p: string, q: string>>"),
    ] == (_names(None))
    assert [("s.t.q", "string"), ("a", "int64"), ("s.x", "int32")] == _names(["s.t.q", "a", "s.x"])
    assert [("s.x", "int32"), ("s.t", "struct<p: string, q: string>")] == _names(["s.x", "s.t"])
    assert [("_rowaddr", "uint64"), ("a", "int64"), ("_rowid", "uint64")] == (
        _names(["_rowid", "_rowaddr", "a"], "_rowid")
    )


def test_a_nested_part_is_null_where_its_parents_are():
    """So it is nullable where anything above it is, in its type and in its values."""
    projection = scan_projection(SCHEMA, ["s.x"])
    (field,) = projection.fields
    struct = pa.array([{"x": 1}, None], field.arrow.type)

    assert projection.schema.field("s.x").nullable
    assert [1, None] == projection.batch(2, [struct])["s.x"].to_pylist()


def test_a_take_returns_nested_parts_in_their_struct():
    """In the order of the schema below, of the names above."""
    schema = take_projection(SCHEMA, ["s.t.q", "a", "s.x", "a"]).schema

    assert ["s", "a"] == schema.names
    assert "struct<x: int32 not null, t: struct<q: string>>" == str(schema.field("s").type)
    assert ["_rowid", "a"] == take_projection(SCHEMA, ["_rowid", "a"]).schema.names


def test_only_what_is_asked_for_is_read():
    """Pruned fields; a struct that is also asked for whole is read once."""
    (one,) = scan_projection(SCHEMA, ["s.t.p"]).fields
    (whole,) = scan_projection(SCHEMA, ["s.x", "s"]).fields

    assert [1, 3, 4] == [field.id for field in one.flat()]
    assert 5 == len(list(whole.flat()))


def test_no_columns_have_rows():
    """As many as were scanned."""
    assert 3 == scan_projection(SCHEMA, []).batch(3, []).num_rows


@pytest.mark.parametrize("name", ["z", "s.z", "a.x", "s.t.z", "", "."])
@pytest.mark.parametrize("resolve", [scan_projection, take_projection])
def test_an_unknown_name_is_not_found(name, resolve):
    """At any depth."""
    with pytest.raises(NotFound):
        resolve(SCHEMA, [name])


def test_a_name_is_given_once():
    """In a scan; a take passes over it."""
    with pytest.raises(ValueError, match="Duplicate column name: a"):
        scan_projection(SCHEMA, ["a", "a"])
    assert ["a"] == take_projection(SCHEMA, ["a", "a"]).schema.names

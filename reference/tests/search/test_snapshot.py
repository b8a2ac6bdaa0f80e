"""Snapshot and projection: one version of a table, and names to columns."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import NotFound, RowNotFound
from lanceref.file.schema import parse_schema
from lanceref.proto.file_pb2 import Field
from lanceref.search.snapshot import positions_of, scan_projection, take_projection


def test_row_numbers_are_checked_before_anything_is_read():
    """Lists, arrays of both libraries, any integer type."""
    for rows in ([2, 0], np.array([2, 0], np.uint8), pa.array([2, 0], pa.int16())):
        assert [2, 0] == positions_of(rows, 3).tolist()
    assert [] == positions_of([], 0).tolist()
    for rows, error in (
        ([3], RowNotFound),
        ([2**64 - 1], RowNotFound),
        ([-1], OverflowError),
        ([2**64], OverflowError),
        (np.array([-1]), RowNotFound),
    ):
        with pytest.raises(error):
            positions_of(rows, 3)


def test_positions_are_integers():
    """Positions that are no integers raise TypeError, whatever holds them."""
    for rows in ([1.5], pa.array([1.0]), np.array([0.0])):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            positions_of(rows, 4)
    assert [] == positions_of([], 4).tolist()


NESTED = pa.list_(pa.list_(pa.int8(), 2), 2)


@pytest.mark.parametrize("columns", [["a"], ["a", "n"], ["n"], []])
@pytest.mark.parametrize("version", ["0.1", "2.1"])
def test_batches_are_cut_at_the_same_rows(tmp_path, columns, version):
    """Of 30 rows in fragments of 20, one deleted: 8, 8 and the rest, whatever is read."""
    rows = pa.table({"a": range(30), "n": pa.array([[[n, n], [n, 1]] for n in range(30)], NESTED)})
    made = pylanceref.write_dataset(
        rows, tmp_path, max_rows_per_file=20, data_storage_version=version
    )
    made.delete("a = 3")
    scanner = made.scanner(columns=columns, batch_size=8, with_row_id=True)
    batches = list(scanner.to_batches())

    assert [8, 8, 3, 8, 2] == [batch.num_rows for batch in batches]
    kept = rows.filter(pc.field("a") != 3).select(columns)
    assert kept == pa.Table.from_batches(batches).select(columns)


PLACE = Context("m")


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
    PLACE,
    PLACE.at(0),
)


def test_a_nested_part_is_null_where_its_parents_are():
    """So it is nullable where anything above it is, in its type and in its values."""
    projection = scan_projection(SCHEMA, ["s.x"])
    (field,) = projection.fields
    struct = pa.array([{"x": 1}, None], field.arrow.type)

    assert projection.schema.field("s.x").nullable
    assert [1, None] == projection.batch(2, [struct])["s.x"].to_pylist()


def test_only_what_is_asked_for_is_read():
    """Pruned fields; a struct that is also asked for whole is read once."""
    (one,) = scan_projection(SCHEMA, ["s.t.p"]).fields
    (whole,) = scan_projection(SCHEMA, ["s.x", "s"]).fields

    assert [1, 3, 4] == [field.id for field in one.flat()]
    assert 5 == len(list(whole.flat()))


@pytest.mark.parametrize("name", ["z", "s.z", "a.x", "s.t.z", "", "."])
@pytest.mark.parametrize("resolve", [scan_projection, take_projection])
def test_an_unknown_name_is_not_found(name, resolve):
    """A name that no field has is not found, at any depth."""
    with pytest.raises(NotFound):
        resolve(SCHEMA, [name])

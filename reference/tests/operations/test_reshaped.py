"""Reshaped schemas."""

import pyarrow as pa
import pytest
from lanceref.core.errors import EvolutionRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.operations.schema_evolution import (
    check_cast,
    drop_fields,
    edit_field,
    find_field,
    renaming,
    with_nullable,
)

SCHEMA = schema_of(
    pa.schema({"a": pa.int64(), "s": pa.struct({"x": pa.int64(), "y": pa.list_(pa.utf8())})})
)


def test_fields_are_found_by_path():
    """Names with dots between; none for an unknown one."""
    assert [0, 1, 2, 3] == [find_field(SCHEMA, path).id for path in ("a", "s", "s.x", "s.y")]
    assert [None, None] == [find_field(SCHEMA, path) for path in ("z", "s.z")]


def test_a_nested_field_is_edited_in_its_struct():
    """The type of what is above follows; ids stay."""
    made = edit_field(edit_field(SCHEMA, 2, renaming("xx")), 3, with_nullable(False))

    wanted = pa.struct([pa.field("xx", pa.int64()), pa.field("y", pa.list_(pa.utf8()), False)])
    assert wanted == made.arrow.field("s").type
    assert [0, 1, 2, 3, 4] == [field.id for field in made.flat()]


def test_fields_are_dropped():
    """A nested one leaves its struct; an unknown one, or all, is refused."""
    assert pa.struct({"x": pa.int64()}) == drop_fields(SCHEMA, ["s.y"]).arrow.field("s").type
    assert ["s"] == drop_fields(SCHEMA, ["a"]).arrow.names
    with pytest.raises(EvolutionRefused, match="does not exist"):
        drop_fields(SCHEMA, ["s.z"])
    with pytest.raises(EvolutionRefused, match="all columns"):
        drop_fields(SCHEMA, ["a", "s"])


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.int64(), pa.int8()),
        (pa.float16(), pa.float64()),
        (pa.utf8(), pa.large_utf8()),
        (pa.list_(pa.int8()), pa.large_list(pa.int64())),
        (pa.list_(pa.float32(), 4), pa.list_(pa.float16(), 4)),
    ],
)
def test_values_of_one_kind_can_be_cast(held, wanted):
    """Numbers, text, lists of them."""
    check_cast("a", held, wanted)


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.int64(), pa.utf8()),
        (pa.int64(), pa.float64()),
        (pa.int64(), pa.list_(pa.int64())),
        (pa.list_(pa.int8()), pa.list_(pa.utf8())),
        (pa.struct({"x": pa.int8()}), pa.utf8()),
    ],
)
def test_values_of_another_kind_cannot(held, wanted):
    """Both types are named."""
    with pytest.raises(EvolutionRefused, match="Cannot cast"):
        check_cast("a", held, wanted)


@pytest.mark.parametrize("paths", [["n.x", "n.m.y"], ["l.item.z"], ["n", "l.item"]])
def test_what_has_no_field_left_is_dropped_too(paths):
    """Structs in structs, and lists of structs."""
    nested = pa.struct([("x", pa.int8()), ("m", pa.struct([("y", pa.int8())]))])
    listed = pa.list_(pa.struct([("z", pa.int8())]))
    schema = schema_of(pa.schema([("k", pa.int8()), ("n", nested), ("l", listed)]))
    found = drop_fields(schema, paths)

    assert {"k", "n", "l"} - {path.split(".")[0] for path in paths} == {
        one.name for one in found.fields
    }
    with pytest.raises(EvolutionRefused, match="all columns"):
        drop_fields(schema, ["k", "n.x", "n.m.y", "l.item.z"])

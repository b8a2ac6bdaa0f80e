"""Nested arrays over other content."""

import pyarrow as pa
import pytest
from lanceref.core.nesting import children_of, from_start, mapped


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        (pa.list_(pa.int8()), pa.list_(pa.int16()), [[1], None, [], [2, None]]),
        (pa.large_list(pa.int8()), pa.large_list(pa.int16()), [[1], None, [], [2, None]]),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int16(), 2), [[1, 2], None, [3, None]]),
        (
            pa.struct([("a", pa.int8()), ("b", pa.int8())]),
            pa.struct([("a", pa.int16()), ("b", pa.int16())]),
            [{"a": 1, "b": None}, None, {"a": None, "b": 4}],
        ),
    ],
)
def test_only_the_content_changes(before: pa.DataType, after: pa.DataType, rows: list) -> None:
    """Validity and offsets stay, of whole arrays and of slices."""
    array = pa.array(rows, before)

    for part in (array, array.slice(1), array.slice(2, 1)):
        changed = mapped(part, after, lambda _, child: child.cast(pa.int16()))
        changed.validate(full=True)
        assert changed.equals(part.cast(after))


def test_a_map_keeps_its_entries() -> None:
    """A map is a list of entries, whose values can change type."""
    array = pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int8()))
    type_ = pa.map_(pa.string(), pa.int16())

    def entries(_: int, child: pa.Array) -> pa.Array:
        return mapped(child, pa.struct(list(type_.field(0).type)), values)

    def values(number: int, child: pa.Array) -> pa.Array:
        return child.cast(pa.int16()) if number else child

    assert mapped(array.slice(0, 2), type_, entries).equals(array.slice(0, 2).cast(type_))


def test_leaves_have_nothing_below() -> None:
    """Numbers, strings and dictionaries have no children."""
    for array in (pa.array([1]), pa.array(["a"]), pa.array(["a"]).dictionary_encode()):
        assert children_of(array) == []


def test_an_array_from_its_start_is_not_copied() -> None:
    """Only an array with an offset is copied."""
    array = pa.array([1, 2, 3])

    assert from_start(array) is array
    assert from_start(array.slice(1)).offset == 0

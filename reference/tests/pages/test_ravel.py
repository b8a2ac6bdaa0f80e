"""Ravelling: worked numbers. Round trips lie in test_shred."""

import pyarrow as pa
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.layers import (
    ALL_VALID_ITEM,
    ALL_VALID_LIST,
    EMPTYABLE_LIST,
    NULL_AND_EMPTY,
    NULLABLE_ITEM,
    NULLABLE_LIST,
)
from lanceref.pages.shred import flat_levels, ravel, shred

LIST = pa.list_(pa.int32())


def _levels(rows, type_):
    field = schema_of(pa.schema([("c", type_)])).fields[0]
    (leaf, *_) = shred(pa.array(rows, type_), field)
    found = ravel(leaf)
    return (
        found.codes,
        None if found.rep is None else found.rep.tolist(),
        None if found.definition is None else found.definition.tolist(),
    )


@pytest.mark.parametrize(
    ("rows", "type_", "codes", "rep", "definition"),
    [
        ([1, 2], pa.int32(), (ALL_VALID_ITEM,), None, None),
        ([1, None], pa.int32(), (NULLABLE_ITEM,), None, [0, 1]),
        (
            [[1, 2], None, [], [3]],
            LIST,
            (ALL_VALID_ITEM, NULL_AND_EMPTY),
            [1, 0, 1, 1, 1],
            [0, 0, 1, 2, 0],
        ),
        ([[1], [2, 3]], LIST, (ALL_VALID_ITEM, ALL_VALID_LIST), [1, 1, 0], None),
        ([[1], None], LIST, (ALL_VALID_ITEM, NULLABLE_LIST), [1, 1], [0, 1]),
        ([[None], []], LIST, (NULLABLE_ITEM, EMPTYABLE_LIST), [1, 1], [1, 2]),
        (
            [[[1, 2], []], None, [[3], None]],
            pa.list_(LIST),
            (ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_LIST),
            [2, 0, 1, 2, 2, 1],
            [0, 0, 2, 3, 0, 1],
        ),
        (
            [{"x": None}, None, {"x": 1}],
            pa.struct([("x", pa.int8())]),
            (NULLABLE_ITEM, NULLABLE_ITEM),
            None,
            [1, 2, 0],
        ),
    ],
)
def test_levels_of_small_columns(rows, type_, codes, rep, definition):
    """Codes run from the inside out; a placeholder stands for a null or empty list."""
    assert _levels(rows, type_) == (codes, rep, definition)


def test_the_entry_of_a_fixed_size_list_is_repeated():
    """Two structs per row below a list: each has the entry of its fixed-size list."""
    type_ = pa.list_(pa.list_(pa.struct([("a", pa.int8())]), 2))
    rows = [[[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}]]]

    codes, rep, definition = _levels(rows, type_)

    assert (codes[-1], rep, definition) == (ALL_VALID_LIST, [1, 1, 0, 0], None)


def test_only_visible_entries_own_a_value():
    """A null item does, a null and an empty list do not."""
    field = schema_of(pa.schema([("c", LIST)])).fields[0]
    (leaf,) = shred(pa.array([[None, 1], None, []], LIST), field)

    assert ravel(leaf).visible.tolist() == [True, True, False, False]
    assert flat_levels(3).visible is None

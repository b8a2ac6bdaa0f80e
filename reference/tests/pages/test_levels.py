"""Levels and rows: numbered layers, reading, shredding, and levels that contradict each other."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.errors import CorruptPage
from lanceref.core.file_versions import V2_2
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.column import assemble
from lanceref.pages.layers import (
    ALL_VALID_ITEM,
    ALL_VALID_LIST,
    EMPTYABLE_LIST,
    NULL_AND_EMPTY,
    NULLABLE_ITEM,
    NULLABLE_LIST,
    Levels,
    parse_layers,
    row_starts,
    select,
    unravel,
)
from lanceref.pages.leafvalues import Step, leaf_paths
from lanceref.pages.shred import concat, flat_levels, ravel
from lanceref.pages.shred import shred as shred_array
from lanceref_testing.tables import tables

from .nesting import PLACE, layers_of, path_of, recursive, shred, to_rows

LIST_CODES = (ALL_VALID_LIST, NULLABLE_LIST, EMPTYABLE_LIST, NULL_AND_EMPTY)
ITEM_CODES = (ALL_VALID_ITEM, NULLABLE_ITEM)
INTS = pa.list_(pa.int32())


def _levels(rep, definition, dtype=np.uint16):
    return Levels(
        len(definition if rep is None else rep),
        None if rep is None else np.array(rep, dtype),
        None if definition is None else np.array(definition, dtype),
    )


def _unravelled(rep, definition, values, path, layers, num_rows):
    leaf = pa.array(values, pa.int64())
    nested = unravel(layers, _levels(rep, definition), leaf, num_rows, PLACE)
    return to_rows(nested, path)


@st.composite
def nestings(draw, fixed_size_lists=True):
    """A path, the codes of its layers, and rows that these codes can state."""
    kinds = [Step.LIST, Step.STRUCT] + ([2, 3] if fixed_size_lists else [])
    path = path_of(*draw(st.lists(st.sampled_from(kinds), max_size=4)), Step.LEAF)
    codes = [
        draw(st.sampled_from(LIST_CODES if step.step is Step.LIST else ITEM_CODES))
        for step in path[::-1]
    ]
    fixed = max((i for i, step in enumerate(path) if step.dimension > 1), default=0)
    lists = [i for i in range(fixed) if path[i].step is Step.LIST]
    for i in range(max(lists, default=-1) + 1):  # a placeholder there has no agreed number
        codes[len(path) - 1 - i] = ALL_VALID_LIST if i in lists else ALL_VALID_ITEM
    layers = layers_of(path, codes)

    def value(depth):
        layer, step = layers.layers[::-1][depth], path[depth]
        if step.step is Step.LEAF:
            here = st.integers(0, 9)
        elif step.step is Step.STRUCT:
            here = value(depth + 1).map(lambda v: (v,))
        else:
            fewest = step.dimension if step.dimension > 1 else int(layer.empty is None)
            most = step.dimension if step.dimension > 1 else 3
            here = st.lists(value(depth + 1), min_size=fewest, max_size=most)
        return here if layer.null is None else st.none() | here

    return path, layers, draw(st.lists(value(0), min_size=1, max_size=6))


@given(nestings(), st.data())
def test_rows_come_back_from_their_levels(nesting, data):
    """All of them, and the rows selected; without fixed-size lists as the recursive form reads."""
    path, layers, rows = nesting
    rep, definition, values, _ = shred(rows, layers)
    assert rows == _unravelled(rep, definition, values, path, layers, len(rows))
    if all(step.dimension == 1 for step in path):
        assert rows == recursive(rep, definition, values, layers)

    chosen = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))
    levels = _levels(rep if layers.max_rep else None, definition, np.uint8)
    bounds = np.append(row_starts(levels, layers), len(definition))
    at = np.array(chosen) * layers.scale
    found, slots = select(levels, layers, bounds[at], bounds[at + layers.scale])
    leaf = pa.array(values, pa.int64())
    cut = leaf[slots] if isinstance(slots, slice) else leaf.take(pa.array(slots))
    nested = unravel(layers, found, cut, len(at), PLACE)
    assert [rows[i] for i in chosen] == to_rows(nested, path)


@given(nestings(), st.data())
def test_any_levels_are_read_or_refused(nesting, data):
    """Random levels within their ranges give Arrow-safe rows or a CorruptPage."""
    path, layers, _ = nesting
    count = data.draw(st.integers(0, 12))
    rep = data.draw(st.lists(st.integers(0, layers.max_rep), min_size=count, max_size=count))
    definition = data.draw(st.lists(st.integers(0, layers.max_def), min_size=count, max_size=count))
    values = [0] * sum(d <= layers.max_visible for d in definition)
    try:
        _unravelled(rep if layers.max_rep else None, definition, values, path, layers, count)
    except CorruptPage as error:
        assert error.clause.startswith("L.page.levels.")


def _shredded(array):
    field = schema_of(pa.schema([("c", array.type)])).fields[0]
    return field, shred_array(array, field)


RAVELLED = [
    ([1, 2], pa.int32(), (1,), None, None),
    ([1, None], pa.int32(), (3,), None, [0, 1]),
    ([[1, 2], None, [], [3]], INTS, (1, 6), [1, 0, 1, 1, 1], [0, 0, 1, 2, 0]),
    ([[1], [2, 3]], INTS, (1, 2), [1, 1, 0], None),
    ([[1], None], INTS, (1, 4), [1, 1], [0, 1]),
    ([[None], []], INTS, (3, 5), [1, 1], [1, 2]),
    (
        [[[1, 2], []], None, [[3], None]], pa.list_(INTS), (1, 6, 4),
        [2, 0, 1, 2, 2, 1], [0, 0, 2, 3, 0, 1],
    ),
    ([{"x": None}, None, {"x": 1}], pa.struct([("x", pa.int8())]), (3, 3), None, [1, 2, 0]),
]  # fmt: skip
"""Rows, type, codes from the inside out, repetition, definition."""


@pytest.mark.parametrize(("rows", "type_", "codes", "rep", "definition"), RAVELLED)
def test_rows_become_levels_with_the_codes_they_need(rows, type_, codes, rep, definition):
    """Only what occurs has a level; only visible entries own a value."""
    (leaf, *_) = _shredded(pa.array(rows, type_))[1]
    found = ravel(leaf)

    assert codes == found.codes
    assert rep == (None if found.rep is None else found.rep.tolist())
    assert definition == (None if found.definition is None else found.definition.tolist())
    if definition is not None and rep is not None:
        assert len(leaf.leaf) == int(found.visible.sum())
    assert flat_levels(3).visible is None


@given(tables(V2_2, max_depth=4))
def test_arrays_come_back_from_what_they_are_shredded_to(sample):
    """Random nested columns: the levels written are read as those columns, and rows cut apart."""
    table = sample.table.slice(0, 200).combine_chunks()
    for name in table.column_names:
        array = table[name].combine_chunks()
        if any(word in str(array.type) for word in ("duration", "timestamp", "time", "date")):
            continue
        field, leaves = _shredded(array)
        read = []
        for leaf, path in zip(leaves, leaf_paths(field), strict=True):
            half = len(array) // 2
            joined = concat([leaf.slice(0, half), leaf.slice(half, len(array))])
            levels = ravel(joined)
            stored = Levels(levels.num_entries, levels.rep, levels.definition)
            layers = parse_layers(levels.codes, path, PLACE)
            read.append(unravel(layers, stored, joined.leaf, len(array), PLACE))
        back = assemble(field, read, PLACE)

        back.validate(full=True)
        assert repr(array.to_pylist()) == repr(back.to_pylist())


def test_what_a_null_hides_is_dropped():
    """Items of a null list, and a list below a null struct."""
    items = pa.array([1, 2, 3, 4, 5], pa.int8())
    buffers = [pa.py_buffer(bytes([0b101])), pa.array([0, 1, 3, 5], pa.int32()).buffers()[1]]
    lists = pa.Array.from_buffers(pa.list_(pa.int8()), 3, buffers, children=[items])
    fields = [pa.field("l", pa.list_(pa.int8()))]
    inner = pa.array([[1, 2], [3]], fields[0].type)
    structs = pa.StructArray.from_arrays([inner], fields=fields, mask=pa.array([True, False]))

    (leaf,) = _shredded(lists)[1]
    assert ([1, 4, 5], [0, 1, 1, 3]) == (leaf.leaf.to_pylist(), leaf.layers[0].offsets.tolist())
    (leaf,) = _shredded(structs)[1]
    assert ([3], [False, True]) == (leaf.leaf.to_pylist(), leaf.layers[1].validity.tolist())

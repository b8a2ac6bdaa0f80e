"""Levels and rows: worked numbers, the recursive specification, and random nestings."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.errors import CorruptPage
from lanceref.pages.layers import (
    ALL_VALID_ITEM,
    ALL_VALID_LIST,
    EMPTYABLE_LIST,
    NULL_AND_EMPTY,
    NULLABLE_ITEM,
    NULLABLE_LIST,
    Step,
)
from lanceref.pages.repdef import Entries, Levels, check_ranges, row_starts, select, unravel

from .nesting import PLACE, layers_of, path_of, recursive, shred, to_rows

LIST_CODES = (ALL_VALID_LIST, NULLABLE_LIST, EMPTYABLE_LIST, NULL_AND_EMPTY)
ITEM_CODES = (ALL_VALID_ITEM, NULLABLE_ITEM)


def _levels(rep, definition, dtype=np.uint16):
    return Levels(
        len(definition if rep is None else rep),
        None if rep is None else np.array(rep, dtype),
        None if definition is None else np.array(definition, dtype),
    )


def _unravelled(rep, definition, values, path, layers, num_rows):
    leaf = pa.array([None if v is None else v for v in values], pa.int64())
    nested = unravel(layers, Entries(_levels(rep, definition), leaf), num_rows, PLACE)
    return to_rows(nested, path)


@st.composite
def nestings(draw, fixed_size_lists=True):
    """A path, the codes of its layers, and rows that these codes can say."""
    kinds = [Step.LIST, Step.STRUCT] + ([2, 3] if fixed_size_lists else [])
    steps = draw(st.lists(st.sampled_from(kinds), max_size=4))
    path = path_of(*steps, Step.LEAF)
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
        layer = layers.layers[::-1][depth]
        if path[depth].step is Step.LEAF:
            here = st.integers(0, 9)
        elif path[depth].step is Step.STRUCT:
            here = value(depth + 1).map(lambda v: (v,))
        elif path[depth].step is Step.LIST:
            least = 0 if layer.empty is not None else 1
            here = st.lists(value(depth + 1), min_size=least, max_size=3)
        else:
            k = path[depth].dimension
            here = st.lists(value(depth + 1), min_size=k, max_size=k)
        return here if layer.null is None else st.none() | here

    return path, layers, draw(st.lists(value(0), min_size=1, max_size=6))


def test_worked_example_of_a_list_page():
    """[[1,2],None,[],[3]] has five entries, three values, and unravels to itself."""
    path = path_of(Step.LIST, Step.LEAF)
    layers = layers_of(path, [ALL_VALID_ITEM, NULL_AND_EMPTY])
    rep, definition = [1, 0, 1, 1, 1], [0, 0, 1, 2, 0]

    rows = _unravelled(rep, definition, [1, 2, 3], path, layers, 4)

    assert [[1, 2], None, [], [3]] == rows
    assert (rep, definition, [1, 2, 3]) == shred(rows, layers)[:3]


def test_levels_are_numbered_from_the_inside_out():
    """Codes 3, 6, 3 take levels 1, 2-3 and 4; a null leaf is visible, everything outside not."""
    layers = layers_of(
        path_of(Step.STRUCT, Step.LIST, Step.LEAF), [NULLABLE_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM]
    )

    assert [(1, None), (2, 3), (4, None)] == [(x.null, x.empty) for x in layers.layers]
    assert (1, 4, 1) == (layers.max_rep, layers.max_def, layers.max_visible)


def test_null_struct_above_a_list_is_one_placeholder():
    """A null struct around a list has an entry but no value."""
    path = path_of(Step.STRUCT, Step.LIST, Step.LEAF)
    layers = layers_of(path, [ALL_VALID_ITEM, ALL_VALID_LIST, NULLABLE_ITEM])

    assert [([7, 8],), None] == _unravelled([1, 0, 1], [0, 0, 1], [7, 8], path, layers, 2)


def test_fixed_size_list_of_structs_inside_a_list_repeats_its_entries():
    """One row of two pairs: repetition 1 1 0 0, four values."""
    path = path_of(Step.LIST, 2, Step.STRUCT, Step.LEAF)
    layers = layers_of(path, [ALL_VALID_ITEM, ALL_VALID_ITEM, ALL_VALID_ITEM, ALL_VALID_LIST])
    rows = [[[(1,), (2,)], [(3,), (4,)]]]

    assert [1, 1, 0, 0] == shred(rows, layers)[0]
    assert rows == _unravelled([1, 1, 0, 0], None, [1, 2, 3, 4], path, layers, 1)


@given(nestings(fixed_size_lists=False))
def test_vectorised_form_agrees_with_the_recursive_one(nesting):
    """Both forms read the same rows from the same levels, and these are the rows shredded."""
    path, layers, rows = nesting
    rep, definition, values, _ = shred(rows, layers)

    assert rows == recursive(rep, definition, values, layers)
    assert rows == _unravelled(rep, definition, values, path, layers, len(rows))


@given(nestings())
def test_rows_with_fixed_size_lists_come_back(nesting):
    """Unravelling is the inverse of shredding, with fixed-size lists of structs anywhere."""
    path, layers, rows = nesting
    rep, definition, values, _ = shred(rows, layers)

    assert rows == _unravelled(rep, definition, values, path, layers, len(rows))


@given(nestings(), st.data())
def test_selected_rows_are_those_asked_for(nesting, data):
    """Cutting the entries of some rows and unravelling them gives exactly these rows."""
    path, layers, rows = nesting
    rep, definition, values, _ = shred(rows, layers)
    chosen = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True, min_size=1))
    chosen.sort()
    levels = _levels(rep if layers.max_rep else None, definition, np.uint8)
    bounds = np.append(row_starts(levels, layers), len(definition))
    at = np.array(chosen)
    found, slots = select(
        levels, layers, bounds[at * layers.scale], bounds[(at + 1) * layers.scale]
    )
    leaf = pa.array(values, pa.int64())
    cut = Entries(found, leaf[slots] if isinstance(slots, slice) else leaf.take(pa.array(slots)))

    assert [rows[i] for i in chosen] == to_rows(unravel(layers, cut, len(at), PLACE), path)


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


@pytest.mark.parametrize(
    ("rep", "definition", "clause"),
    [
        ([0, 1, 1], [0, 0, 0], "first-entry"),
        ([1, 0, 1], [2, 0, 0], "special-alone"),
        ([1, 0, 1], [0, 1, 0], "special-alone"),
        ([1, 0, 0], [0, 0, 0], "rows"),
    ],
)
def test_contradicting_levels_are_refused(rep, definition, clause):
    """A start without a start, a placeholder with company, rows that do not add up."""
    path = path_of(Step.LIST, Step.LEAF)
    layers = layers_of(path, [ALL_VALID_ITEM, NULL_AND_EMPTY])
    with pytest.raises(CorruptPage) as caught:
        _unravelled(rep, definition, [5] * definition.count(0), path, layers, 2)

    assert f"L.page.levels.{clause}" == caught.value.clause


@pytest.mark.parametrize(("rep", "definition", "name"), [([2], [0], "rep"), ([1], [3], "def")])
def test_levels_above_the_highest_are_refused(rep, definition, name):
    """A level that no layer defines breaks its range clause."""
    layers = layers_of(path_of(Step.LIST, Step.LEAF), [ALL_VALID_ITEM, NULL_AND_EMPTY])
    with pytest.raises(CorruptPage) as caught:
        check_ranges(_levels(rep, definition), layers, PLACE)

    assert f"L.page.levels.{name}-range" == caught.value.clause

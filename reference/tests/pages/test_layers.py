"""Layers: the way to a leaf, and what its codes may say."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage
from lanceref.pages.layers import (
    ALL_VALID_ITEM,
    ALL_VALID_LIST,
    EMPTYABLE_LIST,
    NULL_AND_EMPTY,
    NULLABLE_ITEM,
    NULLABLE_LIST,
    Step,
    leaf_paths,
)

from .building import field_of
from .nesting import layers_of, path_of

POINT = pa.struct([("x", pa.int32()), ("y", pa.string())])


def test_windows_end_at_the_next_list():
    """A slot exists where everything between it and the next list outside may be null."""
    path = path_of(Step.STRUCT, Step.LIST, Step.STRUCT, Step.LEAF)
    layers = layers_of(path, [NULLABLE_ITEM, NULLABLE_ITEM, EMPTYABLE_LIST, NULLABLE_ITEM])

    assert [2, 2, 4, 4] == [layer.window for layer in layers.layers]
    assert 2 == layers.max_visible


def test_fixed_size_lists_scale_the_page():
    """Two of them make six page slots per row."""
    path = path_of(2, Step.STRUCT, 3, Step.STRUCT, Step.LEAF)

    assert 6 == layers_of(path, [ALL_VALID_ITEM] * 5).scale


@pytest.mark.parametrize(
    ("steps", "codes", "clause"),
    [
        ((Step.LEAF,), [], "present"),
        ((Step.LEAF,), [0], "code"),
        ((Step.LEAF,), [7], "code"),
        ((Step.LEAF,), [NULLABLE_LIST], "path"),
        ((Step.LIST, Step.LEAF), [NULLABLE_ITEM], "path"),
        ((Step.LIST, Step.LEAF), [NULLABLE_LIST, NULLABLE_ITEM], "path"),
        ((0, Step.LEAF), [NULLABLE_ITEM, NULLABLE_ITEM], "dimension"),
    ],
)
def test_codes_must_fit_the_path(steps, codes, clause):
    """One known code per step, of the step's kind."""
    with pytest.raises(CorruptPage) as caught:
        layers_of(path_of(*steps), codes)

    assert f"L.page.layers.{clause}" == caught.value.clause


@pytest.mark.parametrize(
    ("code", "null", "empty", "own"),
    [
        (ALL_VALID_LIST, None, None, 1),
        (NULLABLE_LIST, 2, None, 2),
        (EMPTYABLE_LIST, None, 2, 2),
        (NULL_AND_EMPTY, 2, 3, 3),
    ],
)
def test_levels_of_a_list_come_behind_those_inside(code, null, empty, own):
    """The item takes level 1; null comes before empty, and what never happens takes none."""
    layers = layers_of(path_of(Step.LIST, Step.LEAF), [NULLABLE_ITEM, code])
    item, lists = layers.layers

    assert (0, 1, 1, None) == (item.below, item.own, item.null, item.empty)
    assert (1, own, null, empty) == (lists.below, lists.own, lists.null, lists.empty)
    assert (1, own, 1) == (layers.max_rep, layers.max_def, layers.max_visible)


def test_an_item_that_is_always_there_takes_no_level():
    """Level 1 is that of the struct around it."""
    layers = layers_of(path_of(Step.STRUCT, Step.LEAF), [ALL_VALID_ITEM, NULLABLE_ITEM])

    assert [(None, 0), (1, 1)] == [(layer.null, layer.own) for layer in layers.layers]
    assert (0, 1, 1) == (layers.max_rep, layers.max_def, layers.max_visible)


@pytest.mark.parametrize(
    ("type_", "packed", "steps"),
    [
        (pa.int32(), False, [["leaf"]]),
        (pa.list_(pa.int32()), False, [["list", "leaf"]]),
        (POINT, False, [["struct", "leaf"], ["struct", "leaf"]]),
        (POINT, True, [["leaf"]]),
        (pa.struct([]), False, [["leaf"]]),
        (pa.list_(pa.float32(), 4), False, [["leaf"]]),
        (pa.list_(POINT, 4), False, [["fixed-size list", "struct", "leaf"]] * 2),
        (pa.map_(pa.string(), pa.int8()), False, [["list", "struct", "leaf"]] * 2),
    ],
)
def test_paths_to_the_leaves_of_a_type(type_, packed, steps):
    """A packed struct and a vector are leaves; a map is a list of structs."""
    paths = leaf_paths(field_of(type_, packed=packed))

    assert steps == [[step.step.value for step in path] for path in paths]
    assert all(
        (step.dimension == 4) == (step.step is Step.FIXED_SIZE_LIST)
        for path in paths
        for step in path
    )


def test_a_blob_is_a_leaf():
    """Whatever its type has inside."""
    field = field_of(POINT)
    field.metadata["lance-encoding:blob"] = "true"

    assert [[Step.LEAF]] == [[step.step for step in path] for path in leaf_paths(field)]

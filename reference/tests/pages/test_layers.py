"""Layers: the way to a leaf, and what its codes may say."""

import pytest
from lanceref.errors import CorruptPage
from lanceref.pages.layers import (
    ALL_VALID_ITEM,
    EMPTYABLE_LIST,
    NULLABLE_ITEM,
    NULLABLE_LIST,
    Step,
)

from .nesting import layers_of, path_of


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

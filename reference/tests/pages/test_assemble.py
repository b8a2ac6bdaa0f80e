"""Assembly: the leaves of one field become one Arrow array."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.pages.column import assemble
from lanceref.pages.layers import Layer, Nested

from .building import field_of

POINT = pa.struct([("x", pa.int32()), ("y", pa.string())])
PLACE = Context("test").at(0)


def _flags(*valid):
    return np.array(valid, np.bool_)


def _struct(validity, xs, ys):
    layers = tuple((Layer(len(part), validity, None),) for part in (xs, ys))
    leaves = (pa.array(xs, pa.int32()), pa.array(ys, pa.string()))
    return [Nested(layer, leaf) for layer, leaf in zip(layers, leaves, strict=True)]


def test_siblings_become_the_fields_of_a_struct():
    """Two leaves, the second row null."""
    found = assemble(field_of(POINT), _struct(_flags(1, 0, 1), [1, 2, None], ["a", "b", ""]), PLACE)

    assert [{"x": 1, "y": "a"}, None, {"x": None, "y": ""}] == found.to_pylist()
    assert POINT == found.type


def test_a_leaf_is_its_own_array():
    """Nothing is copied."""
    leaf = pa.array([1, 2])

    assert leaf is assemble(field_of(pa.int64()), [Nested((), leaf)], PLACE)


def test_what_is_empty_begins_at_the_start():
    """Arrow cannot join lists whose items begin after the end of no buffer."""
    layer = Layer(2, None, np.array([0, 0, 0]))
    leaf = pa.array([1, 2, 3]).slice(3, 0)
    found = assemble(field_of(pa.list_(pa.int64())), [Nested((layer,), leaf)], PLACE)

    assert [[], []] == found.to_pylist()
    assert 0 == found.values.offset


@pytest.mark.parametrize("type_", [pa.list_(POINT), pa.large_list(POINT)])
def test_lists_take_the_offsets_of_their_leaves(type_):
    """32 or 64 bits, as the type asks."""
    outer = Layer(3, _flags(1, 0, 1), np.array([0, 2, 2, 3]))
    items = _struct(None, [1, 2, 3], ["a", "b", "c"])
    leaves = [Nested((outer, *leaf.layers), leaf.leaf) for leaf in items]
    found = assemble(field_of(type_), leaves, PLACE)
    point = [{"x": i, "y": name} for i, name in enumerate("abc", start=1)]

    assert [point[:2], None, point[2:]] == found.to_pylist()
    assert type_ == found.type


def test_depth_counts_the_layers_above():
    """A struct of a list of points and a number: three layers over two leaves, one over the third.

    The list is null in row 1, the point in its second item.
    """
    type_ = pa.struct([("l", pa.list_(POINT)), ("n", pa.int8())])
    outer = Layer(2, None, None)
    lists = Layer(2, _flags(1, 0), np.array([0, 2, 2]))
    points = _struct(_flags(1, 0), [1, 2], ["a", "b"])
    leaves = [Nested((outer, lists, *leaf.layers), leaf.leaf) for leaf in points]
    leaves.append(Nested((outer,), pa.array([7, 8], pa.int8())))

    assert [{"l": [{"x": 1, "y": "a"}, None], "n": 7}, {"l": None, "n": 8}] == (
        assemble(field_of(type_), leaves, PLACE).to_pylist()
    )


def test_all_valid_is_no_validity():
    """One leaf says nothing about nulls, the other that there is none: they agree."""
    leaves = _struct(None, [1], ["a"])
    marked = Nested((Layer(1, _flags(1), None),), leaves[1].leaf)

    assert 0 == assemble(field_of(POINT), [leaves[0], marked], PLACE).null_count


@pytest.mark.parametrize(
    ("one", "other", "clause"),
    [
        (Layer(2, None, None), Layer(2, _flags(1, 0), None), "validity"),
        (Layer(2, None, np.array([0, 1, 2])), Layer(2, None, np.array([0, 2, 2])), "offsets"),
        (Layer(2, None, np.array([0, 1, 2])), Layer(2, None, None), "offsets"),
    ],
)
def test_leaves_that_disagree_are_refused(one, other, clause):
    """About nulls, about lengths, about being a list."""
    type_ = POINT if one.offsets is None else pa.list_(POINT)
    inside = () if one.offsets is None else (Layer(2, None, None),)
    leaves = [
        Nested((one, *inside), pa.array([1, 2], pa.int32())),
        Nested((other, *inside), pa.array(["a", "b"])),
    ]
    with pytest.raises(CorruptPage) as caught:
        assemble(field_of(type_), leaves, PLACE)

    assert f"L.page.siblings.{clause}" == caught.value.clause


@given(st.lists(st.none() | st.lists(st.none() | st.integers(0, 99), max_size=4), max_size=20))
def test_lists_come_back(rows):
    """Offsets and validity of Python lists, put together again."""
    array = pa.array(rows, pa.list_(pa.int32()))
    validity = np.array([row is not None for row in rows], np.bool_)
    lengths = np.array([len(row or []) for row in rows], np.int64)
    layer = Layer(len(rows), validity, np.append(0, np.cumsum(lengths)))
    found = assemble(field_of(array.type), [Nested((layer,), array.flatten())], PLACE)

    found.validate(full=True)
    assert rows == found.to_pylist()

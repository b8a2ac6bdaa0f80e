"""Sparse structure: positions and counts become layers."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BytesError, CorruptPage, LimitExceeded
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.pages.layers import Step
from lanceref.pages.sparse import StructureDecoder, check_structure, domains, sequences
from lanceref.storage import BytesSource

from .building import pb, pb3, words
from .nesting import PLACE, path_of
from .sparse_messages import VALID, item_layer, list_layer

LIST_PATH = path_of(Step.LIST, Step.LEAF)


def _decode(layers, path, rows, buffers, limits=DEFAULT_LIMITS):
    data, extents = bytearray(), []
    for buffer in buffers:
        extents.append(Extent(len(data), len(buffer)))
        data += buffer
    file = FileBytes(BytesSource(bytes(data)), Context("test", limits=limits))
    sizes = domains(layers, path, rows, PLACE)
    check_structure(layers, len(buffers), file, PLACE)
    return StructureDecoder(file, extents, PLACE).decode(layers, sizes)


def _lists(rows):
    """The structure of lists of nullable numbers, and its buffers."""
    buffers: list[bytes] = []
    items = [item for row in rows if row for item in row]
    layers = [list_layer(rows, buffers), item_layer([item is not None for item in items], buffers)]
    return layers, buffers


def test_worked_structure():
    """[[1, 2], null, [], [3]]: three slots, two lists that are not empty, list 1 is null."""
    layer = pb3.SparseStructuralLayer()
    lists = layer.list
    lists.num_child_slots, lists.num_non_empty_positions = 3, 2
    lists.non_empty_positions.range.uncompressed_bits_per_value = 64
    lists.non_empty_positions.range.step = 3
    lists.counts.flat.bits_per_value = 64
    lists.validity.meaning, lists.validity.num_positions = 1, 1
    lists.validity.positions.constant.value = words(1, width=8)
    leaf = pb3.SparseStructuralLayer()
    leaf.validity.meaning = 1
    leaf.validity.positions.constant.SetInParent()
    structure = _decode([layer, leaf], LIST_PATH, 4, [words(2, 1, width=8)])
    (outer,) = structure.layers

    assert [0, 2, 2, 2, 3] == outer.offsets.tolist()
    assert [True, False, True, True] == outer.validity.tolist()
    assert structure.leaf is None
    assert [0, 2, 2, 2, 3] == structure.leaf_slots(np.arange(5)).tolist()


def test_rows_are_taken_with_what_outer_layers_mask():
    """Rows 1 and 3 of a struct that is null in row 1: its leaf is null there too."""
    buffers: list[bytes] = []
    layers = [
        item_layer([True, False, True, True], buffers),
        item_layer([True, True, True, False], buffers, VALID),
    ]
    structure = _decode(layers, path_of(Step.STRUCT, Step.LEAF), 4, buffers)
    taken, slots, valid = structure.take(np.array([0, 1, 3]))

    assert [1, 0, 1] == taken[0].validity.tolist()
    assert [0, 1, 3] == slots.tolist()
    assert [True, False, False] == valid.tolist()


def test_fixed_size_lists_multiply_the_slots():
    """A null pair masks both of its slots."""
    buffers: list[bytes] = []
    pairs = pb3.SparseStructuralLayer()
    pairs.fixed_size_list.dimension = 2
    pairs.fixed_size_list.validity.CopyFrom(item_layer([True, False, True], buffers).validity)
    layers = [pairs, item_layer([True] * 6, buffers)]
    structure = _decode(layers, path_of(2, Step.LEAF), 3, buffers)
    _, slots, valid = structure.take(np.array([1, 2]))

    assert [2, 3, 4, 5] == slots.tolist()
    assert [False, False, True, True] == valid.tolist()
    assert [3, 6] == domains(layers, path_of(2, Step.LEAF), 3, PLACE)


def test_sequences_stand_in_the_order_of_their_buffers():
    """Within a list positions, counts, validity; then the next layer."""
    layers, buffers = _lists([[1, None], None, [], [3]])
    found = [encoding.WhichOneof("compression") for encoding in sequences(layers)]

    assert ["flat", "flat", "flat", "flat"] == found
    assert [words(0, 3, width=8), words(2, 1, width=8), words(1, width=8), words(1, width=8)] == (
        buffers
    )


def _changed(change):
    layers, buffers = _lists([[1, None], None, [], [3]])
    change(layers, buffers)
    return layers, buffers


def _set(path, name, value):
    def change(layers, buffers):
        message = layers[0].list
        for step in path:
            message = getattr(message, step)
        setattr(message, name, value)

    return change


def _buffer(number, *values):
    def change(layers, buffers):
        buffers[number] = words(*values, width=8)

    return change


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (lambda layers, buffers: layers.pop(), "layers"),
        (lambda layers, buffers: layers[0].validity.SetInParent(), "layers"),
        (_set(["validity"], "meaning", 0), "meaning"),
        (_set([], "num_non_empty_positions", 5), "num-positions"),
        (_set(["validity"], "num_positions", 5), "num-positions"),
        (_buffer(0, 3, 0), "positions"),
        (_buffer(0, 0, 0), "positions"),
        (_buffer(0, 0, 4), "positions"),
        (_buffer(0, 0, 2**63), "positions"),
        (_buffer(1, 3, 0), "counts"),
        (_buffer(1, 2**62, 2**62), "counts"),
        (_buffer(1, 1, 1), "child-slots"),
        (_buffer(2, 3), "null-list"),
        (lambda layers, buffers: buffers.append(b""), "buffers"),
        (lambda layers, buffers: buffers.pop(), "buffers"),
    ],
)
def test_structures_that_no_rows_have_are_refused(change, clause):
    """One fault each."""
    layers, buffers = _changed(change)
    with pytest.raises(CorruptPage) as caught:
        _decode(layers, LIST_PATH, 4, buffers)

    assert f"L.page.sparse.{clause}" == caught.value.clause


def test_sequences_have_64_bits():
    """Positions of 32 bits."""
    layers, buffers = _lists([[1]])
    layers[0].list.non_empty_positions.CopyFrom(pb.CompressiveEncoding(flat={"bits_per_value": 32}))
    buffers[0] = words(0)
    with pytest.raises(CorruptPage) as caught:
        _decode(layers, LIST_PATH, 1, buffers)

    assert "L.page.sparse.num-positions" == caught.value.clause


def test_slots_are_bounded_before_they_are_made():
    """Four list slots of 32 bytes and three leaf slots of two."""
    layers, buffers = _lists([[1, None], None, [], [3]])
    enough = 4 * 32 + 3 * 2
    with pytest.raises(LimitExceeded) as caught:
        _decode(
            layers, LIST_PATH, 4, buffers, Limits(expansion_bytes=enough - 1, expansion_factor=0)
        )

    assert "L.page.limits.sparse" == caught.value.clause
    _decode(layers, LIST_PATH, 4, buffers, Limits(expansion_bytes=enough, expansion_factor=0))


ROWS = st.lists(st.none() | st.lists(st.none() | st.integers(0, 9), max_size=4), max_size=12)


@given(ROWS)
def test_lists_come_back(rows):
    """Offsets, validity of lists and of items are those of the rows."""
    layers, buffers = _lists(rows)
    structure = _decode(layers, LIST_PATH, len(rows), buffers)
    taken, slots, valid = structure.take(np.arange(len(rows)))
    items = [item for row in rows if row for item in row]

    assert [row is not None for row in rows] == taken[0].validity.tolist()
    assert [len(row or []) for row in rows] == np.diff(taken[0].offsets).tolist()
    assert [item is not None for item in items] == valid.tolist()
    assert list(range(len(items))) == slots.tolist()


@given(ROWS.filter(any), st.data())
def test_damaged_sequences_are_refused_or_structures(rows, data):
    """Any changed byte of any sequence."""
    layers, buffers = _lists(rows)
    number = data.draw(st.integers(0, len(buffers) - 1))
    changed = bytearray(buffers[number])
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    buffers[number] = bytes(changed)
    try:
        structure = _decode(layers, LIST_PATH, len(rows), buffers)
        assert len(rows) + 1 == len(structure.layers[0].offsets)
    except BytesError as error:
        assert error.clause.startswith("L.page.")

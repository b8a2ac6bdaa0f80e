"""Leaf values: decoded values become the Arrow array of the schema's type."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.codecs.values import Fixed, FixedSizeList, Rows, Variable
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.pages.leafvalues import (
    check_leaf_encoding,
    check_offset_width,
    indexed_array,
    leaf_array,
    width_bits,
)

from .building import flat, pb, variable

PLACE = Context("test").at(3)
PAIRS = pa.list_(pa.int8(), 2)


def _bytes(*values):
    return np.array(values, np.uint8)


def _strings(*values):
    ends = np.cumsum([0, *(len(value) for value in values)])
    return Variable(ends.astype(np.int64), np.frombuffer(b"".join(values), np.uint8))


def _clause(call, *arguments):
    with pytest.raises(CorruptPage) as caught:
        call(*arguments)
    return caught.value.clause.removeprefix("L.page.")


@pytest.mark.parametrize(
    ("type_", "bits"),
    [
        (pa.int16(), 16),
        (pa.bool_(), 1),
        (pa.decimal256(60, 0), 256),
        (pa.list_(pa.float32(), 3), 96),
        (pa.struct([("a", pa.int8()), ("b", pa.list_(pa.int16(), 2))]), 40),
        (pa.struct([("a", pa.int8()), ("b", pa.string())]), None),
        (pa.string(), None),
        (pa.null(), None),
        (pa.dictionary(pa.int8(), pa.string()), None),
    ],
)
def test_widths_of_types(type_, bits):
    """All levels of fixed-size lists and all fields of a row count."""
    assert bits == width_bits(type_)


@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        (pa.uint16(), Fixed(16, 2, _bytes(1, 0, 0, 1)), [1, 256]),
        (pa.bool_(), Fixed(1, 3, _bytes(5)), [True, False, True]),
        (pa.bool_(), Fixed(8, 3, _bytes(1, 0, 2)), [True, False, True]),
        (pa.string(), _strings(b"a", b"", "é".encode()), ["a", "", "é"]),
        (pa.large_binary(), _strings(b"\xff", b"x"), [b"\xff", b"x"]),
        (PAIRS, FixedSizeList(2, 2, None, Fixed(8, 4, _bytes(1, 2, 3, 4))), [[1, 2], [3, 4]]),
        (
            PAIRS,
            FixedSizeList(2, 1, np.array([True, False]), Fixed(8, 2, _bytes(1, 9))),
            [[1, None]],
        ),
        (PAIRS, FixedSizeList(2, 1, np.zeros(2, bool), Fixed(0, 2, _bytes())), [[None, None]]),
        (
            pa.struct([("a", pa.int8()), ("b", pa.int16())]),
            Rows(2, (Fixed(8, 2, _bytes(1, 2)), Fixed(16, 2, _bytes(3, 0, 4, 0)))),
            [{"a": 1, "b": 3}, {"a": 2, "b": 4}],
        ),
        (pa.null(), Fixed(8, 2, _bytes(0, 0)), [None, None]),
    ],
)
def test_values_become_arrays(type_, values, expected):
    """Worked values of every kind."""
    array = leaf_array(type_, values, None, PLACE)

    array.validate(full=True)
    assert (type_, expected) == (array.type, array.to_pylist())


def test_validity_covers_values_of_any_content():
    """A null slot owns bytes that nobody looks at."""
    array = leaf_array(pa.int8(), Fixed(8, 3, _bytes(1, 77, 3)), np.array([1, 0, 1], bool), PLACE)

    assert [1, None, 3] == array.to_pylist()


@pytest.mark.parametrize(
    ("type_", "values", "clause"),
    [
        (pa.int16(), Fixed(8, 2, _bytes(1, 2)), "leaf.width"),
        (pa.string(), Fixed(8, 2, _bytes(1, 2)), "leaf.width"),
        (PAIRS, Fixed(16, 1, _bytes(1, 2)), "leaf.width"),
        (pa.int8(), _strings(b"a"), "leaf.kind"),
        (pa.string(), _strings(b"\xff"), "leaf.utf8"),
        (pa.int8(), FixedSizeList(2, 1, None, Fixed(8, 2, _bytes(1, 2))), "leaf.kind"),
        (PAIRS, FixedSizeList(3, 1, None, Fixed(8, 3, _bytes(1, 2, 3))), "leaf.dimension"),
        (pa.int8(), Rows(1, (Fixed(8, 1, _bytes(1)),)), "leaf.kind"),
        (
            pa.struct([("a", pa.int8()), ("b", pa.int8())]),
            Rows(1, (Fixed(8, 1, _bytes(1)),)),
            "leaf.kind",
        ),
    ],
)
def test_values_of_another_type_are_refused(type_, values, clause):
    """Width, kind, dimension, UTF-8, number of fields."""
    assert clause == _clause(leaf_array, type_, values, None, PLACE)


def test_a_value_for_each_visible_entry():
    """Two validity bits for one value."""
    one = Fixed(8, 1, _bytes(1))

    assert "leaf.count" == _clause(leaf_array, pa.int8(), one, np.ones(2, bool), PLACE)


def test_keys_of_an_arrow_dictionary_keep_their_width():
    """The indices become the keys; other widths are refused."""
    type_, items = pa.dictionary(pa.int8(), pa.string()), pa.array(["p", "q"])
    keys = np.array([1, 0], np.uint8)
    array = indexed_array(type_, keys, items, np.array([True, False]), PLACE)

    assert (type_, ["q", None]) == (array.type, array.to_pylist())
    assert "dictionary.key-width" == _clause(
        indexed_array, type_, keys.astype(np.uint16), items, None, PLACE
    )


def test_gates_of_a_leaf():
    """Variable encodings belong to variable types, also inside of others."""
    packed = pb.CompressiveEncoding(general={"values": variable()})

    check_leaf_encoding(pa.string(), packed, PLACE)
    check_leaf_encoding(pa.int64(), flat(64), PLACE)
    assert "leaf.kind" == _clause(check_leaf_encoding, pa.int64(), packed, PLACE)
    assert "leaf.kind" == _clause(check_leaf_encoding, pa.binary(), flat(8), PLACE)
    assert "leaf.offset-width" == _clause(check_leaf_encoding, pa.string(), variable(64), PLACE)
    computed = pb.CompressiveEncoding(
        variable={"offsets": {"range": {"uncompressed_bits_per_value": 64, "step": 1}}}
    )
    check_leaf_encoding(pa.large_string(), computed, PLACE)
    assert "leaf.offset-width" == _clause(check_leaf_encoding, pa.string(), computed, PLACE)
    assert "leaf.offset-width" == _clause(check_offset_width, pa.large_string(), 32, PLACE)


@given(
    st.sampled_from([pa.int8(), pa.uint16(), pa.float32(), pa.int64(), pa.timestamp("us")]),
    st.binary(max_size=160),
    st.data(),
)
def test_bytes_are_the_values(type_, data, draw):
    """The buffer of the array is the bytes that were stored."""
    width = type_.bit_width // 8
    data = data[: len(data) // width * width]
    count = len(data) // width
    validity = draw.draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count))
    flags = None if validity is None else np.array(validity, bool)
    values = Fixed(8 * width, count, np.frombuffer(data, np.uint8))
    array = leaf_array(type_, values, flags, PLACE)

    assert data == bytes(array.buffers()[1] or b"")[: len(data)]
    assert array.null_count == (0 if validity is None else validity.count(False))

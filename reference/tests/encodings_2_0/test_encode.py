"""Arrays, encoded: worked pages of 2.0."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused
from lanceref.encodings_2_0.flat import slice_bits
from lanceref.encodings_2_0.nullable import PageBuffers, encode_nullable, fixed_width


def _encoded(array):
    page = PageBuffers()
    return encode_nullable(array, page), [bytes(buffer) for buffer in page.buffers]


def test_nulls_are_told_by_the_rows():
    """Nothing null, some null, all null, no row: three arms."""
    for values, arm in (
        ([1, 2], "no_nulls"),
        ([1, None], "some_nulls"),
        ([None, None], "all_nulls"),
        ([], "all_nulls"),
    ):
        encoding, buffers = _encoded(pa.array(values, pa.int16()))
        assert encoding.nullable.WhichOneof("nullability") == arm
        assert len(buffers) == {"no_nulls": 1, "some_nulls": 2, "all_nulls": 0}[arm]


def test_the_worked_column_is_a_bitmap_and_three_values():
    """[1, null, 3] of int32: 05, then twelve bytes."""
    encoding, buffers = _encoded(pa.array([1, None, 3], pa.int32()))

    assert buffers == [b"\x05", bytes.fromhex("010000000000000003000000")]
    assert encoding.nullable.some_nulls.validity.flat.bits_per_value == 1
    assert encoding.nullable.some_nulls.values.flat.buffer.buffer_index == 1


def test_lists_put_their_nulls_before_those_of_their_items():
    """Buffers: validity of the lists, validity of the items, items."""
    array = pa.array([[1, None], None], pa.list_(pa.int8(), 2))

    encoding, buffers = _encoded(array)

    assert buffers[0] == b"\x01"
    assert buffers[1] == b"\x01"
    assert len(buffers[2]) == 4
    lists = encoding.nullable.some_nulls.values.fixed_size_list
    assert (lists.dimension, lists.has_validity) == (2, False)


@pytest.mark.parametrize(("start", "count"), [(0, 9), (3, 9), (8, 1), (13, 7)])
def test_bits_are_packed_from_the_first_on(start, count):
    """A slice of a bitmap begins at bit 0; after its last bit are zeros."""
    flags = [i % 3 == 0 for i in range(32)]
    buffer = pa.array(flags).buffers()[1]

    packed = slice_bits(np.frombuffer(buffer, np.uint8), start, count)

    number = int.from_bytes(packed.tobytes(), "little")
    assert [bool(number >> i & 1) for i in range(count)] == flags[start : start + count]
    assert number >> count == 0


def test_booleans_are_bits_and_decimals_are_wide():
    """One bit, and 128."""
    assert fixed_width(pa.array([True, False, True]))[1] == 1
    assert fixed_width(pa.array([1], pa.decimal128(5, 0)))[1] == 128


def test_values_without_a_width_are_refused():
    """Strings inside a fixed-size list have no place."""
    with pytest.raises(DataRefused, match="string"):
        _encoded(pa.array([["a"]], pa.list_(pa.string(), 1)))

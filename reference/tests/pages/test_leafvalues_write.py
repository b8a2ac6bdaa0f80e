"""Leaf values, stored."""

import pyarrow as pa
import pytest
from lanceref.codecs.values import Fixed, FixedSizeList, Rows, Variable
from lanceref.core.errors import DataRefused, Place
from lanceref.pages.leafvalues import has_wide_offsets, leaf_array, stored_values, validity_of

ARRAYS = [
    pa.array([1, None, 3], pa.int16()),
    pa.array([True, None, False] * 7),
    pa.array(["a", None, "", "bcd"]),
    pa.array([b"xy", b""], pa.large_binary()),
    pa.array([b"abc", None], pa.binary(3)),
    pa.array([[1, None], None, [3, 4]], pa.list_(pa.int8(), 2)),
    pa.array([[[1], None]], pa.list_(pa.list_(pa.int8(), 1), 2)),
    pa.array([{"x": 1, "y": 2.5}], pa.struct([("x", pa.int8()), ("y", pa.float32())])),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
@pytest.mark.parametrize("start", [0, 1])
def test_stored_values_read_as_the_array(array, start):
    """The leaf array of the stored values and the validity is the array, of a slice too."""
    array = array.slice(start)

    back = leaf_array(array.type, stored_values(array), validity_of(array), Place("f", 0))

    assert back.to_pylist() == array.to_pylist()


def test_bits_begin_at_the_first_and_end_clear():
    """A slice of booleans is packed again; the bits after the last are 0."""
    array = pa.array([True] * 20)

    for part, packed in ((array.slice(3, 9), [255, 1]), (array.slice(8, 9), [255, 1])):
        values = stored_values(part)
        assert isinstance(values, Fixed)
        assert (values.bits, values.count, values.data.tolist()) == (1, 9, packed)


def test_strings_are_cut_to_their_bytes():
    """Offsets begin at 0, and only the bytes of the slice are kept."""
    values = stored_values(pa.array(["ab", "c", "def"]).slice(1))

    assert isinstance(values, Variable)
    assert values.offsets.tolist() == [0, 1, 4]
    assert bytes(values.data) == b"cdef"


def test_a_fixed_size_list_keeps_the_nulls_of_its_items():
    """The validity of items is stored, that of the lists is not."""
    values = stored_values(pa.array([[1, None], None], pa.list_(pa.int8(), 2)))

    assert isinstance(values, FixedSizeList)
    assert values.validity.tolist() == [True, False, False, False]
    assert (values.dimension, values.count) == (2, 2)


def test_a_packed_struct_has_one_values_object_per_child():
    """Children are stored in field order."""
    type_ = pa.struct([("x", pa.int8()), ("y", pa.string())])

    values = stored_values(pa.array([{"x": 1, "y": "a"}], type_))

    assert isinstance(values, Rows)
    assert [type(one) for one in values.fields] == [Fixed, Variable]


def test_a_null_child_of_a_packed_struct_is_refused():
    """A row of a packed struct has no place for it."""
    with pytest.raises(DataRefused, match="'x'"):
        stored_values(pa.array([{"x": None}], pa.struct([("x", pa.int8())])))


def test_only_large_types_have_wide_offsets():
    """Offsets of 64 bits belong to large strings and binaries."""
    assert [has_wide_offsets(t) for t in (pa.string(), pa.large_string(), pa.int64())] == [
        False,
        True,
        False,
    ]

"""Validity of Arrow arrays."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.pages.leafvalues import both, keys_of, validity_of


@pytest.mark.parametrize("start", [0, 1, 7, 8, 9])
def test_a_slice_has_the_bits_of_its_values(start):
    """The bitmap is read from the slice's own offset on."""
    values = [None if i % 3 == 0 else i for i in range(40)]
    array = pa.array(values, pa.int8()).slice(start, 20)

    assert validity_of(array).tolist() == [value is not None for value in values[start:][:20]]


def test_no_null_is_no_bitmap():
    """None stands for an array whose values are all valid."""
    assert validity_of(pa.array([1, None, 3]).slice(2)) is None


def test_the_null_type_is_never_valid():
    """It has no bitmap and no valid value."""
    assert validity_of(pa.nulls(2)).tolist() == [False, False]


def test_a_dictionary_value_is_null_by_its_key_or_by_its_item():
    """Keys [0, null, 1, 0] into ['a', null]: the second and third values are null."""
    keys = pa.array([0, None, 1, 0], pa.int8())
    array = pa.DictionaryArray.from_arrays(keys, pa.array(["a", None]))

    assert validity_of(array).tolist() == [True, False, False, True]
    assert keys_of(array)[[0, 2, 3]].tolist() == [0, 1, 0]


def test_both_is_the_common_part():
    """None changes nothing."""
    one, other = np.array([True, False, True]), np.array([True, True, False])

    assert both(one, other).tolist() == [True, False, False]
    assert both(None, other) is other
    assert both(one, None) is one

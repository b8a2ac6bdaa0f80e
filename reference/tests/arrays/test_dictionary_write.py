"""Arrow dictionaries, encoded for 2.0."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.arrays.dictionary_write import encode_dictionary, is_variable
from lanceref.arrays.encode import PageBuffers
from lanceref.errors import DataRefused


def _coded(keys, items):
    return pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(items))


def _encoded(*arrays):
    page = PageBuffers()
    return encode_dictionary(arrays, page).dictionary, [bytes(one) for one in page.buffers]


def test_keys_count_from_zero_in_their_own_width():
    """No shift: key 1 is item 1."""
    found, buffers = _encoded(_coded([1, 0, 1], ["a", "b"]))

    assert buffers[0] == bytes([1, 0, 1])
    assert found.num_dictionary_items == 2
    assert found.indices.nullable.no_nulls.values.flat.bits_per_value == 8


def test_null_rows_point_at_a_null_item():
    """One is added behind the others, or the first there is."""
    added, buffers = _encoded(_coded([0, None], ["a"]))
    assert (added.num_dictionary_items, buffers[0]) == (2, bytes([0, 1]))

    present, buffers = _encoded(_coded([0, None, 2], [None, "a", "b"]))
    assert (present.num_dictionary_items, buffers[0]) == (3, bytes([0, 0, 2]))


def test_nothing_but_nulls_keeps_no_item_but_the_null():
    """One item, all keys 0."""
    found, buffers = _encoded(_coded([None, None], ["a", "b"]))

    assert (found.num_dictionary_items, buffers[0]) == (1, bytes([0, 0]))


def test_dictionaries_stand_one_after_the_other():
    """The keys of the second array are moved behind the items of the first."""
    found, buffers = _encoded(_coded([0, 1], ["a", "b"]), _coded([0], ["a"]))

    assert (found.num_dictionary_items, buffers[0]) == (3, bytes([0, 1, 2]))


def test_more_items_than_keys_can_tell_are_refused():
    """128 items and a null do not fit in int8."""
    array = _coded([0, None], list(range(128)))

    with pytest.raises(DataRefused, match="129"):
        _encoded(array)


def test_items_of_numbers_are_plain():
    """Values of fixed width behind the keys."""
    found, buffers = _encoded(_coded([0, 0], [7]))

    assert found.items.WhichOneof("array_encoding") == "nullable"
    assert np.frombuffer(buffers[1], "<i8").tolist() == [7]


def test_strings_and_binaries_are_variable():
    """Large ones too, and nothing else."""
    types = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())

    assert all(map(is_variable, types))
    assert not is_variable(pa.binary(3))

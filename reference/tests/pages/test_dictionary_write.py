"""Arrow dictionaries, stored."""

import pyarrow as pa
import pytest
from lanceref.codecs.values import Fixed, Variable
from lanceref.pages.leafvalues import dictionary_parts


@pytest.mark.parametrize("key", [pa.int8(), pa.uint16(), pa.int64()])
def test_keys_keep_their_width(key):
    """Keys are stored as wide as the type declares."""
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], key), pa.array(["a", "b"]))

    keys, items = dictionary_parts(array)

    assert isinstance(keys, Fixed)
    assert isinstance(items, Variable)
    assert (keys.bits, keys.count) == (key.bit_width, 3)
    assert keys.data.view(key.to_pandas_dtype())[:2].tolist() == [1, 0]
    assert bytes(items.data) == b"ab"


def test_null_items_are_dropped_and_keys_moved():
    """['a', null, 'b'] becomes ['a', 'b'], and key 2 becomes 1."""
    keys = pa.array([2, 1, 0, None], pa.int8())
    array = pa.DictionaryArray.from_arrays(keys, pa.array(["a", None, "b"]))

    stored, items = dictionary_parts(array)

    assert bytes(items.data) == b"ab"
    assert [stored.data.tolist()[i] for i in (0, 2)] == [1, 0]
    assert max(stored.data.tolist()) < items.count


def test_a_slice_stores_the_whole_dictionary():
    """Only the keys are cut."""
    array = pa.array(["a", "b", "c"]).dictionary_encode().slice(2)

    keys, items = dictionary_parts(array)

    assert keys.data.view("<i4").tolist() == [2]
    assert items.count == 3

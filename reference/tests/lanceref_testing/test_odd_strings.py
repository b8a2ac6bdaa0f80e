"""Odd strings: bytes of nulls, keys of dictionaries."""

import numpy as np
import pyarrow as pa
from lanceref.encodings_2_0.binary import variable_of
from lanceref_testing.odd_arrays import OddPage
from lanceref_testing.odd_strings import odd_dictionary, odd_strings, owning
from lanceref_testing.oddities import Chance


def test_null_rows_may_own_bytes():
    """The strings around them keep theirs."""
    array = pa.array(["ab", None, "c", None])
    nulls = np.asarray(array.is_null())
    lengths = set()
    for seed in range(50):
        values = owning(variable_of(array), nulls, Chance(seed, {"bytes of null strings"}))
        cut = [bytes(values.data[a:b]) for a, b in zip(values.offsets, values.offsets[1:])]
        lengths.add(len(cut[1]))
        assert (cut[0], cut[2]) == (b"ab", b"c")
        assert set(cut[1] + cut[3]) <= {ord("?")}

    assert lengths == {0, 1, 2, 3, 4}


def test_strings_of_one_width_have_no_ends():
    """ "ab" and "cd": width two, four bytes."""
    for seed in range(50):
        page = OddPage(Chance(seed, {"strings of one width"}), [])
        encoding = odd_strings(pa.array(["ab", "cd"]), page)
        equal = encoding.nullable.no_nulls.values.fixed_size_binary
        if equal.byte_width:
            assert equal.byte_width == 2
            assert equal.bytes.flat.bits_per_value == 8
            assert bytes(page.buffers[0]) == b"abcd"
            return
    raise AssertionError("never drawn")


def test_dictionary_keys_name_items_in_any_order():
    """Null rows name items that are null."""
    array = pa.array(["x", None, "y", "x"]).dictionary_encode()
    for seed in range(20):
        page = OddPage(Chance(seed, {"null items"}), [])
        encoding = odd_dictionary(array, page).dictionary
        keys = np.frombuffer(page.buffers[0], "<i4")
        assert keys[0] == keys[3]
        assert len({*keys.tolist()}) == 3
        assert 3 <= encoding.num_dictionary_items <= 5

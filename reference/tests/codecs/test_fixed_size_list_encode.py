"""Fixed-size lists, encoded."""

import numpy as np
import pytest
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.compressive import decode_zip_fixed
from lanceref.codecs.fixed_size_list import (
    bytes_per_word,
    encode_mini,
    encode_zip,
    is_empty,
    list_encoding,
)
from lanceref.codecs.values import Fixed, FixedSizeList
from lanceref.core.errors import CorruptPage

from .encoded_runs import decoded, fixed, parts_of
from .runs import CTX, PLACE, cursor_of


def _lists(dimension, items, validity=None, bits=16):
    valid = None if validity is None else np.array(validity, np.bool_)
    return FixedSizeList(dimension, len(items) // dimension, valid, fixed(items, bits))


def test_a_chunk_has_a_bitmap_and_the_items():
    """Three lists of two, the second item null: 111101, then six items."""
    blocks = encode_mini(_lists(2, [1, 2, 3, 4, 5, 6], [1, 0, 1, 1, 1, 1]), np.array([2, 1]))

    bitmaps, items = blocks.buffers
    assert parts_of(bitmaps) == [bytes([0b1101]), bytes([0b11])]
    assert [len(part) for part in parts_of(items)] == [8, 4]
    back = decoded(blocks)
    assert back.validity.tolist() == [True, False, True, True, True, True]
    assert back.items.data.view("<u2").tolist() == [1, 2, 3, 4, 5, 6]


def test_bits_of_a_chunk_begin_at_a_byte():
    """Lists of three booleans: nine bits for three lists, packed anew in the next chunk."""
    values = FixedSizeList(3, 4, None, Fixed(1, 12, np.packbits([1] * 12, bitorder="little")))

    blocks = encode_mini(values, np.array([2, 2]))

    assert parts_of(blocks.buffers[0]) == [bytes([0b111111])] * 2


def test_a_value_is_its_bitmap_and_its_items():
    """FSL<u16, 2> with a null: one byte, then four."""
    encoding, rows = encode_zip(_lists(2, [1, 2, 3, 4], [1, 0, 1, 1]))

    cells = rows.data.reshape(2, 5)
    assert cells[:, 0].tolist() == [0b1101, 0b11]
    assert encoding.fixed_size_list.has_validity
    back = decode_zip_fixed(encoding, cells, CTX, PLACE)
    assert back.validity.tolist() == [True, False, True, True]


def test_lists_of_nothing_but_nulls_have_no_items():
    """The child is a constant without value; the value is its bitmap."""
    values = _lists(4, [0] * 8, [0] * 8)

    encoding, rows = encode_zip(values)

    assert is_empty(values)
    assert encoding.fixed_size_list.values.HasField("constant")
    assert (rows.bits, rows.data.tolist()) == (8, [0, 0])


def test_nested_lists_come_back():
    """Lists of two lists of three, nulls at both levels."""
    inner = _lists(3, range(12), [1] * 11 + [0])
    values = FixedSizeList(2, 2, np.array([True, False, True, True]), inner)

    back = decoded(encode_mini(values, np.array([1, 1])))

    assert back.validity.tolist() == [True, False, True, True]
    assert back.items.validity.tolist() == [True] * 11 + [False]
    assert bytes_per_word(values) == (1 + 1 + 12, 1)
    assert list_encoding(values, keeps_null_items=True).fixed_size_list.items_per_value == 2


def test_bits_that_fill_no_byte_cannot_be_zipped():
    """Three booleans a value are refused."""
    values = FixedSizeList(3, 1, None, Fixed(1, 3, np.array([7], np.uint8)))

    with pytest.raises(ValueError, match="whole bytes"):
        encode_zip(values)


def test_a_dictionary_of_null_items_may_have_twice_its_bytes():
    """D.codec.null-list-dictionary: what lies after the first half is passed over."""
    encoding, rows = encode_zip(_lists(4, [0] * 8, [0] * 8))
    stored = bytes(rows.data)

    for data in (stored, stored + bytes(2)):
        back = decode_block(encoding, cursor_of(data), 2)
        assert back.validity.tolist() == [False] * 8
    with pytest.raises(CorruptPage, match=r"fixed-size-list\.size"):
        decode_block(encoding, cursor_of(stored + bytes(1)), 2)

"""Packed structs, encoded."""

import numpy as np
import pytest
from lanceref.codecs.compressive import decode_zip_fixed, decode_zip_variable
from lanceref.codecs.packed_struct import join, join_variable
from lanceref.codecs.values import Fixed, Rows, flat_encoding
from lanceref.codecs.variable import variable_encoding

from .encoded_runs import fixed, texts_of, variable
from .runs import CTX, PLACE


def test_fields_of_a_row_stand_side_by_side():
    """i16 and u8: three bytes a row."""
    encoding, rows = join(Rows(2, (fixed([1, 2], 16), fixed([9, 8], 8))))

    assert bytes(rows.data) == bytes([1, 0, 9, 2, 0, 8])
    assert list(encoding.packed_struct.bits_per_value) == [16, 8]
    back = decode_zip_fixed(encoding, rows.data.reshape(2, 3), CTX, PLACE)
    assert [field.data.tolist() for field in back.fields] == [[1, 0, 2, 0], [9, 8]]


def test_variable_fields_have_their_length_before_them():
    """u8 and string: 09 | 02 00 00 00 'ab', then 08 | 00 00 00 00."""
    fields = [
        (flat_encoding(8), fixed([9, 8], 8), 32),
        (variable_encoding(32), variable([b"ab", b""]), 32),
    ]

    encoding, rows = join_variable(2, fields)

    assert texts_of(rows) == [bytes([9, 2, 0, 0, 0]) + b"ab", bytes([8, 0, 0, 0, 0])]
    back = decode_zip_variable(encoding, rows, CTX, PLACE)
    assert back.fields[0].data.tolist() == [9, 8]
    assert texts_of(back.fields[1]) == [b"ab", b""]


def test_bits_cannot_be_packed():
    """A boolean field is refused."""
    with pytest.raises(ValueError, match="whole bytes"):
        join(Rows(1, (Fixed(1, 1, np.array([1], np.uint8)),)))

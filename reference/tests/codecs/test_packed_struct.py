"""Packed structs: rows of fixed fields, rows cut field by field."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.compressive import decode_zip_fixed, decode_zip_variable
from lanceref.codecs.packed_struct import check_bits, split
from lanceref.codecs.values import Fixed
from lanceref.core.errors import BytesError, CorruptPage

from .encodings import flat, fsst, general, lists, packed_struct, variable, variable_rows
from .runs import CTX, PLACE, check, plain, words
from .test_fsst import strings, table_bytes
from .test_general import compress


def test_fields_stand_side_by_side():
    """Rows of a u16 and a u32 are six bytes, without padding."""
    data = words([1], 16) + words([70000], 32) + words([2], 16) + words([5], 32)

    rows = split(Fixed(48, 2, np.frombuffer(data, np.uint8)), [16, 32])

    assert [(1, 70000), (2, 5)] == plain(rows)


@pytest.mark.parametrize("bits", [[16, 16], [16, 1], [48, 0], [16, 33]])
def test_fields_that_do_not_fill_the_row_are_refused(bits):
    """Fields are whole bytes and add up to the row."""
    with pytest.raises(CorruptPage, match=r"L\.codec\.packed-struct\.bits"):
        check_bits(bits, 48, PLACE)


def test_no_rows_are_split_into_no_values():
    """An empty page of rows has empty fields."""
    assert [] == plain(split(Fixed(48, 0, np.empty(0, np.uint8)), [16, 32]))


ENCODING = variable_rows(
    (flat(16), "bits_per_value", 16),
    (variable(32), "bits_per_length", 32),
    (lists(2, flat(8)), "bits_per_value", 16),
)


def row(number, text, items):
    """Write a row of ENCODING."""
    return words([number], 16) + words([len(text)], 32) + text + bytes(items)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**16 - 1),
            st.binary(max_size=9),
            st.lists(st.integers(0, 255), min_size=2, max_size=2),
        )
    )
)
def test_variable_rows_are_cut_field_by_field(rows):
    """Fixed fields have their bytes, variable ones a length before them."""
    stored = strings([row(*values) for values in rows])

    assert rows == plain(decode_zip_variable(ENCODING, stored, CTX, PLACE))


def test_fields_may_be_coded_and_nested():
    """A field is decoded by its own encoding: symbols, compressed values, rows in rows."""
    encoding = variable_rows(
        (packed_struct([8, 8], flat(16)), "bits_per_value", 16),
        (fsst(table_bytes([b"http"]), variable(32)), "bits_per_length", 32),
        (general("zstd", variable(64)), "bits_per_length", 64),
    )
    packed = compress("zstd", b"abc")
    stored = b"\x01\x02" + words([1], 32) + b"\x00" + words([len(packed)], 64) + packed

    decoded = decode_zip_variable(encoding, strings([stored, stored]), CTX, PLACE)

    assert [((1, 2), b"http", b"abc")] * 2 == plain(decoded)


@pytest.mark.parametrize(
    "stored",
    [
        row(1, b"ab", [1, 2]) + b"\0",
        row(1, b"ab", [1]),
        words([1], 16) + words([9], 32) + b"abcd",
        words([1], 16) + b"\0\0\0",
        words([1], 16) + words([2**32 - 1], 32),
    ],
)
def test_rows_that_are_not_used_up_are_refused(stored):
    """The fields of a row end where the row ends."""
    good = row(1, b"ab", [1, 2])

    with pytest.raises(CorruptPage, match=r"L\.codec\.packed-struct\.row"):
        decode_zip_variable(ENCODING, strings([good, stored]), CTX, PLACE)


def test_a_length_that_leads_back_is_refused():
    """A length of 2**64 - 8 does not step back over itself to feed the next field."""
    encoding = variable_rows(
        (variable(64), "bits_per_length", 64), (flat(64), "bits_per_value", 64)
    )

    with pytest.raises(CorruptPage, match=r"L\.codec\.packed-struct\.row"):
        decode_zip_variable(encoding, strings([words([2**64 - 8], 64)]), CTX, PLACE)


@given(st.lists(st.binary(max_size=14), max_size=4))
def test_any_rows_are_refused_or_read(rows):
    """Any bytes give values or a LanceError."""
    try:
        values = decode_zip_variable(ENCODING, strings(rows), CTX, PLACE)
    except BytesError as error:
        assert "L.codec.packed-struct.row" == error.clause
    else:
        check(values)


def test_a_zipped_row_of_2_3_is_the_row_itself():
    """Fixed rows of a full-zip page split like those of a chunk."""
    rows = np.frombuffer(bytes(range(8)), np.uint8).reshape(2, 4)

    decoded = decode_zip_fixed(packed_struct([8, 24], flat(32)), rows, CTX, PLACE)

    assert [(0, 0x030201), (4, 0x070605)] == plain(decoded)

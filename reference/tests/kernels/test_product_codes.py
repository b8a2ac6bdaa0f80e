"""Codes of a product quantizer as bytes."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.kernels.product_quantizer import codes_in, columns_from, columns_of, stored_from


def test_transposed_rows_are_columns_cut_into_rows():
    """Three rows of two bytes, transposed, hold all first bytes before the second ones."""
    columns = np.array([[1, 2, 3], [11, 12, 13]], np.uint8)
    assert stored_from(columns, transposed=True).tolist() == [[1, 2], [3, 11], [12, 13]]
    assert stored_from(columns, transposed=False).tolist() == [[1, 11], [2, 12], [3, 13]]


def test_of_two_codes_the_first_is_the_low_half():
    """The codes 1, 2, 3, 4 of one row are the bytes 0x21 and 0x43."""
    codes = np.array([[1], [2], [3], [4]], np.uint8)
    assert columns_from(codes, 4).tolist() == [[0x21], [0x43]]
    assert columns_from(codes, 8).tolist() == codes.tolist()


@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(0, 40))),
    st.booleans(),
)
def test_columns_come_back(columns, transposed):
    """What was stored of columns is read as them."""
    stored = stored_from(columns, transposed=transposed)
    assert stored.shape == columns.shape[::-1]
    np.testing.assert_array_equal(columns_of(stored, transposed=transposed), columns)


@pytest.mark.parametrize("num_bits", [4, 8])
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(0, 40))))
def test_codes_come_back(num_bits, columns):
    """Codes taken from bytes make these bytes again."""
    np.testing.assert_array_equal(columns_from(codes_in(columns, num_bits), num_bits), columns)

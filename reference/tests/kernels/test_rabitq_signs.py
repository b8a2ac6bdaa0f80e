"""The signs of RabitQ."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.kernels.rabitq_codes import columns_of, sign_columns, signs_in, stored_from


def test_worked_signs():
    """Component i is bit i of its byte; zero counts as positive, minus zero does not."""
    rotated = np.array([[1, -1, 0.0, -0.0, 2, -2, -3, 4]], np.float32)
    columns = sign_columns(rotated)
    assert columns.tolist() == [[0b10010101]]
    assert signs_in(columns).tolist() == [[True, False, True, False, True, False, False, True]]


def test_worked_block():
    """Of 33 rows, 32 are cut into halves, in the order of a shuffle, and one is left as it is."""
    columns = np.arange(33, dtype=np.uint8)[None] * 7 % 251
    stored = stored_from(columns, packed=True)[:, 0]
    rows = columns[0].tolist()
    assert stored[0] == (rows[0] & 15) | (rows[16] & 15) << 4
    assert stored[1] == (rows[8] & 15) | (rows[24] & 15) << 4
    assert stored[2] == (rows[1] & 15) | (rows[17] & 15) << 4
    assert stored[31] == rows[15] >> 4 | rows[31] & 0xF0
    assert stored[32] == rows[32]


def test_rows_behind_the_blocks_are_transposed():
    """Two rows of two bytes are the first bytes, then the second ones."""
    columns = np.array([[1, 2], [11, 12]], np.uint8)
    assert stored_from(columns, packed=True).tolist() == [[1, 2], [11, 12]]
    assert stored_from(columns, packed=False).tolist() == [[1, 11], [2, 12]]


@pytest.mark.parametrize("packed", [True, False])
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 4), st.integers(0, 100))))
def test_columns_come_back(packed, columns):
    """What was stored of columns is read as them."""
    stored = stored_from(columns, packed=packed)
    assert stored.shape == columns.shape[::-1]
    np.testing.assert_array_equal(columns_of(stored, packed=packed), columns)

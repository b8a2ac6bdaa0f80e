"""Look-ups."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.fast import look_up as fast_look_up
from lanceref.kernels import product_quantizer
from lanceref.kernels.product_quantizer import look_up, pair_columns


def test_worked_numbers():
    """Two tables, n and 1000 n: the bytes 3 and 4 make 4003."""
    table = np.stack([np.arange(256), 1000 * np.arange(256)]).astype(np.int32)
    columns = np.array([[3, 0, 255], [4, 255, 0]], np.uint8)
    assert look_up(table, columns).tolist() == [4003, 255_000, 255]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint16])
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(0, 50))))
def test_pairs_make_no_difference(dtype, columns):
    """Of few rows or many, in blocks of any size, sums are those of the entries."""
    least = 0 if dtype == np.uint16 else -1000
    table = np.random.default_rng(1).integers(least, 1000, (len(columns), 256)).astype(dtype)
    wanted = sum(row[column].astype(int) for row, column in zip(table, columns, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_look_up, "BLOCK_ROWS", 16)
        for worth in (0, 1000):
            patch.setattr(product_quantizer, "WORTH_PAIRS", worth)
            ready = pair_columns(columns)
            assert (ready.dtype == np.uint16) is (worth == 0 and len(columns) % 2 == 0)
            found = look_up(table, ready)
            assert (found.dtype, found.tolist()) == (dtype, wanted.tolist())
            patch.setattr(product_quantizer, "WORTH_PAIRS", 1000)  # of pairs, some rows only
            assert look_up(table, columns).tolist() == wanted.tolist()
            more = look_up(table, ready, found)
            assert (more.dtype, more.tolist()) == (dtype, (2 * wanted).tolist())

"""Byte products: blocks of any size give what one product gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels import distance
from lanceref.kernels.distance import blocks, products


def test_by_hand():
    """(1, 2) and (255, 0) times (3, -1); no rows have no products."""
    rows = np.array([[1, 2], [255, 0]], np.uint8)
    assert products(rows, np.array([3, -1], np.float32)).tolist() == [1, 765]
    assert products(rows[:0], np.array([3, -1], np.float32)).tolist() == []


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 64), st.sampled_from(["f4", "f8"]))
def test_blocks_do_not_show(count, width, size, dtype):
    """Whole numbers come out exactly, in the type of the vector, whatever is multiplied at once."""
    of_rows = {1: "u1", 2: "f2"}.get(width % 3, "f4")
    rows = np.arange(count * width).reshape(count, width).astype(np.uint8).astype(of_rows)
    vector = np.arange(width, dtype=dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "BLOCK_VALUES", size)
        found, cut = products(rows, vector), list(blocks(rows))
    assert found.dtype == dtype
    assert found.tolist() == (rows.astype(np.int64) @ vector.astype(np.int64)).tolist()
    assert [place for one in cut for place in range(one.start, one.stop)] == list(range(count))

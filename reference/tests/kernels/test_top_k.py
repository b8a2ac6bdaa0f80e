"""The k smallest values."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.fast import top_k
from lanceref.kernels.top_k import smallest


def test_equal_values_come_in_order():
    """Of equal values those at the first places are taken, in order."""
    values = np.array([3, 1, 2, 1, 1, 0], np.float32)
    assert smallest(values, 3).tolist() == [5, 1, 3]
    assert smallest(values, 0).tolist() == []
    assert smallest(values, 9).tolist() == [5, 1, 3, 4, 2, 0]


def test_what_is_no_number_comes_last():
    """Values that are no numbers are taken when nothing else is left."""
    values = np.array([np.nan, np.inf, 1, np.nan], np.float32)
    assert smallest(values, 3).tolist() == [2, 1, 0]


@given(
    hnp.arrays(np.float32, st.integers(0, 300), elements=st.floats(width=32)),
    st.integers(0, 310),
    st.sampled_from([4, 16, 4096]),
    st.sampled_from([0, 8]),
)
def test_as_a_sort_says(values, k, sample, spare):
    """However the threshold was guessed, a stable sort has the same places first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_k, "SAMPLE", sample)
        patch.setattr(top_k, "SPARE", spare)
        found = smallest(values, k)
    assert found.tolist() == np.argsort(values, kind="stable")[:k].tolist()


def test_a_threshold_that_was_too_low_is_replaced():
    """The smallest are found where the sample saw only the very smallest."""
    values = np.ones(3 * top_k.SAMPLE, np.float32)
    values[::3] = 0
    values[::4] = -np.arange(len(values[::4]))
    assert smallest(values, 4000).tolist() == np.argsort(values, kind="stable")[:4000].tolist()

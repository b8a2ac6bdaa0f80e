"""bfloat16 in data frames."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from pylanceref.bfloat16 import BFloat16, bfloat16_array  # noqa: E402
from pylanceref.bfloat16_frames import PandasBFloat16Array, PandasBFloat16Type  # noqa: E402


def test_an_array_becomes_a_column():
    """With its nulls; by name of the type too."""
    array = bfloat16_array([1.1, None, 3.4])
    column = array.to_pandas()

    assert column[0] == BFloat16(1.1) and column[1] is None
    assert [False, True, False] == column.isna().tolist()
    assert array == column.array.__arrow_array__()
    pd.testing.assert_series_equal(column, pd.Series(column, dtype="lance.bfloat16"))


def test_rows_of_a_column():
    """By slices, masks and positions; numbers become values."""
    column = pd.Series([1.0, 2.0, 3.0, None], dtype="lance.bfloat16")

    assert [BFloat16(2.0), BFloat16(3.0)] == list(column[1:3])
    assert [BFloat16(1.0), None] == list(column[np.array([True, False, False, True])])
    assert [BFloat16(3.0), BFloat16(1.0)] == list(column.take([2, 0]))
    assert [BFloat16(1.0), None] == list(column.array.take(np.array([0, -1]), allow_fill=True))
    assert [1.0, 2.0] == column[:2].to_numpy().tolist()


def test_only_its_own_name_is_the_type():
    """Another is refused."""
    assert PandasBFloat16Array is PandasBFloat16Type.construct_array_type()
    with pytest.raises(TypeError, match="from 'float'"):
        PandasBFloat16Type.construct_from_string("float")

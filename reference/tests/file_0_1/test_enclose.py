"""Statistics held against values."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.file_0_1.statistics import bounds_array, bounds_of, faults


def _faults(values: pa.Array, null_count: int, low: object, high: object) -> list[str]:
    type_ = values.type
    bounds = pa.scalar(low, type_), pa.scalar(high, type_)
    return [clause.rpartition(".")[2] for clause, _, _ in faults(values, null_count, *bounds)]


@pytest.mark.parametrize(
    ("values", "null_count", "low", "high", "found"),
    [
        (pa.array([1, 0, 3]), 1, 1, 3, []),
        (pa.array([1, 0, 3]), 0, 1, 3, ["bounds"]),
        (pa.array([1, 0, 3]), 1, 1, 2, ["bounds"]),
        (pa.array([1, 0, 3]), -1, 0, 3, ["null-count"]),
        (pa.array([1, 0, 3]), 4, 0, 3, ["null-count"]),
        (pa.array([1.0, float("nan")]), 0, 1.0, 1.0, []),
        (pa.array([0.0]), 0, 0.0, 0.0, ["zero-sign"]),
        (pa.array([0.0]), 0, -0.0, 0.0, []),
        (pa.array([0.0]), 0, -0.0, -0.0, ["zero-sign"]),
        (pa.array(["b", None]), 1, "a", "b", []),
        (pa.array(["b", None]), 0, "c", None, ["bounds"]),
        (pa.array(["b"]), 0, None, "a", ["bounds"]),
        (pa.array(["b"]), 0, None, None, []),
        (pa.array(["b"]), 0, "a" * 65, "c", ["prefix"]),
        (pa.array([True, False]), 0, True, True, ["bounds"]),
    ],
)
def test_faults_by_hand(values, null_count, low, high, found):
    """Null values may lie anywhere, NaN too, a null bound says nothing."""
    assert found == _faults(values, null_count, low, high)


@given(
    st.lists(st.none() | st.integers(-128, 127), min_size=1).map(lambda v: pa.array(v, pa.int8()))
    | st.lists(st.none() | st.floats(width=32), min_size=1).map(lambda v: pa.array(v, pa.float32()))
    | st.lists(st.none() | st.text(), min_size=1).map(lambda v: pa.array(v, pa.string()))
    | st.lists(st.none() | st.binary(min_size=60), min_size=1).map(
        lambda v: pa.array(v, pa.large_binary())
    )
)
def test_bounds_that_are_written_enclose_the_values(array):
    """Every null reads as zero or null."""
    null_count, low, high = bounds_of(array)
    scalars = [bounds_array([bound], array.type)[0] for bound in (low, high)]
    seen = (
        array
        if pa.types.is_string(array.type)
        else array.fill_null(
            pa.scalar(0).cast(array.type) if not pa.types.is_large_binary(array.type) else b""
        )
    )
    assert [] == list(faults(seen, null_count, *scalars))

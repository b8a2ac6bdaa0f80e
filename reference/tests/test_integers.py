"""Integers: the same values in Arrow, on the same memory; each of them once."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.integers import (
    arrow_array,
    difference,
    intersection,
    is_in,
    union,
    unique,
    unique_inverse,
)

DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 127)), st.integers(1, 3))
def test_values_are_kept(dtype: str, values: list[int], step: int) -> None:
    """Values and width are those of the NumPy array, whatever its strides."""
    numbers = np.array(values, dtype)[::step]
    found = arrow_array(numbers)
    found.validate(full=True)
    assert found.type == pa.from_numpy_dtype(numbers.dtype)
    assert found.to_pylist() == values[::step]


def test_memory_is_shared() -> None:
    """Nothing is copied where the integers lie side by side."""
    numbers = np.arange(9)
    assert arrow_array(numbers).buffers()[1].address == numbers.ctypes.data


def test_pandas_is_not_imported() -> None:
    """Making an array, and taking by it, leaves pandas alone."""
    program = (
        "import sys, numpy as np\n"
        "from lanceref.core.integers import arrow_array\n"
        "numbers = arrow_array(np.arange(9))\n"
        "assert numbers.take(numbers) == numbers\n"
        "print('pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


@given(st.lists(st.integers(-9, 9)), st.booleans())
def test_each_integer_is_there_once(values: list[int], ascending: bool) -> None:
    """Ascending, and each that was given is found again by its place."""
    numbers = np.array(sorted(set(values)) if ascending else values, np.int64)
    distinct, places = unique_inverse(numbers)
    assert distinct.tolist() == sorted(set(numbers.tolist()))
    assert distinct[places].tolist() == numbers.tolist()


NUMBERS = st.lists(st.integers(0, 20))


@given(NUMBERS, NUMBERS, st.sampled_from(DTYPES), st.booleans())
def test_sets_are_those_of_python(
    left: list[int], right: list[int], dtype: str, ascending: bool
) -> None:
    """Whether what is given is one already or not; the type stays."""
    given_left = sorted(set(left)) if ascending else left
    one, other = np.array(given_left, dtype), np.array(right, dtype)
    found = [unique(one), union(one, other), difference(one, other), intersection(one, other)]
    mine, theirs = set(left), set(right)

    wanted = [mine, mine | theirs, mine - theirs, mine & theirs]
    assert [one.tolist() for one in found] == [sorted(one) for one in wanted]
    assert {one.dtype for one in found} == {np.dtype(dtype)}
    assert is_in(one, other).tolist() == [number in theirs for number in given_left]

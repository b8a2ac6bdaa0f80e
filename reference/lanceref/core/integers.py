"""Integers: as an Arrow array on the same memory, each of them once, and as sets.

`pa.array` does the first too, but imports pandas before where there is one: a third of a second and
60 MiB that reading a file does not need. `np.unique` and what is made of it (`np.union1d` and so
on) do the others, but hash what is mostly sorted already: a million rows take half a second.

A set is ascending, each integer once.
"""

from __future__ import annotations

from operator import index
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def arrow_array(values: NDArray[np.integer]) -> pa.Array:
    """Return integers (n,) as an Arrow array without nulls."""
    memory = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, memory])


Number = TypeVar("Number", bound=np.integer)
"""The type of integers that go in and come out."""


def unique(values: NDArray[Number]) -> NDArray[Number]:
    """Return integers (n,) as a set; the array itself if it is one."""
    if (values[1:] > values[:-1]).all():
        return values
    ascending = np.sort(values)
    kept: NDArray[Number] = ascending[np.append(True, ascending[1:] != ascending[:-1])]
    return kept


def union(one: NDArray[Number], other: NDArray[Number]) -> NDArray[Number]:
    """Return the integers of both as a set. Both are (n,) and (m,)."""
    return unique(np.concatenate([one, other]))


def difference(values: NDArray[Number], gone: NDArray[Number]) -> NDArray[Number]:
    """Return as a set the integers that are not among others. Both are (n,) and (m,)."""
    rest = unique(values)
    return rest[~is_in(rest, gone)]


def intersection(one: NDArray[Number], other: NDArray[Number]) -> NDArray[Number]:
    """Return as a set the integers that both have. Both are (n,) and (m,)."""
    first = unique(one)
    return first[is_in(first, other)]


def is_in(values: NDArray[Number], wanted: NDArray[Number]) -> NDArray[np.bool_]:
    """Return for each integer (n,) whether it is among the wanted."""
    known = unique(wanted)
    if not len(known):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    same: NDArray[np.bool_] = known[places] == values
    return same


def unique_inverse(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return integers (n,) ascending, each once, and where each that is given is among these."""
    if (values[1:] > values[:-1]).all():
        return values, np.arange(len(values))
    order = values.argsort(kind="stable")
    ascending = values[order]
    first = np.ones(len(values), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    places = np.empty(len(values), np.int64)
    places[order] = np.cumsum(first) - 1
    return ascending[first], places


def unsigned(value: int, bits: int = 64) -> int:
    """Return a number that so many bits hold. Raises TypeError and OverflowError."""
    number = index(value)
    if not 0 <= number < 1 << bits:
        raise OverflowError(f"{number} is no unsigned {bits}-bit integer")
    return number

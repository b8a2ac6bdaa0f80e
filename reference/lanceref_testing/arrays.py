"""Random arrays: values of distributions for which writers choose each encoding.

An array is drawn from two patterns: that of nulls (none, some, all, first, last), and that of
values (equal, in runs, small, long …).
"""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st
from lanceref.core.file_versions import FileVersion
from numpy.typing import NDArray

from lanceref_testing.fixed_width import bitmap_of, random_fixed
from lanceref_testing.strings import random_strings
from lanceref_testing.types import STRINGS, children, may_be_null

NULL_PATTERNS = ("none", "some", "all", "first", "last")
"""Patterns of nulls."""

MAX_ITEMS = 20_000
"""Most items of a list array, so that nested arrays are small."""


def random_array(
    rng: Random,
    type_: pa.DataType,
    num_rows: int,
    version: FileVersion,
    *,
    nullable: bool = True,
    labels: set[str] | None = None,
) -> pa.Array:
    """Draw an array, and add the names of its patterns to `labels`."""
    seen = set() if labels is None else labels
    validity = random_validity(rng, num_rows, nullable and may_be_null(type_, version), seen)
    types = pa.types
    if types.is_null(type_):
        return pa.nulls(num_rows)
    if children(type_):
        is_list = not types.is_struct(type_)
        offsets = _offsets(rng, validity, seen) if is_list else np.array([num_rows])
        total, fields = int(offsets[-1]), children(type_)
        nested = [
            random_array(rng, f.type, total, version, nullable=f.nullable, labels=seen)
            for f in fields
        ]
        if types.is_map(type_):
            nested = [pa.StructArray.from_arrays(nested, fields=fields)]
        wide = offsets.astype(np.int64 if types.is_large_list(type_) else np.int32)
        return _nested(type_, validity, [pa.py_buffer(wide)] if is_list else [], nested)
    if types.is_fixed_size_list(type_):
        num_items = num_rows * type_.list_size
        items = random_array(rng, type_.value_type, num_items, version, nullable=nullable)
        return _nested(type_, validity, [], [items])
    if types.is_dictionary(type_):
        return _dictionary(rng, type_, validity, version)
    if type_ in STRINGS:
        strings = random_strings(rng, type_, num_rows, seen)
        # older pyarrow takes strings for null keys if the bitmap has no null
        if not validity.all():
            strings = pc.if_else(pa.array(validity), strings, pa.scalar(None, type_))
        return strings
    return random_fixed(rng, type_, validity, seen)


def random_validity(
    rng: Random, num_rows: int, nullable: bool, labels: set[str]
) -> NDArray[np.bool_]:
    """Draw which rows are valid."""
    pattern = rng.choice(("none", *NULL_PATTERNS)) if nullable else "none"
    validity = np.ones(num_rows, np.bool_)
    match pattern:
        case "some":
            share = rng.choice((0.02, 0.3, 0.9))
            validity = np.random.default_rng(rng.getrandbits(32)).random(num_rows) >= share
        case "all":
            validity[:] = False
        case "first":
            validity[: max(1, num_rows // 10)] = False
        case "last":
            validity[-max(1, num_rows // 10) :] = False
    if num_rows:
        labels.add(f"nulls {pattern}")
    return validity


def _offsets(rng: Random, validity: NDArray[np.bool_], labels: set[str]) -> NDArray[np.int64]:
    """Draw the offsets of lists; null lists are empty."""
    pattern = rng.choice(("short", "short", "equal", "empty", "sparse", "long"))
    labels.add(f"lists {pattern}")
    numbers = np.random.default_rng(rng.getrandbits(32))
    num_rows = len(validity)
    room = max(1, MAX_ITEMS // max(1, num_rows))
    match pattern:
        case "short":
            lengths = numbers.integers(0, min(6, room + 1), num_rows)
        case "equal":
            lengths = np.full(num_rows, min(3, room))
        case "empty":
            lengths = np.zeros(num_rows, np.int64)
        case "sparse":
            lengths = (numbers.random(num_rows) < 0.05) * min(5, room)
        case _:
            lengths = np.zeros(num_rows, np.int64)
            lengths[: max(1, num_rows // 500)] = MAX_ITEMS // max(1, num_rows // 500) // 2
    offsets = np.zeros(num_rows + 1, np.int64)
    np.cumsum(np.where(validity, lengths, 0), out=offsets[1:])
    return offsets


def _dictionary(
    rng: Random, type_: pa.DataType, validity: NDArray[np.bool_], version: FileVersion
) -> pa.Array:
    count = rng.randint(1, 20)
    items = random_array(rng, type_.value_type, count, version, nullable=False).unique()
    numbers = np.random.default_rng(rng.getrandbits(32))
    keys = numbers.integers(0, len(items), len(validity))
    indices = pa.array(keys.astype(type_.index_type.to_pandas_dtype()), mask=~validity)
    return pa.DictionaryArray.from_arrays(indices, items)


def _nested(
    type_: pa.DataType,
    validity: NDArray[np.bool_],
    buffers: list[pa.Buffer],
    children: list[pa.Array],
) -> pa.Array:
    every = [bitmap_of(validity), *buffers]
    return pa.Array.from_buffers(type_, len(validity), every, children=children)


def arrays(
    type_: pa.DataType, version: FileVersion, max_rows: int = 300
) -> st.SearchStrategy[pa.Array]:
    """Strategy: arrays of a type that files of `version` can store."""
    return st.builds(
        lambda rng, rows: random_array(rng, type_, rows, version),
        st.randoms(use_true_random=False),
        st.integers(0, max_rows),
    )

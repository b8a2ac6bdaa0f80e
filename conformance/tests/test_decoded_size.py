"""Tests of the size of a table whose types repeat values."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lance_conformance.decoded_size import decoded_bytes

WORD = "x" * 1000
WORDS = pa.array([WORD, None, "", WORD])
DICTIONARY = WORDS.dictionary_encode()
RUNS = pa.RunEndEncodedArray.from_arrays([3, 5], [WORD, None])
FIXED = pa.FixedSizeListArray.from_arrays(DICTIONARY, 2)
STRUCT = pa.StructArray.from_arrays([DICTIONARY, pa.array([1, 2, 3, 4], pa.int64())], ["a", "b"])
MAP = pa.MapArray.from_arrays(pa.array([0, 1, 4], pa.int32()), pa.array(["k"] * 4), DICTIONARY)
LISTS = pa.ListArray.from_arrays(pa.array([0, 1, 4], pa.int32()), DICTIONARY)
VIEWS = pa.ListViewArray.from_arrays(
    pa.array([0, 0, 0], pa.int32()), pa.array([4, 4, 0], pa.int32()), WORDS
)


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (DICTIONARY, 2000),
        (DICTIONARY.slice(1), 1000),
        (RUNS, 3000),
        (RUNS.slice(2), 1000),
        (WORDS.cast(pa.string_view()), 2000),
        (FIXED, 2000),
        (FIXED.slice(1), 1000),
        (STRUCT, 2032),
        (MAP, 2004),
        (LISTS, 2000),
        (LISTS.slice(1), 1000),
        (VIEWS, 4000),
        (pa.array([], DICTIONARY.type), 0),
        (WORDS, 0),
        (pa.array([[1], [2]]), 0),
    ],
)
def test_each_row_counts_what_it_shows(array: pa.Array, size: int) -> None:
    """A value counts in each row that repeats it; types that repeat nothing count nothing."""
    assert size == decoded_bytes(pa.table({"a": array}))

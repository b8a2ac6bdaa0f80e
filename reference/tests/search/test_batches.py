"""Batches cut again, by law."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from lanceref.search.projection import resize_batches

SIZES = st.lists(st.integers(0, 9), max_size=6)


def batches(sizes):
    """Return batches of these sizes, counting on."""
    at = 0
    for size in sizes:
        yield pa.record_batch({"n": pa.array(range(at, at + size), pa.int64())})
        at += size


@given(SIZES, st.integers(1, 12))
def test_strict_batches_have_one_size(sizes, rows):
    """All but the last, and nothing is lost."""
    found = list(resize_batches(batches(sizes), rows, None, strict=True))

    assert list(range(sum(sizes))) == [n for batch in found for n in batch["n"].to_pylist()]
    assert all(rows == batch.num_rows for batch in found[:-1])
    assert all(0 < batch.num_rows <= rows for batch in found)


@given(SIZES, st.integers(0, 80))
def test_bytes_bound_batches(sizes, size_bytes):
    """Of 8 bytes a row; a row alone may be larger."""
    found = list(resize_batches(batches(sizes), 100, size_bytes, strict=False))

    assert list(range(sum(sizes))) == [n for batch in found for n in batch["n"].to_pylist()]
    assert all(batch.nbytes <= max(size_bytes, 8) for batch in found if size_bytes)

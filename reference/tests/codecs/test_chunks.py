"""Runs of chunks: joining buffers, whatever their sizes."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from .runs import BASE, run_of


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_gather_joins_a_buffer_of_all_chunks(parts):
    """The bytes of all chunks come one after the other, with equal sizes or not."""
    run = run_of(parts, counts=[1] * len(parts))

    assert b"".join(parts) == run.gather(0).tobytes()


@given(st.integers(0, 5), st.integers(0, 512), st.integers(0, 3), st.booleans())
def test_rows_cuts_the_same_bytes_of_every_chunk(num_chunks, size, at, even):
    """Rows are cut by stride or by index: the bytes are the same."""
    parts = [
        bytes([chunk]) * (size + at + (0 if even else 8 * chunk)) for chunk in range(num_chunks)
    ]
    run = run_of(parts, counts=[1] * num_chunks)

    rows = run.rows(0, np.arange(num_chunks), size, at)

    assert (num_chunks, size) == rows.shape
    assert [part[at : at + size] for part in parts] == [row.tobytes() for row in rows]


def test_rows_may_overlap():
    """Buffers that share bytes are not cut by stride."""
    run = replace(run_of([b"abcdefgh"] * 3, counts=[1] * 3), starts=np.array([[8, 9, 10]]))

    assert [b"abcd", b"bcde", b"cdef"] == [r.tobytes() for r in run.rows(0, np.arange(3), 4)]


def test_the_place_of_a_buffer_is_absolute():
    """Errors name the offset in the file."""
    run = run_of([b"12345678", b"123"], [b"", b"12"], counts=[1, 1])

    assert (BASE + 24, 3) == (run.place(0, 1).offset, run.place(0, 1).size_bytes)
    assert (BASE + 32, 2) == (run.place(1, 1).offset, run.place(1, 1).size_bytes)

"""Chunk sizes."""

import numpy as np
import pytest
from lanceref.codecs.encoder_inputs import flat_chunk, max_chunk_values, rle_counts


@pytest.mark.parametrize(
    ("word", "values_per_word", "count"),
    [
        (1, 1, 4096),
        (2, 1, 2048),
        (4, 1, 1024),
        (8, 1, 512),
        (12, 1, 512),
        (1, 8, 4096),
    ],
)
def test_values_of_a_chunk_take_less_than_8186_bytes(word, values_per_word, count):
    """The largest power of two, at most 4,096."""
    assert flat_chunk(word, values_per_word) == count


def test_the_environment_allows_more_values(monkeypatch):
    """LANCE_MINIBLOCK_MAX_VALUES bounds the values of a chunk."""
    monkeypatch.setenv("LANCE_MINIBLOCK_MAX_VALUES", "32768")

    assert max_chunk_values() == 32768
    assert flat_chunk(1, 1) == 4096
    assert flat_chunk(1, 8) == 16384


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (np.repeat(np.arange(50), 100), [4096, 904]),
        (np.arange(3000), [1024, 1024, 952]),
        ([7] * 10_000, [4096, 4096, 1808]),
    ],
)
def test_chunks_of_runs_are_as_long_as_their_runs_allow(values, counts):
    """Values and lengths of a chunk take at most 8,186 bytes."""
    assert rle_counts(np.array(values, "<u4")).tolist() == counts

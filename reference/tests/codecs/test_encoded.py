"""Encoded values."""

import pytest
from lanceref.codecs.values import even_counts, flat_encoding


@pytest.mark.parametrize(
    ("count", "per_chunk", "counts"),
    [(5, 2, [2, 2, 1]), (4, 2, [2, 2]), (1, 1024, [1]), (0, 8, [])],
)
def test_only_the_last_chunk_may_be_short(count, per_chunk, counts):
    """A full last chunk stays full."""
    assert even_counts(count, per_chunk).tolist() == counts


def test_plain_values_name_their_width():
    """The description of flat values."""
    assert flat_encoding(24).flat.bits_per_value == 24

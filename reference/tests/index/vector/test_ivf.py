"""IVF messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.index.vector.vector_file import (
    ivf_message,
    parse_centroids,
    parse_partitions,
    partitions_of,
)
from lanceref.proto.index_pb2 import IVF

PLACE = Context("f").at(0, 0)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9), st.booleans())
def test_partitions_follow_one_another(lengths, with_offsets):
    """What is written is read, and offsets can be left out."""
    message = ivf_message(partitions_of(lengths))
    if not with_offsets:
        message.ClearField("offsets")
    found = parse_partitions(message, sum(lengths), PLACE)
    assert lengths == found.lengths.tolist()
    assert [sum(lengths[:n]) for n in range(len(lengths))] == found.starts.tolist()


@pytest.mark.parametrize(
    ("offsets", "lengths", "rows"),
    [
        ([0], [1, 1], 2),
        ([0, 2], [1, 1], 2),
        ([0, 0], [1, 1], 2),
        ([0, 1], [1, 1], 3),
        ([0, 1], [1, 1], 1),
        ([0, 2**64 - 1], [1, 1], 2),
        ([0, 2**32 - 1], [2**32 - 1, 2**32 - 1], 2),
    ],
)
def test_partitions_that_do_not_fit(offsets, lengths, rows):
    """They have gaps, overlap, or have more or fewer rows than the file."""
    with pytest.raises(FormatError, match=r"L\.index\.vector\.ivf\."):
        parse_partitions(IVF(offsets=offsets, lengths=lengths), rows, PLACE)


def test_centroids():
    """They are a tensor, or floats one after the other."""
    values = np.array([[1, 2], [3, 4]], np.float32)
    message = ivf_message(partitions_of([0, 0]), values, 2.5)
    assert values.tolist() == parse_centroids(message, PLACE).tolist()
    assert 2.5 == message.loss
    early = IVF(centroids=[1, 2, 3, 4], lengths=[0, 0])
    assert values.tolist() == parse_centroids(early, PLACE).tolist()


@pytest.mark.parametrize(
    "message",
    [
        IVF(),
        IVF(lengths=[1]),
        IVF(centroids=[1, 2, 3], lengths=[1, 1]),
        ivf_message(partitions_of([1]), np.zeros((2, 2), np.float32)),
        ivf_message(partitions_of([]), np.zeros((0, 2), np.float32)),
    ],
)
def test_centroids_that_do_not_fit(message):
    """There is one for each partition."""
    with pytest.raises(FormatError, match=r"L\.index\.vector\.ivf\.centroids"):
        parse_centroids(message, PLACE)

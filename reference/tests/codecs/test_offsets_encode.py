"""Offsets of 2.3, encoded."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.variable import encode_short_offsets

from .encoded_runs import decoded, texts_of, variable

TEXTS = st.lists(st.binary(max_size=9), min_size=1, max_size=400)


def made(lengths, bits=32):
    """Return strings of some lengths in one chunk."""
    texts = [bytes([65 + at % 26]) * length for at, length in enumerate(lengths)]
    return texts, encode_short_offsets(variable(texts), bits, np.array([len(texts)]))


@pytest.mark.parametrize(
    ("lengths", "kind"),
    [
        ([0], "constant"),
        ([0] * 9, "constant"),
        ([5], "range"),
        ([7] * 300, "range"),
        ([5, 6, 7], "delta"),
        ([83, 163], "delta"),
        ([1, 2] * 200, "delta"),
    ],
)
def test_what_offsets_are(lengths, kind):
    """All empty, of one length, of lengths that rise evenly, or of any short lengths."""
    texts, blocks = made(lengths)

    assert kind == blocks.encoding.variable.offsets.WhichOneof("compression")
    assert texts == texts_of(decoded(blocks))


@pytest.mark.parametrize("lengths", [[5, 6], [200, 3, 250], [1, 2] * 8])
def test_offsets_that_gain_nothing_stay(lengths):
    """The description has more bytes, or a block of packed bits has."""
    assert made(lengths)[1] is None


def test_a_range_has_no_bytes():
    """The chunk is the strings alone."""
    ((data, sizes),) = made([2] * 50)[1].buffers

    assert (len(data), sizes.tolist()) == (100, [100])


def test_every_chunk_counts_from_zero():
    """Two chunks of 256 lengths of two bits, and a short one."""
    texts = [b"x" * (at % 3) for at in range(600)]

    blocks = encode_short_offsets(variable(texts), 32, np.array([256, 256, 88]))

    (packed, sizes), (data, lengths) = blocks.buffers
    assert sizes.tolist() == [256, 256, 256]
    assert (len(packed), len(data), len(lengths)) == (768, 600, 3)
    assert texts == texts_of(decoded(blocks))


@given(TEXTS, st.sampled_from([32, 64]), st.integers(4, 9))
def test_strings_of_any_chunks_come_back(texts, bits, log):
    """Where they are encoded at all."""
    counts = np.minimum(1 << log, len(texts) - np.arange(0, len(texts), 1 << log))

    blocks = encode_short_offsets(variable(texts), bits, counts)

    assert blocks is None or texts == texts_of(decoded(blocks))

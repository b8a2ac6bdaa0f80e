"""Signatures of texts."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.minhash import signature
from lanceref.index.minhash.signature import (
    MinHashParameters,
    Signer,
    band_keys,
    constants,
    shingles,
)

MASK = 2**64 - 1


def test_shingles_begin_a_token_further_each():
    """A shorter text is one; none without tokens."""
    assert shingles(["a", "b", "c", "d"], 3) == ["a\x1fb\x1fc", "b\x1fc\x1fd"]
    assert shingles(["a", "b"], 3) == ["a\x1fb"]
    assert shingles([], 3) == []


def test_worked_constants():
    """SplitMix64 from 42: the first numbers that the generator is known for, a and c made odd."""
    first, second, last = constants(2)
    assert first.tolist() == [13679457532755275413, 5139283748462763859]
    assert second.tolist() == [2949826092126892291, 6349198060258255764]
    assert (last & np.uint64(1)).all()


def test_a_worked_signature():
    """Of one shingle: the upper bits of c * (a * x + b)."""
    numbers, signatures = Signer(MinHashParameters()).sign([None, "", "Fox"])
    assert numbers.tolist() == [2]
    x = xxhash.xxh64_intdigest(b"fox", 42)
    a, b, c = (int(one[5]) for one in constants(128))
    assert signatures.shape == (1, 128)
    assert int(signatures[0, 5]) == ((c * ((a * x + b) & MASK)) & MASK) >> 48


def test_a_worked_band():
    """Band 1 of two: the hash of the second half, its upper byte the number of the band."""
    keys = band_keys(np.array([[1, 2, 3, 4]], np.uint16), 2)
    low = xxhash.xxh64_intdigest(bytes([3, 0, 4, 0]), 42) & (2**56 - 1)
    assert keys[0].tolist()[1] == 1 << 56 | low


@given(st.lists(st.text("ab .", max_size=30), max_size=20), st.integers(1, 4))
def test_the_least_over_all_shingles(texts, size):
    """However many texts are signed together; equal to the slow way."""
    parameters = MinHashParameters(8, 4, size)
    together = signature.RUN_TEXTS
    try:
        signature.RUN_TEXTS = 3
        numbers, found = Signer(parameters).sign(texts)
    finally:
        signature.RUN_TEXTS = together
    a, b, c = (one.tolist() for one in constants(8))
    expected = []
    for text in texts:
        parts = shingles(text.replace(".", " ").split(), size)
        hashes = [xxhash.xxh64_intdigest(part.encode(), 42) for part in parts]
        least = [min((a[i] * x + b[i]) & MASK for x in hashes) for i in range(8) if hashes]
        expected.append([((c[i] * one) & MASK) >> 48 for i, one in enumerate(least)])
    assert numbers.tolist() == [number for number, one in enumerate(expected) if one]
    assert found.tolist() == [one for one in expected if one]

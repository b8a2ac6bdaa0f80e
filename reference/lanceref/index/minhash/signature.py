"""Signatures: what texts with much in common share much of.

The tokens of a text are taken so many at a time, a shingle, each beginning a token further; a
shorter text is one shingle, one without tokens none. Each number of a signature is the least of a
hash over all shingles: the share of numbers that two texts have in common is about that of their
shingles. A band is a hash of some of the numbers: texts with an equal band are compared.

Layout: a shingle is its tokens with 1F between; x = XXH64 of that, seed 42. A generator
(SplitMix64, state 42) gives a and b of each number in turn, then c of each; a and c are made odd.
A number is the upper 16 bits of c * min(a * x + b); all modulo 2**64. The key of band j is j << 56
with the lower 56 bits of the XXH64, seed 42, of its numbers (u16, little-endian).

Clauses: L.index.minhash.signature, L.index.minhash.band-key
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.minhash.parameters import MinHashParameters

SEED = 42
SEPARATOR = "\x1f"
BAND_BITS = np.uint64(56)
LOW = np.uint64(2**56 - 1)
MASK = 2**64 - 1
RUN_TEXTS = 1 << 9
"""Texts that are signed together."""

Signatures = NDArray[np.uint16]
Hashes = NDArray[np.uint64]


@lru_cache(maxsize=8)
def constants(count: int) -> tuple[Hashes, Hashes, Hashes]:
    """Return a, b and c of so many numbers."""
    state = SEED

    def draw() -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & MASK
        return mixed ^ mixed >> 31

    pairs = [(draw() | 1, draw()) for _ in range(count)]
    last = [draw() | 1 for _ in range(count)]
    first, second = zip(*pairs, strict=True)
    return tuple(np.array(one, np.uint64) for one in (first, second, last))  # type: ignore[return-value]


def shingles(tokens: Sequence[str], size: int) -> list[str]:
    """Return the shingles of a text."""
    if not tokens:
        return []
    count = max(1, len(tokens) - size + 1)
    return [SEPARATOR.join(tokens[first : first + size]) for first in range(count)]


class Signer:
    """Makes signatures of texts."""

    def __init__(self, parameters: MinHashParameters) -> None:
        self._parameters = parameters
        self._analyzer = Analyzer(parameters.analysis)

    def sign(self, texts: Iterable[str | None]) -> tuple[NDArray[np.int64], Signatures]:
        """Return the texts that have a token, by number, and their signatures [texts, hashes]."""
        numbers: list[int] = []
        found = [np.empty((0, self._parameters.num_hashes), np.uint16)]
        pending: list[Hashes] = []
        for number, text in enumerate(texts):
            hashed = self._hashed(text)
            if len(hashed):
                numbers.append(number)
                pending.append(hashed)
            if len(pending) == RUN_TEXTS:
                found.append(self._signed(pending))
                pending = []
        if pending:
            found.append(self._signed(pending))
        return np.array(numbers, np.int64), np.concatenate(found)

    def _hashed(self, text: str | None) -> Hashes:
        """Return the hashes of the shingles of a text."""
        if text is None:
            return np.empty(0, np.uint64)
        tokens = [token for token, _ in self._analyzer.tokens(text)]
        parts = dict.fromkeys(shingles(tokens, self._parameters.shingle_size))
        hashes = [
            xxhash.xxh64_intdigest(part.encode("utf-8", "surrogatepass"), SEED) for part in parts
        ]
        return np.array(hashes, np.uint64)

    def _signed(self, texts: Sequence[Hashes]) -> Signatures:
        """Return the signatures of texts, each given by the hashes of its shingles."""
        first, second, last = constants(self._parameters.num_hashes)
        starts = np.cumsum([0, *map(len, texts[:-1])])
        hashes = np.concatenate(texts)
        least = np.empty((len(first), len(texts)), np.uint64)
        for number in range(len(first)):
            products = first[number] * hashes + second[number]
            least[number] = np.minimum.reduceat(products, starts)  # L.index.minhash.signature
        return ((last[:, None] * least) >> np.uint64(48)).astype(np.uint16).T


def band_keys(signatures: Signatures, num_bands: int) -> Hashes:
    """Return the key of every band of signatures: [signatures, bands]."""
    count, num_hashes = signatures.shape
    width = 2 * num_hashes // num_bands
    data = signatures.astype("<u2").tobytes()
    hashes = [
        xxhash.xxh64_intdigest(data[first : first + width], SEED)
        for first in range(0, len(data), width)
    ]
    keys = np.array(hashes, np.uint64).reshape(count, num_bands) & LOW
    return keys | np.arange(num_bands, dtype=np.uint64) << BAND_BITS

"""Fast forms of what builds indices over text; importing this module registers all of them.

ASCII texts are cut into words together, by a line break between two of them, which is in no word.

FNV-1a multiplies by an odd number: a bit of its lowest byte depends on that bit and lower ones of
the byte before. So the lowest bytes of all states are found bit by bit, and with these what each
byte of the data adds to the hash, a polynomial in the prime.

Signatures of many texts are made by a compiled kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.fast.codecs import KERNEL_USE
from lanceref.index.bloom import Hashes
from lanceref.index.fm import partition
from lanceref.index.fm.partition import FINGERPRINT_PRIME, FINGERPRINT_START, U64
from lanceref.index.full_text import tokenizers
from lanceref.index.full_text.packed_integers import Counts, Numbers, ranges
from lanceref.index.full_text.packed_integers import offsets_of as sums
from lanceref.index.full_text.tokenizers import Cut
from lanceref.index.minhash import signature
from lanceref.index.minhash.signature import Signatures

Bytes = NDArray[np.uint8]

_IN_WORDS = np.array([chr(byte).isalnum() for byte in range(128)])
"""Whether an ASCII character is one of a word."""

_WORDS_ALONE = bytes(byte if byte < 128 and _IN_WORDS[byte] else ord(" ") for byte in range(256))
"""Each character of a word, a blank for any other."""


@tokenizers.cut_all.replaced_by
def cut_all(cut: Cut, texts: Sequence[str]) -> tuple[list[str], Counts, Numbers]:
    """Return the words of all texts, how many each has, (texts,), and their places, (words,)."""
    joined = "\n".join(["", *texts, ""])
    if cut is not tokenizers.simple or not joined.isascii():
        return tokenizers.cut_all.plain(cut, texts)
    data = joined.encode("ascii")
    words = data.translate(_WORDS_ALONE).decode("ascii").split()
    inside = _IN_WORDS[np.frombuffer(data, np.uint8)]
    begins = np.flatnonzero(inside[1:] & ~inside[:-1])
    ends = sums(np.array([len(text) + 1 for text in texts], np.int64))
    firsts = np.searchsorted(begins, ends)
    counts = np.diff(firsts)
    return words, counts, ranges(np.zeros_like(counts), counts).astype(np.uint32)


HASHED = 1 << 15
"""Bytes that are hashed together."""

_POWERS = np.multiply.accumulate(np.full(HASHED, FINGERPRINT_PRIME, np.uint64))[::-1]


@partition.fnv_hash.replaced_by
def fnv_hash(data: bytes) -> int:
    """Return the hash of bytes, FNV-1a of 64 bits from the state of a fingerprint on."""
    found, octets = FINGERPRINT_START, np.frombuffer(data, np.uint8)
    for first in range(0, len(octets), HASHED):
        part = octets[first : first + HASHED]
        powers, before = _POWERS[-len(part) :], _lowest_bytes(found & 0xFF, part)
        added = (before ^ part).astype(np.uint64) - before.astype(np.uint64)
        found = (found * int(powers[0]) + int((added * powers).sum())) & U64
    return found


def _lowest_bytes(start: int, part: Bytes) -> Bytes:
    """Return the lowest byte of the state before each byte (n,) of some data."""
    lowest, prime = np.zeros(len(part), np.uint8), np.uint8(FINGERPRINT_PRIME & 0xFF)
    changes = np.empty(len(part), np.uint8)
    for bit in range(8):
        lower = (lowest ^ part) & np.uint8((1 << bit) - 1)
        changes[0] = start
        changes[1:] = ((lower * prime) ^ part)[:-1]
        lowest |= np.bitwise_xor.accumulate(changes & np.uint8(1 << bit))
    return lowest


PRODUCTS = 4
"""Products of hashes that count as a decoded byte in the choice of kernels."""


@signature.signed.replaced_by
def signed(hashes: Hashes, counts: Counts, num_hashes: int) -> Signatures:
    """Return the signatures [texts, hashes] of texts, each of so many of the hashes (texts,)."""
    if not KERNEL_USE.use(len(hashes) * num_hashes // PRODUCTS):
        return signature.signed.plain(hashes, counts, num_hashes)
    from lanceref.fast import compiled as kernel

    numbers = np.empty((len(counts), num_hashes), np.uint16)
    kernel.sign(hashes, sums(counts), signature.constants(num_hashes), numbers)
    return numbers

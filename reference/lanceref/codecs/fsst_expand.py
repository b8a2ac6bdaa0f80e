"""FSST codes, expanded: two codes at a time.

What a pair of codes stands for, up to sixteen bytes, is one of 65 536 texts that are made once for
a symbol table. Texts are written in order, each sixteen bytes wide, where the one before ended:
each overwrites what that one wrote too much. The pairs fall where they fall: a pair whose second
code is an escape gives the bytes of its first only, and the pair behind it, which begins with a
literal, has a text in a second half of the table.

Clauses: L.codec.fsst.code, L.codec.fsst.escape
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bools, Bytes, Ints

ESCAPE = 255
"""The code whose successor stands for itself."""

SLAB = 1 << 15
"""Codes expanded at a time: what stands for them stays in the cache."""

PAIRED = 1 << 18
"""Codes from which the table of pairs is worth making."""

LONGEST = 8
"""Bytes of the longest symbol."""

PAIR = np.complex128
"""What holds the text of a pair: sixteen bytes."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What codes stand for, by their number: `words` (n,) padded behind, `sizes` (n,) uint8."""

    words: NDArray[np.uint64 | np.complex128]
    sizes: Bytes


def expand(
    symbols: NDArray[np.uint64], lengths: Ints, codes: Bytes, literal: Bools | None, cuts: Ints
) -> tuple[Ints, Bytes]:
    """Return where the bytes of the codes before each of `cuts` end, and all bytes.

    `symbols` and `lengths` (256,), those of the escape zero; `literal` says which codes stand for
    themselves (None: none); `cuts` ascend. The codes are sound: every one is a symbol, an escape
    or a literal.
    """
    step = 2 if len(codes) >= PAIRED else 1
    if len(codes) % step:
        codes = np.append(codes, np.uint8(ESCAPE))
        literal = None if literal is None else np.append(literal, False)
    texts = _texts(symbols.tobytes(), lengths.tobytes(), step, literal is not None)
    out = np.empty(LONGEST * (len(codes) + step), np.uint8)  # untouched behind what is written
    offsets, size = np.zeros(len(cuts), np.int64), 0
    for at, numbers in _slabs(codes, literal, step):
        ends = size + _store(texts, numbers, out[size:])
        first, last = np.searchsorted(cuts, (at, at + step * len(numbers)), "right")
        np.take(ends, (cuts[first:last] - at) >> (step - 1), out=offsets[first:last], mode="clip")
        size = int(ends[-1])
    if step == 2:
        # a cut inside a pair lies behind the bytes of the pair's first code
        inside = np.flatnonzero(cuts & 1)
        offsets[inside] += _sizes(lengths, codes, literal, cuts[inside] - 1)
    return offsets, out[:size]


def _slabs(
    codes: Bytes, literal: Bools | None, step: int
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield, slab by slab, where it begins and the numbers of every `step` codes.

    The number of a pair is that of its first code + 256 times that of the second; where the first
    is a literal the text stands 256 ** step behind.
    """
    for at in range(0, len(codes), SLAB):
        part = codes[at : at + SLAB]
        numbers = np.require(part.view(f"<u{step}"), requirements="A").astype(np.intp)
        if literal is not None:
            numbers += literal[at : at + SLAB : step].astype(np.intp) << (8 * step)
        yield at, numbers


def _sizes(lengths: Ints, codes: Bytes, literal: Bools | None, at: Ints) -> Ints:
    """Return how many bytes the codes at `at` stand for."""
    sizes = np.take(lengths, codes[at])
    return sizes if literal is None else np.where(literal[at], 1, sizes)


@lru_cache(maxsize=2)
def _texts(symbols: bytes, lengths: bytes, step: int, with_literals: bool) -> Texts:
    """Return what one code or a pair of codes stands for."""
    texts = np.append(np.frombuffer(symbols, np.uint64), np.arange(256, dtype=np.uint64))
    sizes = np.append(np.frombuffer(lengths, np.uint64), np.ones(256, np.uint64))
    if step == 1:
        return Texts(texts, sizes.astype(np.uint8))
    second = np.repeat(np.arange(256)[:, None], 256, axis=1)
    after_literal = second if with_literals else second[:0]
    second = np.where(np.arange(256) == ESCAPE, 256 + second, second)
    parts = [(slice(256), second), (slice(256, 512), after_literal)]
    pairs = np.concatenate([_pairs(texts, sizes, *part) for part in parts])
    both = np.concatenate([sizes[first] + sizes[behind] for first, behind in parts])
    return Texts(pairs.view(PAIR).ravel(), both.astype(np.uint8).ravel())


def _pairs(
    texts: NDArray[np.uint64], sizes: NDArray[np.uint64], first: slice, second: Ints
) -> NDArray[np.uint64]:
    """Return the texts of the `first` codes with those of `second` (n, firsts) behind them.

    They are uint64 (n, firsts, 2). Bits that are moved out of a word, or all of it, are gone.
    """
    bits, behind = sizes[first] * np.uint64(8), texts[second]
    return np.stack((texts[first] | behind << bits, behind >> (np.uint64(64) - bits)), -1)


def _store(texts: Texts, numbers: NDArray[np.intp], out: Bytes) -> Ints:
    """Write texts into `out` in order, and return where each begins, and the end of the last.

    There is room for one text behind the last; NumPy assigns in the order of the indices.
    """
    ends = np.empty(len(numbers) + 1, np.int64)
    ends[0] = 0
    np.cumsum(np.take(texts.sizes, numbers), out=ends[1:])
    _words(out, texts.words.dtype)[ends[:-1]] = np.take(texts.words, numbers)
    return ends


def _words(data: Bytes, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """Return a word at every byte of `data` that has room for one behind it."""
    return np.ndarray((len(data) - dtype.itemsize + 1,), dtype, data.data, strides=(1,))

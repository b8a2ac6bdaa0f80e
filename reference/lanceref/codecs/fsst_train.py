"""FSST symbol tables, trained.

The table is grown in rounds: a sample is coded with the table so far, and the symbols and pairs of
neighbours that save most bytes make the next table (Boncz, Neumann, Leis: "FSST: Fast Random Access
String Compression", VLDB 2020, section 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.fsst_code import LITERAL, MAX_SYMBOL, Coded, code_values, make_coder, words_of
from lanceref.codecs.fsst_expand import ESCAPE
from lanceref.codecs.values import Ints, Variable

SAMPLE_BYTES = 1 << 14
"""Bytes that a table is trained on."""

PIECE_BYTES = 512
"""The most bytes of one piece of a value among them."""

ROUNDS = 5


def train(values: Variable) -> list[bytes]:
    """Return the symbols of a table for these values, the most useful first; at most 255."""
    sample = _sample(values)
    symbols: list[bytes] = []
    for last in range(1, ROUNDS + 1):
        coded = code_values(make_coder(symbols), sample)
        symbols = _best(symbols, coded, last < ROUNDS)
    return symbols


def shrinks(symbols: list[bytes], values: Variable) -> bool:
    """Whether a table makes values smaller, judged by a sample that it was not trained on."""
    sample = _sample(values, 1)
    coded = code_values(make_coder(symbols), sample)
    return len(coded.codes) + int((coded.codes >= LITERAL).sum()) < len(sample.data)


def _sample(values: Variable, turn: int = 0) -> Variable:
    """Return pieces of values spread over all of them, about SAMPLE_BYTES in total.

    `turn` 1 takes other pieces than 0, where there are so many.
    """
    ends = np.cumsum(-(-np.diff(values.offsets) // PIECE_BYTES))
    step = max(1, -(-int(values.offsets[-1]) // SAMPLE_BYTES))
    chosen = np.arange(turn * step // 2, ends[-1], step)
    owner = np.searchsorted(ends, chosen, "right")
    before = np.append(0, ends)[owner]
    starts = values.offsets[owner] + (chosen - before) * PIECE_BYTES
    sizes = np.minimum(values.offsets[owner + 1] - starts, PIECE_BYTES)
    offsets = np.append(0, np.cumsum(sizes))
    at = np.repeat(starts - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
    return Variable(offsets, values.data[at])


def _best(symbols: list[bytes], coded: Coded, grows: bool) -> list[bytes]:
    """Return the 255 symbols, or pairs of neighbours, that save most bytes of the sample."""
    words, sizes = np.zeros(2 * LITERAL, np.uint64), np.zeros(2 * LITERAL, np.int64)
    words[: len(symbols)], sizes[: len(symbols)] = words_of(symbols)
    words[LITERAL:], sizes[LITERAL:] = np.arange(LITERAL), 1
    codes = coded.codes.astype(np.int64)
    found, counts = np.unique(codes, return_counts=True)
    text, size = words[found], sizes[found]
    gains = counts * np.where(size > 1, size, 8)
    if grows and len(codes) > 1:
        same = np.ones(len(codes) - 1, np.bool_)
        ends = np.cumsum(coded.counts)
        same[ends[(ends > 0) & (ends < len(codes))] - 1] = False
        pairs, counts = np.unique((codes[:-1] * 512 + codes[1:])[same], return_counts=True)
        first, second = np.divmod(pairs, 512)
        shift = np.minimum(8 * sizes[first], 63).astype(np.uint64)
        joined = words[first] | np.where(sizes[first] < MAX_SYMBOL, words[second] << shift, 0)
        joined_size = np.minimum(sizes[first] + sizes[second], MAX_SYMBOL)
        text, size = np.append(text, joined), np.append(size, joined_size)
        gains = np.append(gains, counts * joined_size)
    return _ranked(text, size, gains)[:ESCAPE]


def _ranked(words: NDArray[np.uint64], sizes: Ints, gains: Ints) -> list[bytes]:
    """Return the texts (`sizes` bytes of `words` each), the highest sum of gains first."""
    big = words.byteswap()
    order = np.lexsort((sizes, big))
    big, sizes = big[order], sizes[order]
    is_new = np.append(True, (big[1:] != big[:-1]) | (sizes[1:] != sizes[:-1]))[: len(order)]
    firsts = np.flatnonzero(is_new)
    total = np.add.reduceat(gains[order], firsts) if len(firsts) else gains
    best = firsts[np.argsort(-total, kind="stable")].tolist()
    return [int(big[at]).to_bytes(MAX_SYMBOL, "big")[: sizes[at]] for at in best[:ESCAPE]]

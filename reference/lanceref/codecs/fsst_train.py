"""FSST symbol tables, trained and applied.

The table is grown in rounds: a sample is coded with the table so far, and the symbols and pairs of
neighbours that save most bytes make the next table (Boncz, Neumann, Leis: "FSST: Fast Random Access
String Compression", VLDB 2020, section 4). Coding looks up the longest symbol at every byte at once
and then follows the chain of symbols from the start of each value by doubling jumps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.fsst_expand import ESCAPE
from lanceref.codecs.values import Variable

SAMPLE_BYTES = 1 << 14
"""Bytes that a table is trained on."""

ROUNDS = 5
MAX_SYMBOL = 8
HASH_BITS = 12

_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


@dataclass(frozen=True, slots=True)
class Coder:
    """Looks up symbols: those of three bytes and more by a hash of three, others by two bytes.

    `symbols` uint64 and `lengths` int64, one for each code below 255; `slots` int16 by hash, and
    `shorts` int16 by the first two bytes, -1 where there is none.
    """

    symbols: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    slots: NDArray[np.int16]
    shorts: NDArray[np.int16]


def make_coder(symbols: list[bytes]) -> Coder:
    """Return the coder of at most 255 symbols; the first of several in one slot wins."""
    values = np.array([int.from_bytes(one, "little") for one in symbols], np.uint64)
    slots = np.full(1 << HASH_BITS, -1, np.int16)
    shorts = np.full(1 << 16, -1, np.int16)
    for code, symbol in enumerate(symbols):
        if len(symbol) == 1:
            row = shorts.reshape(256, 256)[:, symbol[0]]
            row[row < 0] = code
    for code, symbol in enumerate(symbols):
        if len(symbol) == 2:
            shorts[int.from_bytes(symbol, "little")] = code
    long = [code for code, symbol in enumerate(symbols) if len(symbol) > 2]
    for code, slot in zip(long, _hash(values[long]).tolist(), strict=True):
        if slots[slot] < 0:
            slots[slot] = code
    return Coder(values, np.array([len(one) for one in symbols], np.int64), slots, shorts)


def _hash(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = (words & _MASKS[3]) * np.uint64(2971215073)
    mixed ^= mixed >> np.uint64(15)
    mixed &= np.uint64((1 << HASH_BITS) - 1)
    return mixed


@dataclass(frozen=True, slots=True)
class Coded:
    """Coded values: per code its number (256 + byte for an escaped byte), and codes per value."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]


def code_values(coder: Coder, values: Variable) -> Coded:
    """Cut every value into symbols, always the longest that matches, and escaped bytes."""
    data = np.ascontiguousarray(values.data[: int(values.offsets[-1])])
    size = len(data)
    if not size:
        return Coded(np.zeros(0, np.int64), np.zeros(values.count, np.int64))
    code, length = _longest(coder, data, values)
    at = _chain(np.arange(size) + length, values.offsets, size)
    counts = np.diff(np.searchsorted(at, values.offsets))
    return Coded(np.where(code[at] < 0, 256 + data[at].astype(np.int64), code[at]), counts)


def _longest(
    coder: Coder, data: NDArray[np.uint8], values: Variable
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Return the longest symbol at each byte, -1 for none, and its length (1 for none)."""
    size = len(data)
    padded = np.append(data, np.zeros(MAX_SYMBOL, np.uint8))
    words = np.lib.stride_tricks.sliding_window_view(padded, 8)[:size].copy().view("<u8").ravel()
    left = np.repeat(values.offsets[1:], np.diff(values.offsets)) - np.arange(size)
    lengths = np.append(coder.lengths, 99)
    symbols = np.append(coder.symbols, np.uint64(0))
    long = coder.slots[_hash(words)]
    long_length = lengths[long]
    fits = long_length <= left
    fits &= (words & _MASKS[np.minimum(long_length, MAX_SYMBOL)]) == symbols[long]
    short = coder.shorts[words & np.uint64(0xFFFF)]
    too_long = lengths[short] > left
    if too_long.any():
        alone = coder.shorts[(words & np.uint64(0xFF)) | np.uint64(0)]
        single = np.where(lengths[alone] == 1, alone, -1).astype(np.int16)
        short = np.where(too_long, single, short)
    code = np.where(fits, long, short)
    return code, np.where(code < 0, 1, lengths[code])


def _chain(after: NDArray[np.int64], offsets: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the positions reached from the start of each value by stepping to `after`."""
    jump = np.append(after, size)
    reached = np.zeros(size + 1, np.bool_)
    starts = offsets[:-1]
    reached[starts[starts < offsets[1:]]] = True
    ends = np.zeros(size + 1, np.bool_)
    ends[offsets] = True
    jump[:-1][ends[jump[:-1]]] = size
    steps = int(np.diff(offsets).max(initial=0))
    while steps > 0:
        reached[jump[np.flatnonzero(reached)]] = True
        jump = jump[jump]
        steps //= 2
    return np.flatnonzero(reached[:size])


def train(values: Variable) -> list[bytes]:
    """Return the symbols of a table for these values, the most useful first; at most 255."""
    sample = _sample(values)
    symbols: list[bytes] = []
    for last in range(1, ROUNDS + 1):
        coded = code_values(make_coder(symbols), sample)
        symbols = _best(symbols, coded, last < ROUNDS)
    return symbols


def _sample(values: Variable) -> Variable:
    """Return values spread over all of them, about SAMPLE_BYTES in total."""
    total = int(values.offsets[-1])
    step = max(1, -(-total // SAMPLE_BYTES))
    chosen = np.arange(0, values.count, step)
    starts = values.offsets[chosen]
    sizes = np.minimum(values.offsets[chosen + 1] - starts, SAMPLE_BYTES)
    offsets = np.append(0, np.cumsum(sizes))
    at = np.repeat(starts - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
    return Variable(offsets, values.data[at])


def _best(symbols: list[bytes], coded: Coded, grows: bool) -> list[bytes]:
    """Return the 255 symbols, or pairs of neighbours, that save most bytes of the sample."""
    texts = symbols + [b""] * (256 - len(symbols)) + [bytes([byte]) for byte in range(256)]
    gains: dict[bytes, int] = {}
    for code, count in zip(*_counted(coded.codes), strict=True):
        text = texts[code]
        gains[text] = gains.get(text, 0) + count * (len(text) if len(text) > 1 else 8)
    if grows and len(coded.codes) > 1:
        same = np.ones(len(coded.codes) - 1, np.bool_)
        ends = np.cumsum(coded.counts)
        same[ends[(ends > 0) & (ends < len(coded.codes))] - 1] = False
        pairs = coded.codes[:-1] * 512 + coded.codes[1:]
        for pair, count in zip(*_counted(pairs[same]), strict=True):
            text = (texts[pair // 512] + texts[pair % 512])[:MAX_SYMBOL]
            gains[text] = gains.get(text, 0) + count * len(text)
    ranked = sorted(gains.items(), key=lambda item: (-item[1], item[0]))
    return [text for text, _ in ranked[:ESCAPE]]


def _counted(codes: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    found, counts = np.unique(codes, return_counts=True)
    return found.tolist(), counts.tolist()

"""FSST, coding: values cut into symbols.

At every place the longest symbol that matches is taken, or one byte is escaped. Values are coded
side by side, one code of each at a time; where few values are left, because they are longer than
the others, the longest symbol is looked up at all of their bytes at once, and the chain of symbols
is followed from the start of each by doubling jumps. Both give the same codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Ints, Variable

MAX_SYMBOL = 8
HASH_BITS, HASH_FACTOR, HASH_SHIFT = 12, 2971215073, 15

FEW = 256
"""Values from which going side by side is faster."""

LITERAL = 256
"""The number of byte 0 escaped, and of how many codes the lengths are known."""

_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


@dataclass(frozen=True, slots=True)
class Coder:
    """Looks up symbols: those of three bytes and more by a hash of three, others by two bytes.

    `lengths` int64 (512,), by code; those of escaped bytes, from LITERAL on, are 1. By slot of the
    hash: `slots` int16 (code), `slot_symbols` and `slot_masks` uint64; no word is the symbol of an
    empty slot. `shorts` int16 (code) by the first two bytes, `singles` by one: a symbol, or the
    first byte escaped.
    """

    lengths: Ints
    slots: NDArray[np.int16]
    slot_symbols: NDArray[np.uint64]
    slot_masks: NDArray[np.uint64]
    shorts: NDArray[np.int16]
    singles: NDArray[np.int16]


def make_coder(symbols: list[bytes]) -> Coder:
    """Return the coder of at most 255 symbols; the first of several in one slot wins."""
    values, sizes = words_of(symbols)
    lengths = np.ones(2 * LITERAL, np.int64)
    lengths[: len(symbols)] = sizes
    singles = np.arange(LITERAL, 2 * LITERAL, dtype=np.int16)
    one = np.flatnonzero(sizes == 1)
    singles[values[one]] = one
    shorts = np.tile(singles, 256)
    two = np.flatnonzero(sizes == 2)
    shorts[values[two]] = two
    long = np.flatnonzero(sizes > 2)[::-1]
    at = _hash(values[long])
    slots = np.zeros(1 << HASH_BITS, np.int16)
    slot_symbols, slot_masks = np.full(len(slots), ~np.uint64(0)), np.zeros(len(slots), np.uint64)
    slots[at], slot_symbols[at], slot_masks[at] = long, values[long], _MASKS[sizes[long]]
    return Coder(lengths, slots, slot_symbols, slot_masks, shorts, singles)


def words_of(symbols: list[bytes]) -> tuple[NDArray[np.uint64], Ints]:
    """Return symbols as words, padded with zeros, and their lengths."""
    data = b"".join([symbol.ljust(MAX_SYMBOL, b"\0") for symbol in symbols])
    return np.frombuffer(data, "<u8"), np.array(list(map(len, symbols)), np.int64)


def _hash(words: NDArray[np.uint64]) -> Ints:
    """Return the slot of the first three bytes of each word."""
    mixed: NDArray[np.uint64] = (words & _MASKS[3]) * np.uint64(HASH_FACTOR)
    mixed ^= mixed >> np.uint64(HASH_SHIFT)
    mixed &= np.uint64((1 << HASH_BITS) - 1)
    return mixed.view(np.int64)


@dataclass(frozen=True, slots=True)
class Coded:
    """Coded values: per code its number (LITERAL + byte if escaped), and codes per value."""

    codes: NDArray[np.int16]
    counts: Ints


def code_values(coder: Coder, values: Variable) -> Coded:
    """Cut every value into symbols, always the longest that matches, and escaped bytes."""
    data = np.append(values.data[: int(values.offsets[-1])], np.zeros(MAX_SYMBOL, np.uint8))
    words = np.ndarray((len(data) - MAX_SYMBOL + 1,), "<u8", data.data, strides=(1,))
    counts, steps = np.zeros(values.count, np.int64), []
    alive = np.flatnonzero(values.offsets[:-1] < values.offsets[1:])
    at, left = values.offsets[alive], np.diff(values.offsets)[alive]
    while len(alive) >= FEW:
        numbers, sizes = _longest(coder, words[at], left)
        steps.append((alive, numbers))
        at, left = at + sizes, left - sizes
        if not left.all():
            counts[alive[left == 0]] = len(steps)
            goes_on = np.flatnonzero(left)
            alive, at, left = alive.take(goes_on), at.take(goes_on), left.take(goes_on)
    rest = _code_at_once(coder, words, at, left)
    counts[alive] = len(steps) + rest.counts
    start = np.cumsum(counts) - counts
    codes = np.empty(int(counts.sum()), np.int16)
    for step, (coded, numbers) in enumerate(steps):
        codes[start.take(coded) + step] = numbers
    behind = start[alive] + len(steps) - (np.cumsum(rest.counts) - rest.counts)
    codes[np.repeat(behind, rest.counts) + np.arange(len(rest.codes))] = rest.codes
    return Coded(codes, counts)


def _longest(coder: Coder, words: NDArray[np.uint64], left: Ints) -> tuple[NDArray[np.int16], Ints]:
    """Return the number of the longest symbol that each word starts with, and its length.

    `left` is how many bytes of a word belong to its value. The number of an escaped byte is
    LITERAL + byte.
    """
    slot = _hash(words)
    fits = (words & coder.slot_masks.take(slot)) == coder.slot_symbols.take(slot)
    pairs = (words & np.uint64(0xFFFF)).view(np.int64)
    codes = np.where(fits, coder.slots.take(slot), coder.shorts.take(pairs))
    sizes = coder.lengths.take(codes)
    long = np.flatnonzero(sizes > left)
    if len(long):  # symbols that end behind their value
        pairs, room = pairs[long], left[long]
        codes[long] = coder.shorts.take(pairs)
        short = np.flatnonzero(room == 1)
        codes[long[short]] = coder.singles.take(pairs[short] & 0xFF)
        sizes[long] = coder.lengths.take(codes[long])
    return codes, sizes


def _code_at_once(coder: Coder, words: NDArray[np.uint64], start: Ints, sizes: Ints) -> Coded:
    """Code `sizes` bytes from `start` on of some values, looking at every byte."""
    offsets = np.append(0, np.cumsum(sizes))
    at = np.arange(int(offsets[-1]))
    left = np.repeat(offsets[1:], sizes) - at
    numbers, lengths = _longest(coder, words[np.repeat(start - offsets[:-1], sizes) + at], left)
    chosen = _chain(at + lengths, offsets, len(at))
    return Coded(numbers[chosen], np.diff(np.searchsorted(chosen, offsets)))


def _chain(after: Ints, offsets: Ints, size: int) -> Ints:
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

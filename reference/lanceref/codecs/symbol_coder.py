"""Symbol coder: the table of symbols that FSST writes for strings, and the strings as its codes.

The stored form is that of `fsst`. A table is grown in rounds: a sample is coded with the table
so far, and the symbols and pairs of neighbours that save most bytes make the next table (Boncz,
Neumann, Leis: "FSST: Fast Random Access String Compression", VLDB 2020, section 4). Values of fewer
than 32 KiB in all, and those that no table makes smaller, are stored as they are, under a table
that is switched off. At every place of a value the longest symbol that matches is taken, or one
byte is escaped.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bytes, Ints, Variable
from lanceref.codecs.variable import ESCAPE, LONGEST, symbol_table
from lanceref.core.context import specified

SMALLEST = 32 * 1024
"""Bytes of values below which they are not coded."""

SAMPLE_BYTES, PIECE_BYTES = 1 << 14, 512
"""Bytes that a table is trained on, and the most of one piece of a value among them."""

ROUNDS = 5
"""Rounds of training."""

HASH_BITS, HASH_FACTOR, HASH_SHIFT = 12, 2971215073, 15
"""How the first three bytes of a word are hashed: as the compiled coder does."""

LITERAL = 256
"""The number of byte 0 escaped, and of how many codes the lengths are known."""

_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)

Words = NDArray[np.uint64]
"""Eight bytes each, the first one lowest."""

Codes = NDArray[np.int16]
"""Numbers of symbols; LITERAL + byte for an escaped byte."""


def encode(values: Variable) -> tuple[bytes, Variable]:
    """Return the symbol table and the coded values."""
    size = int(values.offsets[-1])
    symbols = train(values) if size >= SMALLEST else []
    if symbols and shrinks(symbols, values):
        coded = apply(symbols, values)
        if len(coded.data) < size:
            return symbol_table(symbols, is_on=True), coded
    return symbol_table([], is_on=False), values


def train(values: Variable) -> list[bytes]:
    """Return the symbols of a table for these values, the most useful first; at most 255."""
    sample = _sample(values)
    symbols: list[bytes] = []
    for last in range(1, ROUNDS + 1):
        coded = code_values(make_coder(symbols), sample)
        symbols = _best(symbols, *coded, last < ROUNDS)
    return symbols


def shrinks(symbols: list[bytes], values: Variable) -> bool:
    """Return whether a table makes values smaller, by a sample that it was not trained on."""
    sample = _sample(values, 1)
    codes, _ = code_values(make_coder(symbols), sample)
    return len(codes) + int((codes >= LITERAL).sum()) < len(sample.data)


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


def _best(symbols: list[bytes], codes: Codes, counts: Ints, grows: bool) -> list[bytes]:
    """Return the 255 symbols, or pairs of neighbours, that save most bytes of the sample.

    `codes` are those of the sample, `counts` (values,) the codes of each of its values.
    """
    words, sizes = np.zeros(2 * LITERAL, np.uint64), np.zeros(2 * LITERAL, np.int64)
    words[: len(symbols)], sizes[: len(symbols)] = words_of(symbols)
    words[LITERAL:], sizes[LITERAL:] = np.arange(LITERAL), 1
    numbers = codes.astype(np.int64)
    used, uses = np.unique(numbers, return_counts=True)
    text, size = words[used], sizes[used]
    # A single byte counts eight times: where it is no symbol, it takes an escape and itself.
    gains = uses * np.where(size > 1, size, 8)
    if grows and len(numbers) > 1:
        # Two codes make a pair where they are of one value.
        same = np.ones(len(numbers) - 1, np.bool_)
        ends = np.cumsum(counts)
        same[ends[(ends > 0) & (ends < len(numbers))] - 1] = False
        pairs, uses = np.unique((numbers[:-1] * 512 + numbers[1:])[same], return_counts=True)
        first, second = np.divmod(pairs, 512)
        shift = np.minimum(8 * sizes[first], 63).astype(np.uint64)
        joined = words[first] | np.where(sizes[first] < LONGEST, words[second] << shift, 0)
        joined_size = np.minimum(sizes[first] + sizes[second], LONGEST)
        text, size = np.append(text, joined), np.append(size, joined_size)
        gains = np.append(gains, uses * joined_size)
    return _ranked(text, size, gains)


def _ranked(words: Words, sizes: Ints, gains: Ints) -> list[bytes]:
    """Return the texts (`sizes` bytes of `words` each) with the highest sums of gains, 255."""
    big = words.byteswap()
    order = np.lexsort((sizes, big))
    big, sizes = big[order], sizes[order]
    is_new = np.append(True, (big[1:] != big[:-1]) | (sizes[1:] != sizes[:-1]))[: len(order)]
    firsts = np.flatnonzero(is_new)
    total = np.add.reduceat(gains[order], firsts) if len(firsts) else gains
    best = firsts[np.argsort(-total, kind="stable")].tolist()
    return [int(big[at]).to_bytes(LONGEST, "big")[: sizes[at]] for at in best[:ESCAPE]]


@specified
def apply(symbols: list[bytes], values: Variable) -> Variable:
    """Code the values with the symbols of a table."""
    codes, stops = stored(*code_values(make_coder(symbols), values))
    return Variable(np.append(0, stops), codes)


def stored(codes: Codes, counts: Ints) -> tuple[Bytes, Ints]:
    """Return codes as they are stored, escapes before literals, and where each value ends.

    `codes` (n,), `counts` and the ends (values,).
    """
    stops = np.cumsum(counts)
    escaped = codes >= LITERAL
    if not escaped.any():
        return codes.astype(np.uint8), stops
    ends = np.cumsum(1 + escaped.astype(np.int64))
    out = np.empty(int(ends[-1]), np.uint8)
    out[ends - 1] = codes & 0xFF
    out[ends[escaped] - 2] = ESCAPE
    return out, np.append(0, ends)[stops]


class Coder(NamedTuple):
    """Looks up symbols: those of three bytes and more by a hash of three, others by two bytes.

    `lengths` int64 (512,), by code; those of escaped bytes, from LITERAL on, are 1. By slot of the
    hash: `slots` int16 (code), `slot_symbols` and `slot_masks` uint64; no word is the symbol of an
    empty slot. `shorts` int16 (code) by the first two bytes, `singles` by one: a symbol, or the
    first byte escaped.
    """

    lengths: Ints
    slots: Codes
    slot_symbols: Words
    slot_masks: Words
    shorts: Codes
    singles: Codes


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
    at = hash_of(values[long])
    slots = np.zeros(1 << HASH_BITS, np.int16)
    slot_symbols, slot_masks = np.full(len(slots), ~np.uint64(0)), np.zeros(len(slots), np.uint64)
    slots[at], slot_symbols[at], slot_masks[at] = long, values[long], _MASKS[sizes[long]]
    return Coder(lengths, slots, slot_symbols, slot_masks, shorts, singles)


def words_of(symbols: list[bytes]) -> tuple[Words, Ints]:
    """Return symbols as words, padded with zeros, and their lengths. Both are (symbols,)."""
    data = b"".join([symbol.ljust(LONGEST, b"\0") for symbol in symbols])
    return np.frombuffer(data, "<u8"), np.array(list(map(len, symbols)), np.int64)


def words_at(values: Variable) -> Words:
    """Return the word that begins at each byte of the values: (bytes,)."""
    data = np.append(values.data[: int(values.offsets[-1])], np.zeros(LONGEST, np.uint8))
    return np.ndarray((len(data) - LONGEST + 1,), "<u8", data.data, strides=(1,))


def hash_of(words: Words) -> Ints:
    """Return the slot of the first three bytes of each word. `words` and the result (n,)."""
    mixed: Words = (words & _MASKS[3]) * np.uint64(HASH_FACTOR)
    mixed ^= mixed >> np.uint64(HASH_SHIFT)
    mixed &= np.uint64((1 << HASH_BITS) - 1)
    return mixed.view(np.int64)


@specified
def code_values(coder: Coder, values: Variable) -> tuple[Codes, Ints]:
    """Cut every value into the longest symbols and escaped bytes: codes, and codes per value.

    They are (codes,) and (values,).
    """
    codes: list[int] = []
    words, counts = words_at(values), []
    for start, end in pairwise(values.offsets.tolist()):
        first, at = len(codes), start
        while at < end:
            code, size = longest(coder, words[at : at + 1], np.array([end - at]))
            codes.append(int(code[0]))
            at += int(size[0])
        counts.append(len(codes) - first)
    return np.array(codes, np.int16), np.array(counts, np.int64)


def longest(coder: Coder, words: Words, left: Ints) -> tuple[Codes, Ints]:
    """Return the number of the longest symbol that each word starts with, and its length.

    `left` is how many bytes of a word belong to its value. All arrays are (n,).
    """
    slot = hash_of(words)
    fits = (words & coder.slot_masks.take(slot)) == coder.slot_symbols.take(slot)
    pairs = (words & np.uint64(0xFFFF)).view(np.int64)
    codes = np.where(fits, coder.slots.take(slot), coder.shorts.take(pairs))
    sizes = coder.lengths.take(codes)
    long = np.flatnonzero(sizes > left)
    if len(long):  # symbols that end beyond their value
        pairs, room = pairs[long], left[long]
        codes[long] = coder.shorts.take(pairs)
        short = np.flatnonzero(room == 1)
        codes[long[short]] = coder.singles.take(pairs[short] & 0xFF)
        sizes[long] = coder.lengths.take(codes[long])
    return codes, sizes

"""FSST: strings as codes of up to eight bytes each, read and written.

A symbol table of at most 255 symbols lies in the page's description. A code below the number of
symbols stands for its symbol, 255 says that the next byte stands for itself. Values are coded one
by one: none ends inside a symbol.

Layout of the table (2 312 bytes): u8 number of symbols, u8 terminator, u8 suffix limit, u8 flags
(bit 0: the values are coded), u32 0x46535354, then eight bytes a symbol, then one length byte a
symbol.

To write, a table is grown in rounds: a sample is coded with the table so far, and the symbols and
pairs of neighbours that save most bytes make the next table (Boncz, Neumann, Leis: "FSST: Fast
Random Access String Compression", VLDB 2020, section 4). Values of fewer than 32 KiB in all, and
those that no table makes smaller, are stored as they are, under a table that is switched off. At
every place of a value the longest symbol that matches is taken, or one byte is escaped.

Clauses: L.codec.fsst.table, L.codec.fsst.code, L.codec.fsst.escape
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bools, Bytes, Ints, Variable
from lanceref.core.context import specified
from lanceref.core.errors import CorruptPage, Place

TABLE_BYTES, MAGIC = 2312, 0x46535354
"""Size of every symbol table, and the upper word of its header."""

ESCAPE = 255
"""The code whose successor stands for itself."""

CODES = "fsst codes"
"""What the bytes of coded values are called in a file."""

RUN = 1 << 14
"""Codes expanded at a time: eight bytes and eight flags each."""

LONGEST = 8
"""Bytes of the longest symbol."""

Symbols = NDArray[np.uint64]
"""Symbols as words, the first byte lowest."""


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """`symbols` uint64 (256,), first byte lowest; `lengths` int64 (256,), 0 where there is none."""

    is_on: bool
    num_symbols: int
    symbols: Symbols
    lengths: Ints


def parse_table(table: bytes, place: Place) -> SymbolTable:
    """Parse a symbol table; `place` is where its description lies. Raises CorruptPage."""
    if len(table) != TABLE_BYTES or int.from_bytes(table[4:8], "little") != MAGIC:
        found, wanted = f"{len(table)} bytes: {table[:8].hex()}", f"{TABLE_BYTES} and {MAGIC:08x}"
        raise CorruptPage("L.codec.fsst.table", place, found, wanted)
    count = min(table[0], ESCAPE)
    symbols, lengths = np.zeros(256, np.uint64), np.zeros(256, np.int64)
    symbols[:count] = np.frombuffer(table, "<u8", count, 8)
    lengths[:count] = np.frombuffer(table, np.uint8, count, 8 + 8 * count)
    is_on = bool(table[3] & 1)
    if is_on and np.any((lengths[:count] < 1) | (lengths[:count] > LONGEST)):
        found = f"lengths {sorted(set(lengths[:count].tolist()))[:9]}"
        raise CorruptPage("L.codec.fsst.table", place, found, "lengths 1 to 8")
    return SymbolTable(is_on, count, symbols, lengths)


@specified
def decode(table: SymbolTable, values: Variable, place: Place) -> Variable:
    """Decode every value; `place` is where the codes lie. Raises CorruptPage."""
    if not table.is_on:
        return values
    start, end = int(values.offsets[0]), int(values.offsets[-1])
    codes, cuts = values.data[start:end], values.offsets - start
    literal = literals(codes)
    check_codes(table, codes, literal, cuts, place)
    # What each code stands for: itself, a symbol, or (an escape) nothing.
    texts, sizes = table.symbols[codes], table.lengths[codes]
    texts[literal], sizes[literal] = codes[literal], 1
    ends = np.append(0, np.cumsum(sizes))
    parts = []
    for at in range(0, len(codes), RUN):
        text = texts[at : at + RUN].view(np.uint8).reshape(-1, LONGEST)
        parts.append(text[np.arange(LONGEST) < sizes[at : at + RUN, None]])
    data = np.concatenate([codes[:0], *parts])
    return Variable(ends[cuts], data)


def literals(codes: Bytes) -> Bools:
    """Return which codes stand for themselves: those after an escape that is not itself escaped.

    `codes` and the result (n,).
    """
    literal = np.zeros(len(codes), np.bool_)
    at = np.flatnonzero(codes == ESCAPE)
    if len(at):
        opens = np.append(True, np.diff(at) != 1)
        first = at[opens][np.cumsum(opens) - 1]
        escapes = at[(at - first) % 2 == 0]
        literal[escapes[escapes + 1 < len(codes)] + 1] = True
    return literal


def check_codes(
    table: SymbolTable, codes: Bytes, literal: Bools, offsets: Ints, place: Place
) -> None:
    """Raise CorruptPage for codes without a symbol, and values that end with an escape.

    `codes` and `literal` (n,), `offsets` (values + 1,).
    """
    unknown = (codes >= table.num_symbols) & (codes != ESCAPE) & ~literal
    if unknown.any():
        found, wanted = int(codes[np.argmax(unknown)]), f"below {table.num_symbols}, or {ESCAPE}"
        raise CorruptPage("L.codec.fsst.code", place, f"code {found}", wanted)
    ends = offsets[1:][np.diff(offsets) > 0] - 1
    if np.any((codes[ends] == ESCAPE) & ~literal[ends]):
        raise CorruptPage("L.codec.fsst.escape", place, "255 at an end", "a byte")


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
    if int(values.offsets[-1]) < SMALLEST:
        return symbol_table([], is_on=False), values
    symbols = train(values)
    if shrinks(symbols, values):
        coded = apply(symbols, values)
        if len(coded.data) < int(values.offsets[-1]):
            return symbol_table(symbols, is_on=True), coded
    return symbol_table([], is_on=False), values


def symbol_table(symbols: list[bytes], *, is_on: bool) -> bytes:
    """Return the bytes of a table of at most 255 symbols of one to eight bytes."""
    header = bytes([len(symbols), 0, 0, is_on]) + MAGIC.to_bytes(4, "little")
    words = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (header + words + bytes(map(len, symbols))).ljust(TABLE_BYTES, b"\0")


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
    gains = uses * np.where(size > 1, size, 8)
    if grows and len(numbers) > 1:
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

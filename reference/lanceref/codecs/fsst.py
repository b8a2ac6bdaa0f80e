"""FSST: strings as codes of up to eight bytes each.

A symbol table of at most 255 symbols lies in the page's description. A code below the number of
symbols stands for its symbol, 255 says that the next byte stands for itself. Values are coded one
by one: none ends inside a symbol.

Layout of the table (2 312 bytes): u8 number of symbols, u8 terminator, u8 suffix limit, u8 flags
(bit 0: the values are coded), u32 0x46535354, then eight bytes a symbol, then one length byte a
symbol.

Clauses: L.codec.fsst.table, L.codec.fsst.code, L.codec.fsst.escape
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bools, Bytes, Ints, Variable
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.plain import specified

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

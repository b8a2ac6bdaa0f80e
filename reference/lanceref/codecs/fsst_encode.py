"""FSST, encoded: strings as codes of up to eight bytes each.

Layout: see `fsst`. Values of fewer than 32 KiB in all, and those that no table makes smaller, are
stored as they are, under a table that is switched off.

Clauses: L.codec.fsst.table, L.codec.fsst.escape
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.fsst import MAGIC, TABLE_BYTES
from lanceref.codecs.fsst_code import LITERAL, Coded, code_values, make_coder
from lanceref.codecs.fsst_expand import ESCAPE
from lanceref.codecs.fsst_train import shrinks, train
from lanceref.codecs.values import Bytes, Ints, Variable
from lanceref.kernels.compiled import PATIENCE

SMALLEST = 32 * 1024
"""Bytes of values below which they are not coded."""

SLAB_BYTES, SLAB_VALUES = 1 << 19, 1 << 14
"""What is coded at a time: it stays in the cache."""


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


def apply(symbols: list[bytes], values: Variable) -> Variable:
    """Code the values with the symbols of a table, some of them at a time."""
    coder, offsets = make_coder(symbols), values.offsets
    if PATIENCE.pays(int(offsets[-1])):
        from lanceref.codecs import fsst_code_compiled as kernel

        return kernel.apply(coder, values)
    ends, parts, size = [np.zeros(1, np.int64)], [np.empty(0, np.uint8)], 0
    first = 0
    while first < values.count:
        full = int(np.searchsorted(offsets, offsets[first] + SLAB_BYTES, "right")) - 1
        last = min(max(full, first + 1), first + SLAB_VALUES)
        start, end = int(offsets[first]), int(offsets[last])
        part = Variable(offsets[first : last + 1] - start, values.data[start:end])
        codes, stops = _stored(code_values(coder, part))
        ends.append(size + stops)
        parts.append(codes)
        size += len(codes)
        first = last
    return Variable(np.concatenate(ends), np.concatenate(parts))


def _stored(coded: Coded) -> tuple[Bytes, Ints]:
    """Return codes as they are stored, escapes before literals, and where each value ends."""
    stops = np.cumsum(coded.counts)
    escaped = coded.codes >= LITERAL
    if not escaped.any():
        return coded.codes.astype(np.uint8), stops
    ends = np.cumsum(1 + escaped.astype(np.int64))
    out = np.empty(int(ends[-1]), np.uint8)
    out[ends - 1] = coded.codes & 0xFF
    out[ends[escaped] - 2] = ESCAPE
    return out, np.append(0, ends)[stops]

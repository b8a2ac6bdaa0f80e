"""FSST, encoded: strings as codes of up to eight bytes each.

Layout: see `fsst`. Values of fewer than 32 KiB in all are stored as they are, under a table that is
switched off.

Clauses: L.codec.fsst.table, L.codec.fsst.escape
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.fsst import MAGIC, TABLE_BYTES
from lanceref.codecs.fsst_expand import ESCAPE
from lanceref.codecs.fsst_train import code_values, make_coder, train
from lanceref.codecs.values import Variable

SMALLEST = 32 * 1024
"""Bytes of values below which they are not coded."""


def encode(values: Variable) -> tuple[bytes, Variable]:
    """Return the symbol table and the coded values."""
    if int(values.offsets[-1]) < SMALLEST:
        return symbol_table([], is_on=False), values
    symbols = train(values)
    return symbol_table(symbols, is_on=True), apply(symbols, values)


def symbol_table(symbols: list[bytes], *, is_on: bool) -> bytes:
    """Return the bytes of a table of at most 255 symbols of one to eight bytes."""
    header = bytes([len(symbols), 0, 0, is_on]) + MAGIC.to_bytes(4, "little")
    words = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (header + words + bytes(map(len, symbols))).ljust(TABLE_BYTES, b"\0")


def apply(symbols: list[bytes], values: Variable) -> Variable:
    """Code the values with the symbols of a table."""
    coded = code_values(make_coder(symbols), values)
    escaped = coded.codes >= 256
    sizes = 1 + escaped.astype(np.int64)
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    out[ends - sizes] = np.where(escaped, ESCAPE, coded.codes)
    out[ends[escaped] - 1] = coded.codes[escaped] - 256
    stops = np.append(0, ends)[np.append(0, np.cumsum(coded.counts))]
    return Variable(stops.astype(np.int64), out)

"""FSST: strings as codes of up to eight bytes each.

A symbol table of at most 255 symbols stands in the page's description. A code below the number of
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

from lanceref.codecs import fsst_expand
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.fsst_expand import ESCAPE
from lanceref.codecs.values import Bools, Bytes, Ints, Variable
from lanceref.core.errors import CorruptPage, Place
from lanceref.kernels.compiled import PATIENCE
from lanceref.proto import encodings_v2_1_pb2 as pb

TABLE_BYTES = 2312
"""Size of every symbol table."""

MAGIC = 0x46535354
"""Upper word of the table's header."""

GROWTH = 3
"""Assumed bytes that a code stands for."""

CODES = "fsst codes"
"""What the bytes of coded values are called in a file."""


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """`symbols` uint64 (256,), first byte lowest; `lengths` int64 (256,), 0 where there is none."""

    is_on: bool
    num_symbols: int
    symbols: NDArray[np.uint64]
    lengths: Ints

    def variable(self, offsets: Ints, data: Bytes, escaped: int) -> Variable:
        """Return decoded values; `escaped` has the bits of every escaped byte."""
        high = int(np.bitwise_or.reduce(self.symbols)) | escaped
        return Variable(offsets, data, known_ascii=high & 0x8080808080808080 == 0)


def parse_table(table: bytes, place: Place) -> SymbolTable:
    """Parse a symbol table; `place` is where the description that holds it lies."""
    if len(table) != TABLE_BYTES or int.from_bytes(table[4:8], "little") != MAGIC:
        raise CorruptPage(
            "L.codec.fsst.table",
            place,
            found=f"{len(table)} bytes that start with {table[:8].hex()}",
            wanted=f"{TABLE_BYTES} bytes with the magic {MAGIC:08x}",
        )
    count = min(table[0], ESCAPE)
    symbols, lengths = np.zeros(256, np.uint64), np.zeros(256, np.int64)
    symbols[:count] = np.frombuffer(table, "<u8", count, 8)
    lengths[:count] = np.frombuffer(table, np.uint8, count, 8 + 8 * count)
    is_on = bool(table[3] & 1)
    if is_on and np.any((lengths[:count] < 1) | (lengths[:count] > 8)):
        raise CorruptPage(
            "L.codec.fsst.table",
            place,
            found=f"symbol lengths {sorted(set(lengths[:count].tolist()))[:9]}",
            wanted="lengths 1 to 8",
        )
    return SymbolTable(is_on, count, symbols, lengths)


def expand(encoding: pb.Fsst, codes: Variable, place: Place) -> Variable:
    """Decode values by the table in their description."""
    return decode(parse_table(encoding.symbol_table, place), codes, place)


def decode(table: SymbolTable, values: Variable, place: Place) -> Variable:
    """Decode every value; `place` is where the codes lie."""
    if not table.is_on:
        return values
    start, end = int(values.offsets[0]), int(values.offsets[-1])
    codes, cuts = values.data[start:end], values.offsets - start
    if PATIENCE.pays(len(codes) * GROWTH):
        from lanceref.codecs import fsst_compiled as kernel

        decoded = kernel.decode(table.symbols, table.lengths, codes, cuts)
        if decoded is not None:
            return table.variable(*decoded)
    literal = None
    if int(codes.max(initial=0)) >= table.num_symbols:
        literal = _literals(codes)
        _check(table, codes, literal, cuts, place)
    offsets, data = fsst_expand.expand(table.symbols, table.lengths, codes, literal, cuts)
    return table.variable(offsets, data, 0 if literal is None else ESCAPE)


def decode_chunks(encoding: pb.Fsst, run: ChunkRun) -> Variable | None:
    """Decode strings in chunks in one pass where there is a kernel for it, and no fault is met."""
    counts, sizes = run.counts, run.sizes[0]
    offsets = encoding.values.variable.offsets.flat
    is_plain = run.ctx.spans is None and not run.ctx.validating and offsets.bits_per_value == 32
    if not is_plain or np.any(sizes < (counts + 1) * 4):
        return None
    if not PATIENCE.pays((int(sizes.sum()) - 4 * run.num_values) * GROWTH):
        return None
    from lanceref.codecs import fsst_compiled as kernel

    table = parse_table(encoding.symbol_table, run.place())
    decoded = None
    if table.is_on:
        decoded = kernel.decode_chunks(
            table.symbols, table.lengths, run.data, run.starts[0], sizes, counts
        )
    return None if decoded is None else table.variable(*decoded)


def _literals(codes: Bytes) -> Bools:
    """Say which codes stand for themselves: those behind an escape that is not itself escaped."""
    literal = np.zeros(len(codes), np.bool_)
    at = np.flatnonzero(codes == ESCAPE)
    if len(at):
        opens = np.append(True, np.diff(at) != 1)
        first = at[opens][np.cumsum(opens) - 1]
        escapes = at[(at - first) % 2 == 0]
        literal[escapes[escapes + 1 < len(codes)] + 1] = True
    return literal


def _check(table: SymbolTable, codes: Bytes, literal: Bools, offsets: Ints, place: Place) -> None:
    """Refuse codes without a symbol, and values that end behind an escape."""
    unknown = (codes >= table.num_symbols) & (codes != ESCAPE) & ~literal
    if unknown.any():
        at = int(np.argmax(unknown))
        raise CorruptPage(
            "L.codec.fsst.code",
            place,
            found=f"code {int(codes[at])}",
            wanted=f"a code below {table.num_symbols}, or {ESCAPE}",
        )
    ends = offsets[1:][np.diff(offsets) > 0] - 1
    if np.any((codes[ends] == ESCAPE) & ~literal[ends]):
        raise CorruptPage(
            "L.codec.fsst.escape",
            place,
            found="a value that ends in 255",
            wanted="a byte behind it",
        )

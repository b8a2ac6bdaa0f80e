"""Variable: byte strings with a table of plain offsets, in chunks, and strings as codes of FSST.

Layout in a chunk: `count + 1` offsets of 4 or 8 bytes, relative to the start of the buffer (so the
first is the size of the table), then the bytes, then padding with 0x48.

The bytes may be codes of FSST, for up to eight bytes each, by a table of at most 255 symbols in the
page's description. A code below the number of symbols stands for its symbol, 255 says that the next
byte stands for itself. Values are coded one by one: none ends inside a symbol.

Layout of the table (2 312 bytes): u8 number of symbols, u8 terminator, u8 suffix limit, u8 flags
(bit 0: the values are coded), u32 0x46535354, then eight bytes a symbol, then one length byte a
symbol.

Clauses: L.codec.variable.offsets, L.codec.variable.table, L.codec.variable.padding,
L.codec.fsst.table, L.codec.fsst.code, L.codec.fsst.escape
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.buffers import Buffer, MiniBlocks, flat_encoding, weave
from lanceref.codecs.values import Bools, Bytes, Ints, Variable, join_ranges
from lanceref.core.context import specified
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

PADDING_BYTE = 0x48
"""What the oracle fills a chunk's buffer up with: `H`."""

ALIGNMENT = 8
"""The header of a chunk and each buffer in it are padded to a multiple of this many bytes."""

CHUNK_BYTES = 4096
"""Bytes that offsets and values of a chunk aim at."""

WORD_BYTES = 32 * 1024
"""Bytes of a chunk that a word of 2.1 can state."""


def decode_after_table(buffer: Buffer, count: int, bits: int, kind: str = "bytes[]") -> Variable:
    """Decode a table of offsets of `bits` bits, and the bytes after it (`kind` for explain).

    Raises CorruptPage.
    """
    width, size = bits // 8, buffer.size
    start = (count + 1) * width
    if size < start:
        raise CorruptPage("L.codec.variable.table", buffer.place, f"{size} bytes", f"{start} bytes")
    offsets = buffer.data[:start].view(f"<u{width}")
    if offsets[0] != start or (offsets[1:] < offsets[:-1]).any() or offsets[-1] > size:
        found = "offsets that fall, or leave the buffer"
        raise CorruptPage("L.codec.variable.offsets", buffer.place, found, f"{size} bytes")
    end = int(offsets[-1])
    buffer.own("offsets", f"offsets u{bits}[]", "L.codec.variable.table", end=start)
    buffer.own("bytes", kind, "L.codec.variable.offsets", start=start, end=end)
    buffer.own("padding", "padding", "L.codec.variable.padding", start=end)
    padding = buffer.part(end)
    if buffer.origin is None and (padding.data != PADDING_BYTE).any():
        found, wanted = padding.data[:8].tobytes().hex(), f"bytes {PADDING_BYTE:02x}"
        buffer.ctx.lint("L.codec.variable.padding", padding.place, found, wanted)
    return Variable(offsets.astype(np.int64) - start, buffer.data[start:end])


def variable_encoding(offsets: int | CompressiveEncoding) -> CompressiveEncoding:
    """Return the description of values with plain offsets of 32 or 64 bits, or others."""
    described = flat_encoding(offsets) if isinstance(offsets, int) else offsets
    return CompressiveEncoding(variable={"offsets": described})


def chunk_counts(values: Variable, bits: int, chunk_bytes: int, most: int) -> Ints:
    """Return the values of each chunk: 2, 4, 8, … while the next step keeps to `chunk_bytes`.

    The rest of the values is one chunk when it fits; `most` bounds the values of a chunk. The
    result is (chunks,).
    """
    offsets, width, total = values.offsets, bits // 8, values.count
    counts, at = [], 0
    while at < total:
        count = 2
        while count < most and at + 2 * count <= total:
            size = int(offsets[at + 2 * count] - offsets[at]) + (2 * count + 1) * width
            if size > chunk_bytes:
                break
            count *= 2
        rest = total - at
        rest_bytes = int(offsets[-1] - offsets[at]) + (rest + 1) * width
        if rest <= most and (rest <= count or (2 * count > rest and rest_bytes <= chunk_bytes)):
            count = rest
        counts.append(count)
        at += count
    return np.array(counts, np.int64)


def encode_mini(values: Variable, bits: int, counts: Ints) -> MiniBlocks:
    """Encode chunks of `counts` values: offsets from the buffer's start, bytes, padding.

    `counts` (chunks,).
    """
    width, ends, offsets = bits // 8, np.cumsum(counts), values.offsets
    first, tables = ends - counts, (counts + 1) * width
    sizes = offsets[ends] - offsets[first]
    stored = join_ranges(offsets, first, ends + 1) - np.repeat(offsets[first] - tables, counts + 1)
    table = stored.astype(f"<u{width}").view(np.uint8), tables
    body = np.ascontiguousarray(values.data[int(offsets[0]) : int(offsets[-1])]), sizes
    gaps = -(tables + sizes) % width
    padding = np.full(int(gaps.sum()), PADDING_BYTE, np.uint8), gaps
    return MiniBlocks(variable_encoding(bits), counts, (weave([table, body, padding]),))


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


def parse_symbol_table(table: bytes, place: Place) -> SymbolTable:
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
def decode_codes(table: SymbolTable, values: Variable, place: Place) -> Variable:
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


def symbol_table(symbols: list[bytes], *, is_on: bool) -> bytes:
    """Return the bytes of a table of at most 255 symbols of one to eight bytes."""
    header = bytes([len(symbols), 0, 0, is_on]) + MAGIC.to_bytes(4, "little")
    words = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (header + words + bytes(map(len, symbols))).ljust(TABLE_BYTES, b"\0")

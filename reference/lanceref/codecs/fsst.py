"""FSST: strings as codes of up to eight bytes each.

A symbol table of at most 255 symbols lies in the page's description. A code below the number of
symbols stands for its symbol, 255 says that the next byte stands for itself. Values are coded one
by one: none ends inside a symbol.

Layout of the table (2 312 bytes): u8 number of symbols, u8 terminator, u8 suffix limit, u8 flags
(bit 0: the values are coded), u32 0x46535354, then eight bytes a symbol, then one length byte a
symbol.

Codes are expanded two at a time. What a pair stands for, up to sixteen bytes, is one of 65 536
texts that are made once for a symbol table. Texts are written in order, each sixteen bytes wide,
where the one before ended: each overwrites what that one wrote too much. A pair whose second code
is an escape gives the bytes of its first only; the next pair then begins with a literal, and has
its text in a second half of the table.

Clauses: L.codec.fsst.table, L.codec.fsst.code, L.codec.fsst.escape
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Bools, Bytes, Ints, Variable
from lanceref.core.errors import CorruptPage, Place
from lanceref.kernels.compiled import KERNEL_USE
from lanceref.proto import encodings_v2_1_pb2 as pb

TABLE_BYTES, MAGIC = 2312, 0x46535354
"""Size of every symbol table, and the upper word of its header."""

ESCAPE = 255
"""The code whose successor stands for itself."""

GROWTH = 3
"""Assumed bytes that a code stands for."""

CODES = "fsst codes"
"""What the bytes of coded values are called in a file."""

SLAB = 1 << 15
"""Codes expanded at a time: what stands for them stays in the cache."""

PAIRED = 1 << 18
"""Codes from which the table of pairs is worth making."""

LONGEST = 8
"""Bytes of the longest symbol."""

PAIR = np.complex128
"""What holds the text of a pair: sixteen bytes."""

Symbols = NDArray[np.uint64]
"""Symbols as words, the first byte lowest."""


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """`symbols` uint64 (256,), first byte lowest; `lengths` int64 (256,), 0 where there is none."""

    is_on: bool
    num_symbols: int
    symbols: Symbols
    lengths: Ints

    def variable(self, offsets: Ints, data: Bytes, escaped: int) -> Variable:
        """Return decoded values; `escaped` has the bits of every escaped byte."""
        high = int(np.bitwise_or.reduce(self.symbols)) | escaped
        return Variable(offsets, data, known_ascii=high & 0x8080808080808080 == 0)


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


def decode(table: SymbolTable, values: Variable, place: Place) -> Variable:
    """Decode every value; `place` is where the codes lie. Raises CorruptPage."""
    if not table.is_on:
        return values
    start, end = int(values.offsets[0]), int(values.offsets[-1])
    codes, cuts = values.data[start:end], values.offsets - start
    if KERNEL_USE.use(len(codes) * GROWTH):
        from lanceref.codecs import fsst_compiled as kernel

        decoded = kernel.decode(table.symbols, table.lengths, codes, cuts)
        if decoded is not None:
            return table.variable(*decoded)
    literal = None
    if int(codes.max(initial=0)) >= table.num_symbols:
        literal = _literals(codes)
        _check(table, codes, literal, cuts, place)
    offsets, data = expand(table.symbols, table.lengths, codes, literal, cuts)
    return table.variable(offsets, data, 0 if literal is None else ESCAPE)


def decode_chunks(encoding: pb.Fsst, run: ChunkRun) -> Variable | None:
    """Decode strings in chunks in one pass where there is a kernel for it, and no fault is met."""
    counts, sizes = run.counts, run.sizes[0]
    offsets = encoding.values.variable.offsets.flat
    is_plain = run.ctx.spans is None and not run.ctx.validating and offsets.bits_per_value == 32
    if not is_plain or np.any(sizes < (counts + 1) * 4):
        return None
    if not KERNEL_USE.use((int(sizes.sum()) - 4 * run.num_values) * GROWTH):
        return None
    table = parse_table(encoding.symbol_table, run.place())
    if not table.is_on:
        return None
    from lanceref.codecs import fsst_compiled as kernel

    data, starts = run.data, run.starts[0]
    decoded = kernel.decode_chunks(table.symbols, table.lengths, data, starts, sizes, counts)
    return None if decoded is None else table.variable(*decoded)


def _literals(codes: Bytes) -> Bools:
    """Return which codes stand for themselves: those after an escape that is not itself escaped."""
    literal = np.zeros(len(codes), np.bool_)
    at = np.flatnonzero(codes == ESCAPE)
    if len(at):
        opens = np.append(True, np.diff(at) != 1)
        first = at[opens][np.cumsum(opens) - 1]
        escapes = at[(at - first) % 2 == 0]
        literal[escapes[escapes + 1 < len(codes)] + 1] = True
    return literal


def _check(table: SymbolTable, codes: Bytes, literal: Bools, offsets: Ints, place: Place) -> None:
    """Raise CorruptPage for codes without a symbol, and values that end with an escape."""
    unknown = (codes >= table.num_symbols) & (codes != ESCAPE) & ~literal
    if unknown.any():
        found, wanted = int(codes[np.argmax(unknown)]), f"below {table.num_symbols}, or {ESCAPE}"
        raise CorruptPage("L.codec.fsst.code", place, f"code {found}", wanted)
    ends = offsets[1:][np.diff(offsets) > 0] - 1
    if np.any((codes[ends] == ESCAPE) & ~literal[ends]):
        raise CorruptPage("L.codec.fsst.escape", place, "255 at an end", "a byte")


def expand(
    symbols: Symbols, lengths: Ints, codes: Bytes, literal: Bools | None, cuts: Ints
) -> tuple[Ints, Bytes]:
    """Return where the bytes of the codes before each of `cuts` end, and all bytes.

    `symbols` and `lengths` (256,), those of the escape zero; `literal` says which codes stand for
    themselves (None: none); `cuts` ascend. The codes are sound: every one is a symbol, an escape
    or a literal.
    """
    step = 2 if len(codes) >= PAIRED else 1
    if len(codes) % step:
        codes = np.append(codes, np.uint8(ESCAPE))
        literal = None if literal is None else np.append(literal, False)
    words, sizes = _texts(symbols.tobytes(), lengths.tobytes(), step, literal is not None)
    width = words.dtype.itemsize
    out = np.empty(LONGEST * (len(codes) + step), np.uint8)  # untouched after what is written
    targets = np.ndarray((len(out) - width + 1,), words.dtype, out.data, strides=(1,))
    offsets, size = np.zeros(len(cuts), np.int64), 0
    for at in range(0, len(codes), SLAB):
        # of a pair: its first code + 256 times the second; after a literal, 256 ** step further on
        part = codes[at : at + SLAB]
        numbers = np.require(part.view(f"<u{step}"), requirements="A").astype(np.intp)
        if literal is not None:
            numbers += literal[at : at + SLAB : step].astype(np.intp) << (8 * step)
        ends = np.empty(len(numbers) + 1, np.int64)
        ends[0] = size
        np.cumsum(np.take(sizes, numbers), out=ends[1:])
        ends[1:] += size
        targets[ends[:-1]] = np.take(words, numbers)  # assigned in the order of the indices
        first, last = np.searchsorted(cuts, (at, at + step * len(numbers)), "right")
        np.take(ends, (cuts[first:last] - at) >> (step - 1), out=offsets[first:last], mode="clip")
        size = int(ends[-1])
    if step == 2:  # a cut inside a pair lies after the bytes of the pair's first code
        inside = np.flatnonzero(cuts & 1)
        before = cuts[inside] - 1
        taken = np.take(lengths, codes[before])
        offsets[inside] += taken if literal is None else np.where(literal[before], 1, taken)
    return offsets, out[:size]


@lru_cache(maxsize=2)
def _texts(
    symbols: bytes, lengths: bytes, step: int, with_literals: bool
) -> tuple[NDArray[np.uint64 | np.complex128], Bytes]:
    """Return what one code or a pair of codes stands for, padded, and its bytes: both (n,)."""
    texts = np.append(np.frombuffer(symbols, np.uint64), np.arange(256, dtype=np.uint64))
    sizes = np.append(np.frombuffer(lengths, np.uint64), np.ones(256, np.uint64))
    if step == 1:
        return texts, sizes.astype(np.uint8)
    second = np.repeat(np.arange(256)[:, None], 256, axis=1)
    after_literal = second if with_literals else second[:0]
    second = np.where(np.arange(256) == ESCAPE, 256 + second, second)
    pairs, both = [], []
    for first, following in ((slice(256), second), (slice(256, 512), after_literal)):
        # bits that are moved out of a word, or all of it, are gone
        bits, text = sizes[first] * np.uint64(8), texts[following]
        pairs.append(np.stack((texts[first] | text << bits, text >> (np.uint64(64) - bits)), -1))
        both.append(sizes[first] + sizes[following])
    joined = np.concatenate(pairs).view(PAIR).ravel()
    return joined, np.concatenate(both).astype(np.uint8).ravel()

"""Codecs for speed: FSST, distinct values, and when kernels are used.

FSST: what a pair of codes stands for, up to sixteen bytes, is one of 65 536 texts that are made
once for a symbol table. Texts are written in order, each sixteen bytes wide, where the one before
ended: each overwrites what that one wrote too much. A pair whose second code is an escape gives the
bytes of its first only; the next pair then begins with a literal, and has its text in a second half
of the table. Values are coded one code of each at a time; where few values are left, because they
are longer than the others, the longest symbol is looked up at all of their bytes at once, and the
chain of symbols is followed from the start of each by doubling jumps.

Distinct values are counted from below: values are as many as their halves combined by xor, or more,
and that there are too many for a dictionary is seen in the first of them. The specifications are
`codecs.variable`, `codecs.symbol_coder` and `codecs.choose.index_distinct`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import choose, symbol_coder, variable
from lanceref.codecs.symbol_coder import Coder, Codes, Words, longest, make_coder, stored, words_at
from lanceref.codecs.values import Bools, Bytes, Fixed, Ints, Values, Variable
from lanceref.codecs.variable import ESCAPE, LONGEST, Symbols, SymbolTable, check_codes, literals
from lanceref.core.errors import Place

GROWTH = 3
"""Assumed bytes that a code stands for."""

SLAB = 1 << 15
"""Codes expanded at a time: what stands for them stays in the cache."""

PAIRED = 1 << 18
"""Codes above which the table of pairs is worth making."""

PAIR = np.complex128
"""What holds the text of a pair: sixteen bytes."""

SLAB_VALUES = 1 << 14
"""Values that are coded at a time: what is known of each stays in the cache."""

FEW = 256
"""Values from which going side by side is faster."""


@dataclass(slots=True)
class KernelUse:
    """Whether numba `is_there`, and how many bytes were decoded without kernels so far.

    Kernels are used for at least `smallest` bytes, once `enough` bytes were decoded.
    """

    is_there: bool
    enough: int = 100 * 10**6
    smallest: int = 4096
    spent: int = 0

    def use(self, size_bytes: int) -> bool:
        """Count a call that decodes about so many bytes; return whether to use a kernel for it."""
        self.spent += size_bytes if self.is_there else 0
        return self.is_ready(size_bytes)

    def is_ready(self, size_bytes: int) -> bool:
        """Return whether to use a kernel for about so many bytes, which are counted elsewhere."""
        return self.is_there and size_bytes >= self.smallest and self.spent > self.enough


KERNEL_USE = KernelUse(find_spec("numba") is not None)
"""That of this process.

Loading numba takes as long as decoding 100 MB without it. So kernels are loaded once this process
has decoded that much: short programs never wait for them, long ones take at most twice the time.
"""


class AsciiStrings(Variable):
    """Byte strings of symbols that have no byte above 127: none has to be looked at for that."""

    __slots__ = ()

    @property
    def is_ascii(self) -> bool:
        return True


def decoded_strings(offsets: Ints, data: Bytes, bits: int) -> Variable:
    """Return byte strings; `bits` has at least those that any of their bytes has.

    `offsets` (values + 1,), `data` (bytes,).
    """
    return Variable(offsets, data) if bits > 127 else AsciiStrings(offsets, data)


@variable.decode_codes.replaced_by
def decode(table: SymbolTable, values: Variable, place: Place) -> Variable:
    """Decode every value; `place` is where the codes lie. Raises CorruptPage."""
    if not table.is_on:
        return values
    start, end = int(values.offsets[0]), int(values.offsets[-1])
    codes, cuts = values.data[start:end], values.offsets - start
    if KERNEL_USE.use(len(codes) * GROWTH):
        from lanceref.fast import compiled as kernel

        decoded = kernel.decode(table.symbols, table.lengths, codes, cuts)
        if decoded is not None:
            return decoded_strings(*decoded)
    literal = None
    if int(codes.max(initial=0)) >= table.num_symbols:
        literal = literals(codes)
        check_codes(table, codes, literal, cuts, place)
    return Variable(*expand(table.symbols, table.lengths, codes, literal, cuts))


def expand(
    symbols: Symbols, lengths: Ints, codes: Bytes, literal: Bools | None, cuts: Ints
) -> tuple[Ints, Bytes]:
    """Return where the bytes of the codes before each of `cuts` end, and all bytes.

    `symbols` and `lengths` (256,), those of the escape zero; `literal` says which codes stand for
    themselves (None: none); `cuts` ascend. The codes are sound: every one is a symbol, an escape
    or a literal.
    """
    step = 2 if len(codes) > PAIRED else 1
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
        ends[0], ends[1:] = size, np.take(sizes, numbers)
        np.cumsum(ends, out=ends)
        targets[ends[:-1]] = np.take(words, numbers)  # assigned in the order of the indices
        first, last = np.searchsorted(cuts, (at, at + step * len(numbers)), "right")
        np.take(ends, (cuts[first:last] - at) >> (step - 1), out=offsets[first:last], mode="clip")
        size = int(ends[-1])
    if step == 2:  # a cut inside a pair lies after the bytes of the pair's first code
        taken = np.take(lengths.astype(np.uint8), np.take(codes, cuts - 1, mode="clip"))
        if literal is not None:
            taken[np.take(literal, cuts - 1, mode="clip")] = 1
        taken[cuts & 1 == 0] = 0
        offsets += taken
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


@symbol_coder.apply.replaced_by
def apply(symbols: list[bytes], values: Variable) -> Variable:
    """Code the values with the symbols of a table, some of them at a time."""
    coder, offsets = make_coder(symbols), values.offsets
    if KERNEL_USE.use(int(offsets[-1])):
        return apply_compiled(coder, values)
    ends, parts, size = [np.zeros(1, np.int64)], [np.empty(0, np.uint8)], 0
    for first in range(0, values.count, SLAB_VALUES):
        cuts = offsets[first : first + SLAB_VALUES + 1]
        part = Variable(cuts - cuts[0], values.data[int(cuts[0]) : int(cuts[-1])])
        codes, stops = stored(*code_values(coder, part))
        ends.append(size + stops)
        parts.append(codes)
        size += len(codes)
    return Variable(np.concatenate(ends), np.concatenate(parts))


def apply_compiled(coder: Coder, values: Variable) -> Variable:
    """Code the values with the compiled kernel, which writes codes and escapes."""
    from lanceref.fast import compiled as kernel

    words, ends = words_at(values), np.zeros(values.count + 1, np.int64)
    out = np.empty(2 * (len(words) + 7), np.uint8)
    size = kernel.code((*coder,), words, values.offsets, out, ends)
    return Variable(ends, out[:size])


@symbol_coder.code_values.replaced_by
def code_values(coder: Coder, values: Variable) -> tuple[Codes, Ints]:
    """Cut every value into the longest symbols and escaped bytes: codes, and codes per value.

    They are (codes,) and (values,).
    """
    words = words_at(values)
    counts, steps = np.zeros(values.count, np.int64), []
    alive = np.flatnonzero(values.offsets[:-1] < values.offsets[1:])
    at, left = values.offsets[alive], np.diff(values.offsets)[alive]
    while len(alive) >= FEW:
        numbers, sizes = longest(coder, words[at], left)
        steps.append((alive, numbers))
        at, left = at + sizes, left - sizes
        if not left.all():
            counts[alive[left == 0]] = len(steps)
            goes_on = np.flatnonzero(left)
            alive, at, left = alive.take(goes_on), at.take(goes_on), left.take(goes_on)
    rest, rest_counts = _code_at_once(coder, words, at, left)
    counts[alive] = len(steps) + rest_counts
    start = np.cumsum(counts) - counts
    codes = np.empty(int(counts.sum()), np.int16)
    for step, (coded, numbers) in enumerate(steps):
        codes[start.take(coded) + step] = numbers
    moved = start[alive] + len(steps) - (np.cumsum(rest_counts) - rest_counts)
    codes[np.repeat(moved, rest_counts) + np.arange(len(rest))] = rest
    return codes, counts


def _code_at_once(coder: Coder, words: Words, start: Ints, sizes: Ints) -> tuple[Codes, Ints]:
    """Code `sizes` bytes from `start` on of some values, looking at every byte."""
    offsets = np.append(0, np.cumsum(sizes))
    at = np.arange(int(offsets[-1]))
    left = np.repeat(offsets[1:], sizes) - at
    numbers, lengths = longest(coder, words[np.repeat(start - offsets[:-1], sizes) + at], left)
    chosen = _chain(at + lengths, offsets, len(at))
    return numbers[chosen], np.diff(np.searchsorted(chosen, offsets))


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


@choose.index_distinct.replaced_by
def index_distinct(values: Values, most: int) -> pa.DictionaryArray | None:
    """Return values as indices of the distinct ones; None where more than `most` are distinct."""
    first = most + most // 8
    if isinstance(values, Fixed) and values.bits in (64, 128):
        words = values.data.view(np.uint32).reshape(-1, values.bits // 32)[:first]
        mixed = np.sort(np.bitwise_xor.reduce(words, axis=1))
        if np.count_nonzero(mixed[1:] != mixed[:-1]) >= most > 0:
            return None
    if len(choose.byte_strings(values).slice(0, first).unique()) > most:
        return None
    return choose.index_distinct.plain(values, most)

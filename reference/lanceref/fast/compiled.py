"""Kernels, compiled (numba, the extra `fast`): FSST both ways, bit unpacking, sums, signatures.

The specifications are `codecs.fsst`, which also says what is wrong with codes that a kernel gives
up at, `codecs.bitpack`, `kernels.product_quantizer.look_up`, `kernels.distance.products` and
`index.minhash.signature.signed`. When codes are expanded eight bytes are written at
every symbol's place, in order, and each overwrites what the one before wrote too much. Blocks of
different widths are unpacked in turn, each from the bytes that were read to its place in one pass;
all of them have been checked to lie inside the data, and widths to be at most those of a word.
They are processed as words of 64 bits, sixteen at once, each of which has one or more words of the
block side by side; what a shift moves from one of these into the next is masked out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from lanceref.codecs import bitpack
from lanceref.codecs.bitpack import BLOCK
from lanceref.codecs.values import Bytes, Ints

BYTE, TWO_BYTES, THREE_BYTES = np.uint64(0xFF), np.uint64(0xFFFF), np.uint64(0xFFFFFF)

FACTOR, SHIFT, SLOTS = np.uint64(2971215073), np.uint64(15), np.uint64(2**12 - 1)
"""The hash of `codecs.fsst`."""

ESCAPE, LITERAL = 255, 256
"""The code before a literal byte, and the number that stands for byte 0 escaped."""

LONGEST, GUESS, FEW_CODES = 8, 5, np.uint64(4)
"""Bytes of the longest symbol; bytes a code at first; codes that are looked at together."""

ONE = np.uint64(1)

FULL, FAULTY = -1, -2
"""What is returned when there may not be room enough, and for bytes that are not sound."""

OFFSET_BYTES = 4
"""Width of the offsets."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Sums = TypeVar("Sums", bound=np.number)

Words = NDArray[np.uint64]
Floats = NDArray[np.float32]
Codes = NDArray[np.int16]

Decoded = tuple[Ints, Bytes, int]
"""Where the bytes of each value end, after a 0; all bytes; the bits that any of them has."""

Chunks = tuple[Ints, Ints, Ints, Ints]
"""Of each chunk: where it starts, how much of it is skipped, its size, its number of values."""

Coder = tuple[Ints, Codes, Words, Words, Codes, Codes]
"""The arrays of a `codecs.fsst.Coder`, in its order."""


def compiled(
    function: Callable[Arguments, Result], freedom: frozenset[str] = frozenset()
) -> Callable[Arguments, Result]:
    """Compile a function when it is first called, keep the machine code where that is allowed.

    `freedom` names what sums of floats may do that is not as written: `reassoc`, `contract`.
    """
    try:
        kernel = numba.njit(cache=True, fastmath=set(freedom))(function)
    except RuntimeError:  # no folder that can be written to
        kernel = numba.njit(function, fastmath=set(freedom))
    return cast("Callable[Arguments, Result]", kernel)


def compiled_in_any_order(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function whose sums of floats may be made in any order, by vector instructions."""
    return compiled(function, frozenset({"reassoc", "contract"}))


def decode(symbols: Words, lengths: Ints, codes: Bytes, cuts: Ints) -> Decoded | None:
    """Decode values cut from `codes` by `cuts` (n + 1,), ascending from 0 to `len(codes)`.

    `symbols` and `lengths` (256,), 0 where there is none. None: a code has no symbol, or a value
    ends with an escape, or there are more codes than u32 counts.
    """
    if len(codes) > np.iinfo(np.uint32).max:
        return None
    table, zero = cuts.astype("<u4").view(np.uint8), np.zeros(1, np.int64)
    chunk = zero, zero, np.array([len(codes)]), np.array([len(cuts) - 1])
    return _decode(symbols, lengths, codes, table, chunk)


def decode_chunks(
    symbols: Words, lengths: Ints, data: Bytes, starts: Ints, sizes: Ints, counts: Ints
) -> Decoded | None:
    """Decode chunks of `data`, each of which starts with a table of u32 offsets from its start.

    Every chunk lies inside `data` and is large enough for the table of its `counts` values. None:
    as for `decode`, or an offset is wrong. `symbols` and `lengths` (256,); `starts`, `sizes` and
    `counts` (chunks,).
    """
    chunks = starts, (counts + 1) * OFFSET_BYTES, sizes, counts
    return _decode(symbols, lengths, data, data, chunks)


def _decode(
    symbols: Words, lengths: Ints, data: Bytes, tables: Bytes, chunks: Chunks
) -> Decoded | None:
    """Run the kernel with room for what it decodes: for most codes, then for any."""
    offsets = np.ndarray((len(tables) - OFFSET_BYTES + 1,), "<u4", tables.data, strides=(1,))
    _, first, sizes, counts = chunks
    ends = np.zeros(int(counts.sum()) + 1, np.int64)
    num_codes, size, escaped = int((sizes - first).sum()), FULL, np.zeros(1, np.uint8)
    for growth in (GUESS, LONGEST):
        out = np.empty(num_codes * growth + 2 * LONGEST, np.uint8)
        words = np.ndarray((len(out) - LONGEST + 1,), "<u8", out.data, strides=(1,))
        size = _expand(symbols, lengths, data, offsets, chunks, words, ends, escaped)
        if size != FULL:
            break
    if size == FAULTY:
        return None
    high = int(np.bitwise_or.reduce(symbols.view(np.uint8))) | int(escaped[0])
    return ends, out[:size], high


@compiled
def _expand_chunk(
    table: tuple[Words, Ints, np.uint8],
    codes: Bytes,
    stops: Ints,
    words: Words,
    size: int,
    escaped: Bytes,
) -> int:
    """Write the bytes of values of `codes`, which end at `stops`, from `size` on, to `words`.

    `stops` are replaced by where the bytes end; the bits of escaped bytes are added to `escaped`
    (1,). Return the size, FULL or FAULTY. Indices are unsigned: signed ones are looked at for a
    minus sign each.
    """
    symbols, lengths, num_symbols = table
    at, place, longest = np.uint64(0), np.uint64(size), np.uint64(LONGEST)
    for value in range(len(stops)):
        if stops[value] < np.int64(at) or stops[value] > len(codes):
            return FAULTY
        end = np.uint64(stops[value])
        if place + (end - at) * longest > np.uint64(len(words)):
            return FULL
        while at + FEW_CODES <= end:
            special = False
            for ahead in range(FEW_CODES):
                special |= codes[at + np.uint64(ahead)] >= num_symbols
            if special:
                break
            for ahead in range(FEW_CODES):
                code = codes[at + np.uint64(ahead)]
                words[place] = symbols[code]
                place += np.uint64(lengths[code])
            at += FEW_CODES
        while at < end:
            code = codes[at]
            if lengths[code] > 0:
                words[place] = symbols[code]
                place += np.uint64(lengths[code])
            elif code == ESCAPE and at + ONE < end:
                at += ONE
                words[place] = codes[at]
                escaped[0] |= codes[at]
                place += ONE
            else:
                return FAULTY
            at += ONE
        stops[value] = np.int64(place)
        size = stops[value]
    return size


@compiled
def _expand(
    symbols: Words,
    lengths: Ints,
    data: Bytes,
    offsets: NDArray[np.uint32],
    chunks: Chunks,
    words: Words,
    ends: Ints,
    escaped: Bytes,
) -> int:
    """Write the bytes of the values of every chunk; return their size, FULL or FAULTY."""
    starts, first, sizes, counts = chunks
    size, value, table = 0, 1, (symbols, lengths, np.uint8(np.argmin(lengths)))
    for chunk in range(len(starts)):
        start, skipped, count = starts[chunk], first[chunk], counts[chunk]
        if offsets[start] != skipped:
            return FAULTY
        stops = ends[value : value + count]
        for number in range(count):
            stops[number] = np.int64(offsets[start + (number + 1) * OFFSET_BYTES]) - skipped
        codes = data[start + skipped : start + sizes[chunk]]
        size = _expand_chunk(table, codes, stops, words, size, escaped)
        if size < 0:
            return size
        value += count
    return size


@compiled
def code(coder: Coder, words: Words, offsets: Ints, out: Bytes, ends: Ints) -> int:
    """Write the codes of every value, at most two bytes for each of its own; return the size.

    `words` are those that begin at each byte of the values, `offsets` and `ends` (values + 1,).
    """
    lengths, slots, slot_symbols, slot_masks, shorts, singles = coder
    size = 0
    for value in range(len(ends) - 1):
        at, end = offsets[value], offsets[value + 1]
        while at < end:
            word = words[at]
            mixed = (word & THREE_BYTES) * FACTOR
            slot = (mixed ^ (mixed >> SHIFT)) & SLOTS
            fits = (word & slot_masks[slot]) == slot_symbols[slot]
            if fits and lengths[slots[slot]] <= end - at:
                number = np.int64(slots[slot])
            elif end - at == 1:
                number = np.int64(singles[word & BYTE])
            else:
                number = np.int64(shorts[word & TWO_BYTES])
            if number >= LITERAL:
                out[size] = ESCAPE
                out[size + 1] = word & BYTE
                size += 2
                at += 1
            else:
                out[size] = number
                size += 1
                at += lengths[number]
        ends[value + 1] = size
    return size


ROW_STARTS = np.array(bitpack.ROW_STARTS)
"""Where the rows of a block lie, for words of up to 64 bits."""

ROW = 16
"""Words of 64 bits of a row of a block: 128 bytes, whatever its words."""

ALL = np.uint64(2**64 - 1)


@intrinsic
def unpack_row(_, packed, low, high, out, target, down, up, low_mask, high_mask):  # type: ignore[no-untyped-def]
    """Write one row, `packed[low:] >> down & low_mask | packed[high:] << up & high_mask`.

    It is written from `out[target]` on, by vector instructions: of a loop over two arrays the
    compiler does not know that they are apart. Nothing is checked.
    """
    row, index = ir.VectorType(ir.IntType(64), ROW), ir.IntType(32)
    first = ir.VectorType(index, ROW)(None)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        def words(array: int, place: int) -> ir.Value:
            data = context.make_array(signature.args[array])(context, builder, arguments[array])
            return builder.bitcast(builder.gep(data.data, [arguments[place]]), row.as_pointer())

        single = [builder.insert_element(row(None), one, index(0)) for one in arguments[5:]]
        down, up, low, high = (builder.shuffle_vector(one, one, first) for one in single)
        under = builder.and_(builder.lshr(builder.load(words(0, 1), align=1), down), low)
        over = builder.and_(builder.shl(builder.load(words(0, 2), align=1), up), high)
        builder.store(builder.or_(under, over), words(3, 4), align=1)
        return context.get_dummy_value()

    place, word = types.uintp, types.uint64
    return types.void(packed, place, place, out, place, word, word, word, word), generate


@compiled
def unpack_blocks(data: Bytes, starts: Ints, widths: Ints, bits: int, out: Words) -> None:
    """Unpack a block from each of `starts` in `data`.

    `data` (bytes,) uint8, contiguous; `starts` (blocks,) int64, offsets in bytes; `widths`
    (blocks,) int64, in bits; `out` (blocks, 16 * bits), words of `bits` bits seen as such of 64.
    """
    each = np.uint64(0)
    for bit in range(0, 64, bits):
        each |= ONE << np.uint64(bit)
    for block in range(len(starts)):
        width, start, target = widths[block], starts[block], out[block]
        if width == 0:
            target[:] = 0
            continue
        packed = data[start : start + width * (BLOCK // 8)].view(np.uint64)
        inside, word, shift = each * (ALL >> np.uint64(64 - width)), 0, 0
        for row in range(bits):
            following, up, low = word, 0, inside
            if shift + width > bits:
                following, up = word + ROW, bits - shift
                low = each * ((ONE << np.uint64(up)) - ONE)
            to = ROW_STARTS[row] * bits >> 6
            unpack_row(packed, word, following, target, to, shift, up, low, inside ^ low)
            shift += width
            if shift >= bits:
                word, shift = word + ROW, shift - bits


FLAG_ROWS, FLAG_LANES = ROW_STARTS[:16], BLOCK // 16
"""Where the rows of a block of 16-bit words lie, and how many values each has."""


@compiled
def unpack_flags(data: Bytes, starts: Ints, num_blocks: Ints, counts: Ints, out: Bytes) -> bool:
    """Unpack chunks of 16-bit words of one bit each; return whether the words after them are flags.

    `starts`, `num_blocks` and `counts` (chunks,): a chunk has so many blocks, then a word for each
    other value. `out` has room for a block after all values, which are written one chunk over the
    end of the one before.
    """
    at = 0
    for chunk in range(len(starts)):
        start, to = starts[chunk], at
        for _ in range(num_blocks[chunk]):
            words = data[start : start + BLOCK // 8].view(np.uint16)
            for row in range(16):
                target, shift = out[to + FLAG_ROWS[row] :], np.uint16(row)
                for lane in range(FLAG_LANES):
                    target[lane] = (words[lane] >> shift) & np.uint16(1)
            start, to = start + BLOCK // 8, to + BLOCK
        at += counts[chunk]
        for place in range(to, at):
            if data[start] > 1 or data[start + 1]:
                return False
            out[place], start = data[start], start + 2
    return True


ROWS = 4096
"""Rows whose sums are made before those of the next: they stay in the cache."""


@compiled
def add_entries(table: NDArray[Sums], columns: Bytes, sums: NDArray[Sums]) -> None:
    """Add to `sums` (n,) the entries in `table` (w, 256) for `columns` (w, n), column by column.

    Four columns are added in one pass, each sum in their order.
    """
    width, count = columns.shape
    for start in range(0, count, ROWS):
        end, at = min(start + ROWS, count), 0
        while at + 4 <= width:
            a, b, c, d = table[at], table[at + 1], table[at + 2], table[at + 3]
            i, j, k, m = columns[at], columns[at + 1], columns[at + 2], columns[at + 3]
            for row in range(start, end):
                sums[row] = (((sums[row] + a[i[row]]) + b[j[row]]) + c[k[row]]) + d[m[row]]
            at += 4
        for rest in range(at, width):
            for row in range(start, end):
                sums[row] += table[rest][columns[rest][row]]


@compiled_in_any_order
def multiply(rows: Bytes, vector: Floats, out: Floats) -> None:
    """Write the products of `rows` (n, d) and `vector` (d,) to `out` (n,), summed in any order."""
    for row in range(len(rows)):
        total, numbers = np.float32(0), rows[row]
        for at in range(len(vector)):
            total += np.float32(numbers[at]) * vector[at]
        out[row] = total


@compiled
def sign(
    hashes: Words, offsets: Ints, constants: tuple[Words, Words, Words], out: NDArray[np.uint16]
) -> None:
    """Write the signatures `out` (texts, numbers) of texts whose hashes `offsets` (texts + 1,) cut.

    `hashes` (hashes,); `constants` (numbers,) each, as `index.minhash.signature` has them.
    """
    factors, terms, last = constants
    least = np.empty(len(last), np.uint64)
    for text in range(len(out)):
        least[:] = ALL
        for at in range(offsets[text], offsets[text + 1]):
            for number in range(len(least)):
                product = hashes[at] * factors[number] + terms[number]
                least[number] = min(least[number], product)
        for number in range(len(least)):
            out[text, number] = (last[number] * least[number]) >> np.uint64(48)

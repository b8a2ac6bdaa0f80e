"""Single values of chunks, found by their numbers without decoding the others.

The specification is `codecs.compressive.pick`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import bitpack, compressive, fsst
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.compressive import decode_variable
from lanceref.codecs.values import Bytes, Fixed, Ints, Values
from lanceref.core.plain import replaces
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


@replaces(compressive.pick)
def pick(encoding: CompressiveEncoding, run: ChunkRun, slots: Ints) -> Values | None:
    """Return the values of the run with the numbers `slots` (n,), ascending, without the others.

    Plain values and packed blocks let each be found by its number; of coded strings the offsets
    do. None for codecs whose values cannot be found singly.
    """
    if encoding.HasField("fsst"):
        codes = decode_variable(encoding.fsst.values.variable.offsets, run, fsst.CODES)
        table = fsst.parse_table(encoding.fsst.symbol_table, run.place())
        return fsst.decode(table, codes.take(slots), run.place())
    ends = np.cumsum(run.counts)
    chunks = np.searchsorted(ends, slots, "right")
    at = slots - (ends - run.counts)[chunks]
    if encoding.HasField("flat"):
        return _pick_flat(run, encoding.flat.bits_per_value, chunks, at)
    if encoding.HasField("inline_bitpacking"):
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return _pick_packed(run, bits, chunks, at)
    return None


def _pick_flat(run: ChunkRun, bits: int, chunks: Ints, at: Ints) -> Fixed:
    run.want_sizes(0, -(-run.counts * bits // 8), "L.codec.flat.size")
    starts = run.starts[0][chunks]
    if bits == 1:
        flags = run.data[starts + at // 8] >> (at % 8).astype(np.uint8) & np.uint8(1)
        return Fixed(1, len(at), np.packbits(flags, bitorder="little"))
    size = bits // 8
    return Fixed(bits, len(at), _bytes_at(run.data, starts + at * size, size).reshape(-1))


def _pick_packed(run: ChunkRun, bits: int, chunks: Ints, at: Ints) -> Fixed:
    """Find each value in one word of its block, or in two words of a lane."""
    size, lanes = bits // 8, bitpack.BLOCK // bits
    row_of, row_starts, masks = _rows_of(bits)
    rows, width = row_of[at], bitpack.inline_widths(run, bits)[chunks]
    word, shift = np.divmod(rows * width, bits)
    inside = size + (word * lanes + at - row_starts[rows]) * size
    places = run.starts[0][chunks] + np.where(width > 0, inside, 0)
    over = shift + width > bits
    values = _words_at(run.data, places, size) >> shift.astype(np.uint64)
    high = _words_at(run.data, places[over] + lanes * size, size)
    values[over] |= high << (bits - shift[over]).astype(np.uint64)
    values &= masks[width]
    return Fixed(bits, len(at), values.astype(f"<u{size}").view(np.uint8))


@lru_cache
def _rows_of(bits: int) -> tuple[Ints, Ints, NDArray[np.uint64]]:
    """Return the row of each value of a block of words of `bits`, where rows start, and masks."""
    starts = np.array([bitpack.row_start(row) for row in range(bits)])
    rows = np.empty(bitpack.BLOCK, np.int64)
    rows[starts[:, None] + np.arange(bitpack.BLOCK // bits)] = np.arange(bits)[:, None]
    return rows, starts, np.array([(1 << width) - 1 for width in range(65)], np.uint64)


def _words_at(data: Bytes, places: Ints, size: int) -> NDArray[np.uint64]:
    return _bytes_at(data, places, size).view(f"<u{size}").reshape(-1).astype(np.uint64)


def _bytes_at(data: Bytes, places: Ints, size: int) -> Bytes:
    picked: Bytes = data[places[:, None] + np.arange(size)]
    return picked

"""Picked values: single values of chunks, found where they lie without decoding the others.

A take wants a few of the thousand values of a chunk. Plain values and packed blocks let each be
found by its number; of coded strings the offsets do.

Layout: see `flat`, `bitpack` and `fsst`.

Clauses: L.codec.flat.size, L.codec.bitpack.payload
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import BLOCK, inline_widths, row_start
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.compressive import decode_fsst
from lanceref.codecs.values import Bytes, Fixed, Ints, Values
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def pick(encoding: CompressiveEncoding, run: ChunkRun, slots: Ints) -> Values | None:
    """Return some values of the run; None for codecs whose values cannot be found singly."""
    if encoding.HasField("fsst"):
        return decode_fsst(encoding.fsst, run, slots)
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
    size, lanes = bits // 8, BLOCK // bits
    widths = inline_widths(run, bits)
    run.want_sizes(0, size + widths * (BLOCK // 8), "L.codec.bitpack.payload")
    rows = _rows_of(bits)[at]
    lane = at - np.array([row_start(row) for row in range(bits)])[rows]
    width = widths[chunks]
    word, shift = np.divmod(rows * width, bits)
    places = run.starts[0][chunks] + np.where(width > 0, size + (word * lanes + lane) * size, 0)
    over = shift + width > bits
    values = _words_at(run.data, places, size) >> shift.astype(np.uint64)
    high = _words_at(run.data, places[over] + lanes * size, size)
    values[over] |= high << (bits - shift[over]).astype(np.uint64)
    values &= _masks()[width]
    return Fixed(bits, len(at), values.astype(f"<u{size}").view(np.uint8))


@lru_cache
def _rows_of(bits: int) -> Ints:
    """Return the row of each value of a block of words of `bits`."""
    rows = np.empty(BLOCK, np.int64)
    for row in range(bits):
        rows[row_start(row) : row_start(row) + BLOCK // bits] = row
    return rows


@lru_cache
def _masks() -> NDArray[np.uint64]:
    """Return for each width the word whose lowest bits are set."""
    return np.array([(1 << width) - 1 for width in range(65)], np.uint64)


def _words_at(data: Bytes, places: Ints, size: int) -> NDArray[np.uint64]:
    words = _bytes_at(data, places, size).view(f"<u{size}")
    return words.reshape(-1).astype(np.uint64)


def _bytes_at(data: Bytes, places: Ints, size: int) -> Bytes:
    found: Bytes = data[places[:, None] + np.arange(size)]
    return found

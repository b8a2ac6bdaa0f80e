"""Run-length encoding, encoded: values and the lengths of their runs.

A run is cut where its length would not fit the width of lengths, and at the end of a chunk.

Layout: see `rle`.

Clauses: L.codec.rle.children, L.codec.rle.sum
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.encoded import MiniBlocks, Part, flat_encoding
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

HEADER_BYTES = 8
"""Bytes before the runs of a block."""

MAX_RUN = 255
"""Longest run of one byte."""


NO_CUTS: NDArray[np.int64] = np.zeros(0, np.int64)
"""No places where runs must be cut."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs that are no longer than a length can say: `values` and `lengths` of each."""

    values: Unsigned
    lengths: NDArray[np.int64]


def starts_of(values: Unsigned, cuts: NDArray[np.int64] = NO_CUTS) -> NDArray[np.int64]:
    """Return where runs begin, at the positions `cuts` in any case; the first is 0."""
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    begins[cuts[cuts < len(values)]] = True
    return np.flatnonzero(begins)


def runs_of(values: Unsigned, cuts: NDArray[np.int64], max_run: int = MAX_RUN) -> Runs:
    """Return the runs of `values`, cut also at the positions `cuts`."""
    starts = starts_of(values, cuts)
    lengths = np.diff(starts, append=len(values))
    if not len(lengths) or lengths.max() <= max_run:
        return Runs(values[starts], lengths)
    pieces = -(-lengths // max_run)
    cut = np.full(int(pieces.sum()), max_run, np.int64)
    cut[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * max_run
    return Runs(np.repeat(values[starts], pieces), cut)


def rle_encoding(bits: int, length_bits: int = 8) -> CompressiveEncoding:
    """Return the description of plain values and plain lengths."""
    encoding = CompressiveEncoding()
    encoding.rle.values.CopyFrom(flat_encoding(bits))
    encoding.rle.run_lengths.CopyFrom(flat_encoding(length_bits))
    return encoding


def encode_mini(
    values: Unsigned, counts: NDArray[np.int64], cuts: NDArray[np.int64] = NO_CUTS
) -> MiniBlocks:
    """Encode chunks of `counts` values: run values in one buffer, lengths in the other.

    Runs are cut also at the positions `cuts`.
    """
    ends = np.cumsum(counts)
    runs = runs_of(values, np.append(ends - counts, cuts))
    run_ends = np.searchsorted(np.cumsum(runs.lengths), ends, side="left") + 1
    per_chunk = np.diff(run_ends, prepend=0)
    width = values.dtype.itemsize
    return MiniBlocks(
        rle_encoding(8 * width),
        counts,
        (
            (np.ascontiguousarray(runs.values).view(np.uint8), per_chunk * width),
            (runs.lengths.astype(np.uint8), per_chunk),
        ),
    )


def encode_block(values: Unsigned) -> NDArray[np.uint8]:
    """Encode one buffer: u64 bytes of the run values, the run values, the lengths."""
    return encode_blocks(values, np.array([len(values)]))[0]


def encode_blocks(values: Unsigned, counts: NDArray[np.int64]) -> Part:
    """Encode chunks of `counts` values, each as `encode_block` does; return bytes and sizes."""
    width, ends = values.dtype.itemsize, np.cumsum(counts)
    runs = runs_of(values, ends - counts)
    begins = np.cumsum(runs.lengths) - runs.lengths
    first = np.searchsorted(begins, ends - counts)
    per_chunk = np.searchsorted(begins, ends) - first
    sizes = HEADER_BYTES + per_chunk * (width + 1)
    at = np.cumsum(sizes) - sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    header = (per_chunk * width).astype("<u8").view(np.uint8).reshape(-1, HEADER_BYTES)
    out[at[:, None] + np.arange(HEADER_BYTES)] = header
    numbers, body = np.arange(len(begins)), at + HEADER_BYTES
    value_at = np.repeat(body - first * width, per_chunk) + numbers * width
    stored = np.ascontiguousarray(runs.values).view(np.uint8).reshape(-1, width)
    out[value_at[:, None] + np.arange(width)] = stored
    out[np.repeat(body + per_chunk * width - first, per_chunk) + numbers] = runs.lengths
    return out, sizes

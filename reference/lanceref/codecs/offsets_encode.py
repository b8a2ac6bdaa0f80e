"""Offsets of 2.3, encoded: those of strings in a chunk, in fewer bytes than as they are.

They count from 0 in every chunk. Strings of one length make a range, or a constant when they are
all empty; others a delta, whose differences are the lengths: a range themselves, or packed bits.
That is taken where chunks and description need no more bytes than with offsets as they are.

Layout: see `variable` and `sequence`.

Clauses: L.codec.variable.offsets, L.codec.range.step, L.codec.delta.width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack_encode import (
    block_widths,
    encode_out_of_line_chunks,
    out_of_line_encoding,
)
from lanceref.codecs.encoded import MiniBlocks, Part, flat_encoding
from lanceref.codecs.values import Variable
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

ALIGNMENT = 8
"""The header of a chunk and each buffer in it are padded to a multiple of this many bytes."""


def encode_mini(values: Variable, bits: int, counts: NDArray[np.int64]) -> MiniBlocks | None:
    """Encode chunks of `counts` values; None where plain offsets of `bits` take fewer bytes."""
    lengths, ends = np.diff(values.offsets), np.cumsum(counts)
    described = _without_bytes(lengths, bits, one_chunk=len(counts) == 1)
    stored: Part | None = None
    if described is None:
        numbers = lengths.astype(f"<u{bits // 8}")
        width = int(block_widths(numbers).max())
        stored = encode_out_of_line_chunks(numbers, counts, width)
        described = _delta(bits, 0, out_of_line_encoding(bits, width))
    sizes = values.offsets[ends] - values.offsets[ends - counts]
    parts = [sizes] if stored is None else [stored[1], sizes]
    taken = described.ByteSize() + _chunk_bytes(parts)
    if taken > flat_encoding(bits).ByteSize() + _chunk_bytes([(counts + 1) * (bits // 8) + sizes]):
        return None
    encoding = CompressiveEncoding()
    encoding.variable.offsets.CopyFrom(described)
    data: Part = values.data[int(values.offsets[0]) : int(values.offsets[-1])], sizes
    return MiniBlocks(encoding, counts, (data,) if stored is None else (stored, data))


def _chunk_bytes(parts: Sequence[NDArray[np.int64]]) -> int:
    """Return the bytes of chunks without levels whose buffers have these sizes."""
    header = ALIGNMENT * -(-(2 + 4 * len(parts)) // ALIGNMENT)
    padded = sum(int((-(-sizes // ALIGNMENT)).sum()) for sizes in parts)
    return header * len(parts[0]) + ALIGNMENT * padded


def _without_bytes(
    lengths: NDArray[np.int64], bits: int, *, one_chunk: bool
) -> CompressiveEncoding | None:
    """Return the description that says all of the offsets, None where there is none."""
    encoding, steps = CompressiveEncoding(), np.diff(lengths)
    if steps.any():
        if not one_chunk or steps[0] <= 0 or not (steps == steps[0]).all():
            return None
        return _delta(bits, 0, _range(bits, int(lengths[0]), int(steps[0])))
    if lengths[0]:
        return _range(bits, 0, int(lengths[0]))
    encoding.constant.value = bytes(bits // 8)
    return encoding


def _range(bits: int, start: int, step: int) -> CompressiveEncoding:
    encoding = CompressiveEncoding()
    encoding.range.uncompressed_bits_per_value = bits
    encoding.range.start, encoding.range.step = start, step
    return encoding


def _delta(bits: int, base: int, deltas: CompressiveEncoding) -> CompressiveEncoding:
    encoding = CompressiveEncoding()
    encoding.delta.uncompressed_bits_per_value = bits
    encoding.delta.base = base
    encoding.delta.deltas.CopyFrom(deltas)
    return encoding

"""FSST codes, expanded: two codes at a time.

What a pair of codes stands for, up to sixteen bytes, is an entry of a dictionary of 65 536 that is
made once for a symbol table; Arrow takes the entries one after another. The pairs fall where they
fall: a pair whose second code is an escape gives the bytes of its first only, and the pair behind
it, which begins with a literal, has an entry in a second half of the dictionary.

Clauses: L.codec.fsst.code, L.codec.fsst.escape
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

ESCAPE = 255
"""The code whose successor stands for itself."""

SLAB = 1 << 22
"""Codes expanded at a time: at most eight times as many bytes."""

PAIRED = 1 << 18
"""Codes from which the dictionary of pairs is worth making."""


def expand(
    symbols: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    codes: NDArray[np.uint8],
    literal: NDArray[np.bool_] | None,
    cuts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return where the bytes of the codes before each of `cuts` end, and all bytes.

    `symbols` and `lengths` (256,), those of the escape zero; `literal` says which codes stand for
    themselves (None: none); `cuts` ascend. The codes are sound: every one is a symbol, an escape
    or a literal.
    """
    step = 2 if len(codes) >= PAIRED else 1
    if len(codes) % step:
        codes = np.append(codes, np.uint8(ESCAPE))
        literal = None if literal is None else np.append(literal, False)
    entries = _entries(symbols.tobytes(), lengths.tobytes(), step, literal is not None)
    offsets, parts, size = np.zeros(len(cuts), np.int64), [np.empty(0, np.uint8)], 0
    for at in range(0, len(codes), SLAB):
        part = codes[at : at + SLAB]
        marked = None if literal is None else literal[at : at + SLAB]
        ends, data = _take(entries, part, marked, step)
        first, last = np.searchsorted(cuts, (at, at + len(part)), "right")
        inside = cuts[first:last] - at
        offsets[first:last] = size + ends[inside >> (step - 1)]
        if step == 2:
            # a cut inside a pair lies behind the bytes of the pair's first code
            offsets[first:last] += (inside & 1) * _sizes(lengths, part, marked, inside - 1)
        parts.append(data)
        size += len(data)
    return offsets, parts[1] if len(parts) == 2 else np.concatenate(parts)


def _sizes(
    lengths: NDArray[np.int64],
    codes: NDArray[np.uint8],
    literal: NDArray[np.bool_] | None,
    at: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return how many bytes the codes at `at` stand for."""
    sizes = np.take(lengths, codes[at])
    return sizes if literal is None else np.where(literal[at], 1, sizes)


def _take(
    entries: pa.BinaryArray,
    codes: NDArray[np.uint8],
    literal: NDArray[np.bool_] | None,
    step: int,
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return where the bytes of every `step` codes end, behind a 0, and the bytes."""
    numbers = np.require(codes.view(f"<u{step}"), requirements="A")
    if literal is not None:
        numbers = numbers + (literal[::step].astype(np.uint32) << np.uint32(8 * step))
    _, ends, data = entries.take(pa.array(numbers)).buffers()
    offsets = np.frombuffer(ends, "<i4", len(numbers) + 1)
    return offsets, np.frombuffer(data, np.uint8, int(offsets[-1]))


@lru_cache(maxsize=4)
def _entries(symbols: bytes, lengths: bytes, step: int, with_literals: bool) -> pa.BinaryArray:
    """Return what one code or a pair of codes stands for, by its number.

    The number of a pair is that of its first code + 256 times that of the second; where the first
    is a literal the entry stands 256 ** step behind.
    """
    texts = np.append(np.frombuffer(symbols, np.uint64), np.arange(256, dtype=np.uint64))
    sizes = np.append(np.frombuffer(lengths, np.int64), np.ones(256, np.int64))
    codes = np.arange(256)
    if step == 1:
        parts, behind_escape = codes[:, None], 256 + codes[:, None]
    else:
        first, second = np.tile(codes, 256), np.repeat(codes, 256)
        parts = np.stack((first, np.where(first == ESCAPE, 256 + second, second)), 1)
        behind_escape = np.stack((256 + first, second), 1)
    if with_literals:
        parts = np.concatenate((parts, behind_escape))
    ends = np.zeros(parts.size + 1, np.int64)
    np.cumsum(sizes[parts].ravel(), out=ends[1:])
    data = _store(texts[parts].ravel(), ends)
    offsets = ends[::step].astype("<i4")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(parts), buffers)


def _store(texts: NDArray[np.uint64], ends: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Write eight bytes a symbol in order: each overwrites what the one before wrote too much.

    There are eight bytes of room behind the last; NumPy assigns in the order of the indices.
    """
    out = np.empty(int(ends[-1]) + 8, np.uint8)
    words = np.ndarray((len(out) - 7,), "<u8", out.data, strides=(1,))
    words[ends[:-1]] = texts
    return out[:-8]

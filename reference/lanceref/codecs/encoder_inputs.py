"""Parameters: what field metadata and environment ask of an encoder.

A writer stores each column as its values suggest, unless the field says otherwise. The keys start
with `lance-encoding:`; some have a default in the environment.

Statistics: what an encoder looks at before it chooses.

All are exact and cost one pass; those that only the oracle's choice needs are computed as it does.

Chunk sizes: how many values go into a chunk of a mini-block page.

A chunk holds a power of two of values, and its values take less than 8 186 bytes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lanceref.codecs.bitpack import BLOCK, Unsigned
from lanceref.codecs.rle import MAX_RUN, starts_of
from lanceref.codecs.values import Fixed, FixedSizeList, Ints, Rows, Values, Variable

PREFIX = "lance-encoding:"
"""Head of every key."""


@dataclass(frozen=True, slots=True)
class Params:
    """The knobs of one field; None where neither field nor environment says anything."""

    compression: str | None = None
    compression_level: int | None = None
    rle_threshold: float | None = None
    bss: str | None = None
    minichunk_size: int | None = None
    dict_divisor: int = 2
    dict_size_ratio: float = 0.8
    dict_too_small: int = 100
    dict_max_cardinality: int = 100_000
    dict_values_compression: str | None = None
    dict_values_compression_level: int | None = None
    structural_encoding: str | None = None


def params_of(metadata: Mapping[str, str]) -> Params:
    """Return the knobs of a field. Raises ValueError for a size ratio outside (0, 1]."""
    ratio = _float(metadata, "dict-size-ratio") or _environment("DICT_SIZE_RATIO", 0.8)
    if not 0 < ratio <= 1:
        raise ValueError(f"dict-size-ratio is {ratio}, which is not in the range (0, 1]")
    chunk = os.environ.get("LANCE_BINARY_MINIBLOCK_CHUNK_SIZE")
    values = os.environ.get("LANCE_ENCODING_DICT_VALUES_COMPRESSION")
    level = os.environ.get("LANCE_ENCODING_DICT_VALUES_COMPRESSION_LEVEL")
    return Params(
        compression=metadata.get(f"{PREFIX}compression"),
        compression_level=_int(metadata, "compression-level"),
        rle_threshold=_float(metadata, "rle-threshold"),
        bss=metadata.get(f"{PREFIX}bss"),
        minichunk_size=_int(metadata, "minichunk-size") or (int(chunk) if chunk else None),
        dict_divisor=_int(metadata, "dict-divisor") or int(_environment("DICT_DIVISOR", 2)),
        dict_size_ratio=ratio,
        dict_too_small=int(_environment("DICT_TOO_SMALL", 100)),
        dict_max_cardinality=int(_environment("DICT_MAX_CARDINALITY", 100_000)),
        dict_values_compression=metadata.get(f"{PREFIX}dict-values-compression", values),
        dict_values_compression_level=_int(metadata, "dict-values-compression-level")
        or (int(level) if level else None),
        structural_encoding=metadata.get(f"{PREFIX}structural-encoding"),
    )


def _int(metadata: Mapping[str, str], key: str) -> int | None:
    number = _float(metadata, key)
    return None if number is None else int(number)


def _float(metadata: Mapping[str, str], key: str) -> float | None:
    """Return a number; text that is none counts as not said."""
    try:
        return float(metadata[PREFIX + key])
    except (KeyError, ValueError):
        return None


def _environment(name: str, default: float) -> float:
    return float(os.environ.get(f"LANCE_ENCODING_{name}", default))


ENTROPY_SAMPLE = 64
"""Values whose bytes the entropy is taken of."""

SLAB = 1 << 15
"""Values compared at a time: what says whether they differ stays in the cache."""


def unsigned(values: Fixed) -> Unsigned:
    """Return values of 8, 16, 32 or 64 bits as integers."""
    return np.ascontiguousarray(values.data).view(f"<u{values.bits // 8}")


def max_value_bytes(values: Values) -> int:
    """Return the bytes of the longest value, without bitmaps of items."""
    if isinstance(values, Fixed):
        return values.bits // 8
    if isinstance(values, Variable):
        return int(np.diff(values.offsets).max(initial=0))
    if isinstance(values, FixedSizeList):
        items, bits = values.dimension, values.items
        while isinstance(bits, FixedSizeList):
            items, bits = items * bits.dimension, bits.items
        return items * bits.bits // 8 if isinstance(bits, Fixed) else 0
    return sum(map(max_value_bytes, values.fields)) if isinstance(values, Rows) else 0


def run_bytes(values: Unsigned, too_many: int) -> tuple[int, int]:
    """Return the number of runs, and the bytes that values and lengths of cut runs take.

    From `too_many` bytes on the runs are taken uncut: the bytes are fewer, but still too many.
    """
    runs, pair_bytes = num_runs(values), values.dtype.itemsize + 1
    if runs * pair_bytes >= too_many:
        return runs, runs * pair_bytes
    lengths = np.diff(np.append(starts_of(values), len(values)))
    return runs, int((-(-lengths // MAX_RUN)).sum()) * pair_bytes


def num_runs(values: Unsigned) -> int:
    """Return the number of runs."""
    later, changes = values[1:], min(1, len(values))
    for at in range(0, len(later), SLAB):
        part = later[at : at + SLAB]
        changes += int(np.count_nonzero(part != values[at : at + len(part)]))
    return changes


def packed_bytes(values: Unsigned, widths: Ints) -> int:
    """Return the bytes that inline bitpacking of blocks of the given `widths` takes."""
    return int((values.dtype.itemsize + widths * BLOCK // 8).sum())


def byte_entropy(values: Fixed) -> float:
    """Return the mean entropy, in bits, of the bytes at each position of the first values."""
    cells = values.data.reshape(values.count, values.bits // 8)[:ENTROPY_SAMPLE]
    found = []
    for column in cells.T:
        counts = np.bincount(column)
        share = counts[counts > 0] / len(cells)
        found.append(int(-(share * np.log2(share)).sum() * 1000))
    return sum(found) / len(found) / 1000 if found else 0.0


MAX_CHUNK_BYTES = 8 * 1024 - 6
"""Bytes that the values of a chunk may take."""

MAX_CHUNK_VALUES = 4096
"""Values of a chunk, unless the environment allows more."""

SMALLEST_RUN_CHUNK = 64
"""Fewest values of a chunk of runs that is not the last."""


def max_chunk_values() -> int:
    """Return the most values of a chunk: LANCE_MINIBLOCK_MAX_VALUES or 4 096."""
    return int(os.environ.get("LANCE_MINIBLOCK_MAX_VALUES", MAX_CHUNK_VALUES))


def flat_chunk(word_bytes: int, values_per_word: int) -> int:
    """Return the values of a chunk of words of equal size."""
    values, size, most = 2 if values_per_word == 1 else 8, 2 * word_bytes, max_chunk_values()
    while 2 * size < MAX_CHUNK_BYTES and 2 * values <= most:
        values, size = 2 * values, 2 * size
    return values


def rle_counts(values: Unsigned) -> Ints:
    """Return the values of each chunk of runs: as many as their runs leave room for."""
    starts, pair_bytes = starts_of(values), values.dtype.itemsize + 1
    counts, at, total, most = [], 0, len(values), max_chunk_values()
    while at < total:
        rest = total - at
        count = rest if rest <= most else most
        while _run_pieces(starts, at, at + count) * pair_bytes > MAX_CHUNK_BYTES:
            count = 1 << (count - 1).bit_length() - 1
        counts.append(count)
        at += count
    return np.array(counts, np.int64)


def _run_pieces(starts: Ints, first: int, last: int) -> int:
    """Return how many lengths of one byte the runs of a window take."""
    inside = starts[np.searchsorted(starts, first, "right") : np.searchsorted(starts, last)]
    lengths = np.diff(np.concatenate([[first], inside, [last]]))
    return int((-(-lengths // MAX_RUN)).sum())

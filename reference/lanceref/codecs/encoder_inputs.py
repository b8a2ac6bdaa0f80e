"""Encoder inputs: the values of an array, and what a writer looks at before it chooses a codec.

The buffers of an array are cut to its slice; a null slot keeps what its buffer holds, and a
dictionary array its keys in their own width.

The parameters of a field, which override what its values suggest: keys of its metadata that start
with `lance-encoding:`. The statistics of the values, exact
and in one pass. The sizes of chunks of a mini-block page: a chunk holds a power of two of values,
which take less than 8 186 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.bitpack import BLOCK, Unsigned
from lanceref.codecs.sequence import MAX_RUN, starts_of
from lanceref.codecs.values import Fixed, FixedSizeList, Ints, Rows, Validity, Values, Variable
from lanceref.core.arrow_buffers import STRINGS, children_of
from lanceref.core.errors import DataRefused
from lanceref.core.packed_values import bytes_of, offsets_of, slice_bits, value_bytes

PREFIX = "lance-encoding:"
"""Head of every key."""

ENTROPY_SAMPLE = 64
"""Values whose bytes the entropy is taken of."""

SLAB = 1 << 15
"""Values compared at a time: the result of the comparison stays in the cache."""

MAX_CHUNK_BYTES = 8 * 1024 - 6
"""Bytes that the values of a chunk may take."""

MAX_CHUNK_VALUES = 4096
"""Values of a chunk at most."""


@dataclass(frozen=True, slots=True)
class Params:
    """The knobs of one field; None where the field does not set it."""

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
    """Return the knobs of a field. Raises DataRefused for a size ratio outside (0, 1]."""

    def number(key: str) -> float | None:
        """Return a number; other text counts as not set."""
        try:
            return float(metadata[PREFIX + key])
        except (KeyError, ValueError):
            return None

    def whole(key: str) -> int | None:
        value = number(key)
        return None if value is None else int(value)

    def word(key: str) -> str | None:
        """Return a word that is written in any case."""
        value = metadata.get(PREFIX + key)
        return None if value is None else value.lower()

    ratio, scheme, given = number("dict-size-ratio"), "dict-values-compression", Params()
    if ratio is not None and not 0 < ratio <= 1:
        raise DataRefused(f"dict-size-ratio is {ratio}, which is not in the range (0, 1]")
    return Params(
        compression=metadata.get(f"{PREFIX}compression"),
        compression_level=whole("compression-level"),
        rle_threshold=number("rle-threshold"),
        bss=word("bss"),
        minichunk_size=whole("minichunk-size") or None,
        dict_divisor=whole("dict-divisor") or given.dict_divisor,
        dict_size_ratio=given.dict_size_ratio if ratio is None else ratio,
        dict_values_compression=metadata.get(PREFIX + scheme),
        dict_values_compression_level=whole(f"{scheme}-level"),
        structural_encoding=word("structural-encoding"),
    )


def unsigned(values: Fixed) -> Unsigned:
    """Return values of 8, 16, 32 or 64 bits as integers: (values,)."""
    return np.ascontiguousarray(values.data).view(f"<u{values.bits // 8}")


def max_value_bytes(values: Values) -> int:
    """Return the bytes of the longest value, without bitmaps of items."""
    if isinstance(values, Variable):
        return int(np.diff(values.offsets).max(initial=0))
    if isinstance(values, Rows):
        return sum(map(max_value_bytes, values.fields))
    return values.bits // 8


def run_bytes(values: Unsigned, too_many: int) -> tuple[int, int]:
    """Return the number of runs, and the bytes that values and lengths of cut runs take.

    From `too_many` bytes on the runs are taken uncut: the bytes are fewer, but still too many.
    `values` (n,).
    """
    later, runs, pair_bytes = values[1:], min(1, len(values)), values.dtype.itemsize + 1
    for at in range(0, len(later), SLAB):
        part = later[at : at + SLAB]
        runs += int(np.count_nonzero(part != values[at : at + len(part)]))
    if runs * pair_bytes >= too_many:
        return runs, runs * pair_bytes
    lengths = np.diff(np.append(starts_of(values), len(values)))
    return runs, int((-(-lengths // MAX_RUN)).sum()) * pair_bytes


def packed_bytes(values: Unsigned, widths: Ints) -> int:
    """Return the bytes that inline bitpacking of blocks of the given `widths` takes.

    `widths` (blocks,).
    """
    return int((values.dtype.itemsize + widths * BLOCK // 8).sum())


def byte_entropy(values: Fixed) -> float:
    """Return the mean entropy, in bits, of the bytes at each position of the first values."""
    cells = values.data.reshape(values.count, values.bits // 8)[:ENTROPY_SAMPLE]
    thousandths = []
    for column in cells.T:
        counts = np.bincount(column)
        share = counts[counts > 0] / len(cells)
        thousandths.append(int(-(share * np.log2(share)).sum() * 1000))
    return sum(thousandths) / len(thousandths) / 1000 if thousandths else 0.0


def flat_chunk(word_bytes: int, values_per_word: int) -> int:
    """Return the values of a chunk of words of equal size."""
    values, size = 2 if values_per_word == 1 else 8, 2 * word_bytes
    while 2 * size < MAX_CHUNK_BYTES and 2 * values <= MAX_CHUNK_VALUES:
        values, size = 2 * values, 2 * size
    return values


def bytes_per_word(values: FixedSizeList) -> tuple[int, int]:
    """Return the bytes that a word of values takes, and the values of a word (1, or 8 of bits)."""
    bitmap_bytes = sum(-(-n // 8) for n, validity in values.levels() if validity is not None)
    bits = values.bits
    return (bitmap_bytes * 8 + bits, 8) if bits % 8 else (bitmap_bytes + bits // 8, 1)


def rle_counts(values: Unsigned) -> Ints:
    """Return the values of each chunk of runs: as many as their runs leave room for.

    `values` (n,), the result (chunks,).
    """
    starts, pair_bytes = starts_of(values), values.dtype.itemsize + 1
    counts, at = [], 0

    def pieces(first: int, last: int) -> int:
        """Return how many lengths of one byte the runs of a window take."""
        inside = starts[np.searchsorted(starts, first, "right") : np.searchsorted(starts, last)]
        lengths = np.diff(np.concatenate([[first], inside, [last]]))
        return int((-(-lengths // MAX_RUN)).sum())

    while at < len(values):
        count = min(len(values) - at, MAX_CHUNK_VALUES)
        while pieces(at, at + count) * pair_bytes > MAX_CHUNK_BYTES:
            count = 1 << (count - 1).bit_length() - 1
        counts.append(count)
        at += count
    return np.array(counts, np.int64)


def validity_of(array: pa.Array) -> Validity:
    """Return which values of an array are valid, whatever is around it.

    The null type has no bitmap, a dictionary array those of its keys and of its items: (values,).
    """
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.bool_)
    if pa.types.is_dictionary(array.type):
        own, items = validity_of(array.indices), validity_of(array.dictionary)
        if items is None or not len(items):
            return own
        return both_valid(own, items[_valid_keys(array)])
    if array.null_count == 0:
        return None
    bits = slice_bits(bytes_of(array.buffers()[0]), array.offset, len(array))
    return np.unpackbits(bits, count=len(array), bitorder="little").view(np.bool_)


def both_valid(one: Validity, other: Validity) -> Validity:
    """Return the validity of what is valid in both arguments. All are (values,)."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def keys_of(array: pa.DictionaryArray) -> NDArray[np.integer]:
    """Return the keys of a dictionary array as stored, whatever is under a null: (rows,)."""
    keys = array.indices
    data = np.frombuffer(keys.buffers()[1] or b"", keys.type.to_pandas_dtype())
    return data[keys.offset : keys.offset + len(keys)]


def _valid_keys(array: pa.DictionaryArray) -> NDArray[np.integer]:
    """Return the keys of a dictionary array, 0 under a null."""
    keys, own = keys_of(array), validity_of(array.indices)
    return keys if own is None else np.where(own, keys, 0)


def without_null_items(array: pa.DictionaryArray) -> tuple[NDArray[np.integer], pa.Array]:
    """Return keys and items without the null ones; what points at them is null by its level.

    Keys are (rows,).
    """
    keys, items = keys_of(array), array.dictionary
    valid = validity_of(items)
    if valid is None or not len(items):
        return keys, items
    moved = np.where(valid, np.cumsum(valid) - 1, 0).astype(keys.dtype)
    return moved[_valid_keys(array)], items.filter(pa.array(valid))


def merged_items(
    arrays: Sequence[pa.DictionaryArray], nulls: NDArray[np.bool_], most_items: int
) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the keys of arrays, one after the other, and the items they name.

    Several dictionaries with as many items as there are rows, or with `most_items`, are merged: of
    what rows use, each value is kept once. (The oracle keeps some values of 2.0 twice, by the
    hashes of its run.) `nulls` says which keys are null; it and the keys are (rows,).
    """
    items = pa.concat_arrays([array.dictionary for array in arrays])
    firsts = np.cumsum([0, *(len(array.dictionary) for array in arrays)]).tolist()
    own = [array.indices.fill_null(0).to_numpy().astype(np.int64) for array in arrays]
    keys = np.concatenate([one + first for one, first in zip(own, firsts)])
    keys = np.minimum(keys, max(0, len(items) - 1))  # those of nulls may lie after all items
    if len(arrays) == 1 or not len(keys) or len(items) < min(most_items, len(keys)):
        return keys, items
    used = np.zeros(len(items), np.bool_)
    used[keys[~nulls]] = True
    merged = items.take(pa.array(np.flatnonzero(used))).dictionary_encode("encode")
    numbers = np.zeros(len(items), np.int64)
    numbers[used] = merged.indices.to_numpy()
    return numbers[keys], merged.dictionary


def dictionary_parts(array: pa.DictionaryArray) -> tuple[Fixed, Values]:
    """Return keys and items as stored, without the items that are null."""
    keys, items = without_null_items(array)
    data = np.ascontiguousarray(keys).view(np.uint8)
    return Fixed(8 * keys.dtype.itemsize, len(keys), data), stored_values(items)


def stored_values(array: pa.Array) -> Values:
    """Return the values of an array of any leaf type but a dictionary; its nulls are dropped.

    Raises DataRefused for a packed struct with null children.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    type_, count = array.type, len(array)
    if pa.types.is_null(type_):
        return Fixed(0, count, np.zeros(0, np.uint8))
    if type_ in STRINGS:
        offsets = offsets_of(array)
        data = bytes_of(array.buffers()[2])[offsets[0] : offsets[-1]]
        return Variable(offsets - offsets[0], data)
    if pa.types.is_fixed_size_list(type_):
        size = type_.list_size
        items = array.values.slice(array.offset * size, count * size)
        inner = stored_values(items)
        assert isinstance(inner, Fixed | FixedSizeList)
        return FixedSizeList(count, size, validity_of(items), inner)
    if pa.types.is_struct(type_):
        children = children_of(array)
        for child, field in zip(children, type_, strict=True):
            if child.null_count:
                raise DataRefused(f"a packed struct cannot hold the nulls of {field.name!r}")
        return Rows(count, tuple(map(stored_values, children)))
    return Fixed(int(type_.bit_width), count, value_bytes(array))

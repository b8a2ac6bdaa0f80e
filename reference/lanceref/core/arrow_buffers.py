"""Buffers of Arrow arrays: validity, offsets and text, and slices that pyarrow misreads.

A bitmap holds one bit for each value, the lowest bit first, 1 where it is valid. Strings, byte
strings and lists have offsets of 32 bits, the large types of 64.

pyarrow 26 cannot take from some slices: `take` and `filter` give wrong items, and some from beyond
the memory, where fixed-size lists inside each other begin at an offset above 0, also below structs
and lists that begin at 0. Such arrays are copied before anything is taken from them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange, Place

TEXT = (pa.string(), pa.large_string())
LARGE = (pa.large_string(), pa.large_binary())
STRINGS = (*TEXT, pa.binary(), pa.large_binary())
"""Types of text and byte strings."""

MAX_OFFSET = 2**31 - 1
"""Largest offset of the types whose offsets have 32 bits."""


def bitmap(validity: NDArray[np.bool_] | None) -> pa.Buffer | None:
    """Return a validity bitmap; None when all are valid. `validity` (values,)."""
    return None if validity is None else pa.py_buffer(np.packbits(validity, bitorder="little"))


def has_wide_offsets(type_: pa.DataType) -> bool:
    """Whether the offsets of strings, byte strings or lists have 64 bits."""
    return type_ in LARGE or pa.types.is_large_list(type_)


def offsets_buffer(
    type_: pa.DataType, offsets: NDArray[np.int64], clause: str, place: Place
) -> pa.Buffer:
    """Return offsets (rows + 1,) in the width of a type. Raises LimitExceeded.

    `place` is where the offsets lie, `clause` what bounds them.
    """
    wide = has_wide_offsets(type_)
    if not wide and int(offsets[-1]) > MAX_OFFSET:
        found, wanted = f"an offset {int(offsets[-1])} of {type_}", f"at most {MAX_OFFSET}"
        raise LimitExceeded(clause, place, found, wanted)
    return pa.py_buffer(np.ascontiguousarray(offsets, np.int64 if wide else np.int32))


def check_keys(keys: NDArray[np.integer], num_items: int, clause: str, place: Place) -> None:
    """Raise OutOfRange for keys (n,) of a dictionary that are not below its number of items."""
    if len(keys) and (int(keys.min()) < 0 or int(keys.max()) >= num_items):
        found = f"keys from {keys.min()} to {keys.max()}"
        raise OutOfRange(clause, place, found, f"0 to {num_items - 1}")


def check_text(array: pa.Array, clause: str, place: Place) -> None:
    """Raise CorruptPage for strings that are not valid UTF-8; byte strings are not looked at."""
    if array.type in TEXT:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            raise CorruptPage(clause, place, str(error)[:200], "valid UTF-8") from error


def children_of(array: pa.Array) -> list[pa.Array]:
    """Return the arrays below a struct or list that begins at offset 0; none below a leaf."""
    if pa.types.is_struct(array.type):
        return [array.field(number) for number in range(array.type.num_fields)]
    return [array.values] if array.type.num_fields else []


class RetainedBytes:
    """Counts the bytes of arrays that are all kept: a dictionary that several share counts once."""

    def __init__(self) -> None:
        self.total = 0
        self._dictionaries = dict[tuple[int, ...], pa.Array]()

    def add(self, array: pa.Array) -> None:
        """Count an array; its dictionaries are kept, so that no other takes their place."""
        self.total += array.nbytes
        for items in dictionaries_of(array):
            place = tuple(buffer.address for buffer in items.buffers() if buffer is not None)
            if place in self._dictionaries:
                self.total -= items.nbytes
            self._dictionaries[place] = items


def dictionaries_of(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the dictionaries of an array and of what lies in it."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        yield array.dictionary
    elif array.type.num_fields:
        for child in children_of(array):
            yield from dictionaries_of(child)


def whole(array: pa.Array) -> pa.Array:
    """Return `array`, as a copy from offset 0 when pyarrow would take wrong items from it."""
    if nests_fixed_size_lists(array.type) and _is_cut(array):
        return pa.concat_arrays([array, array.slice(0, 0)])
    return array


def nests_fixed_size_lists(type_: pa.DataType, inside: bool = False) -> bool:
    """Return whether fixed-size lists are inside each other somewhere in the type."""
    if pa.types.is_fixed_size_list(type_):
        return inside or nests_fixed_size_lists(type_.value_type, inside=True)
    return any(nests_fixed_size_lists(type_.field(i).type, inside) for i in range(type_.num_fields))


def _is_cut(array: pa.Array) -> bool:
    """Whether the array, or any below it, begins at an offset."""
    if isinstance(array, pa.ExtensionArray):
        return _is_cut(array.storage)
    return bool(array.offset) or any(map(_is_cut, children_of(array)))


def decoded(values: pa.Array) -> pa.Array:
    """Return values, those of a dictionary one by one, as pyarrow ends where it looks for such."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def encoded(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return plain values as a dictionary of a type. Raises ArrowInvalid for too many of them."""
    coded = values.dictionary_encode()
    indices = coded.indices.cast(type_.index_type)
    return pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=type_.ordered)

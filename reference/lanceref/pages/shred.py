"""Shredding: a nested array cut into its leaves, and the layers around a leaf written as levels.

The inverse of assembly. Each leaf of a field's type tree becomes a column of its own and takes with
it the layers around it: what is null in them, and where their lists begin. What a null hides is
dropped where it can be: the items of a null list are not stored, and what lies below a null struct
counts as null too.

Ravelling is the inverse of `layers.unravel`. From the outside in, every slot of a layer is one
entry; a list replaces the entry of each of its slots by those of its items, and a slot without
items keeps one entry of its own that ends there.

Layout: repetition and definition levels, u16 each, one per entry; layer codes innermost first; see
`layers` for the numbering of levels.

Clauses: L.page.layers.path, L.page.layers.code, L.page.levels.numbering, L.page.levels.visible
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.encoder_inputs import both_valid, merged_items, validity_of, without_null_items
from lanceref.codecs.values import Bools, Ints, Validity
from lanceref.core.errors import DataRefused, NotStorable
from lanceref.core.packed_values import offsets_of
from lanceref.file.schema import Field
from lanceref.pages.layers import Layer, Nested
from lanceref.pages.leafvalues import Step, leaf_paths
from lanceref.pages.level_numbering import (
    ALL_VALID_ITEM,
    ALL_VALID_LIST,
    EMPTYABLE_LIST,
    ITEM_CODES,
    NULL_AND_EMPTY,
    NULLABLE_ITEM,
    NULLABLE_LIST,
    levels_of,
    levels_until_list,
)


@dataclass(frozen=True, slots=True)
class Shred(Nested):
    """Rows of one leaf that are to be written: the last of the layers is the leaf's own.

    Nulls of outer structs are part of the validity of what lies below them.
    """

    @property
    def validity(self) -> Validity:
        """Which values of the leaf are valid, None: all of them: (values,)."""
        return self.layers[-1].validity


def shred(
    array: pa.Array, field: Field, outer: tuple[Layer, ...] = (), mask: Validity = None
) -> Iterator[Shred]:
    """Yield the rows of every leaf at or below `field`, in column order.

    `outer` are the layers around the field, `mask` says which of its values are in a valid struct.
    `mask` (values,). Raises NotStorable for a value of a dictionary of nulls.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    validity, step = both_valid(validity_of(array), mask), leaf_paths(field)[0][0]
    layer = Layer(len(array), validity, None, step.dimension)
    if step.step is Step.LEAF:
        of_nulls = pa.types.is_dictionary(array.type) and pa.types.is_null(array.type.value_type)
        if of_nulls and array.indices.null_count < len(array):
            raise NotStorable(f"field {field.name!r}: a value of a dictionary of nulls")
        yield Shred((*outer, layer), array)
    elif step.step is Step.STRUCT:
        for i, child in enumerate(field.children):
            yield from shred(array.field(i), child, (*outer, layer), validity)
    elif step.step is Step.FIXED_SIZE_LIST:
        items = array.values.slice(array.offset * layer.dimension, len(array) * layer.dimension)
        below = None if validity is None else np.repeat(validity, layer.dimension)
        yield from shred(items, field.children[0], (*outer, layer), below)
    else:
        offsets, items = list_items(array, validity)
        yield from shred(items, field.children[0], (*outer, replace(layer, offsets=offsets)))


def list_items(array: pa.Array, validity: Validity) -> tuple[Ints, pa.Array]:
    """Return the offsets of the lists, from 0, and the items of the valid ones.

    Offsets are (lists + 1,).
    """
    raw = offsets_of(array)
    lengths = np.diff(raw)
    if validity is None or not lengths[~validity].any():
        return raw - raw[0], array.values.slice(int(raw[0]), int(raw[-1] - raw[0]))
    hidden = np.flatnonzero(~validity & (lengths > 0))
    starts = np.append(raw[0], raw[hidden + 1])
    ends = np.append(raw[hidden], raw[-1])
    pieces = zip(starts.tolist(), (ends - starts).tolist(), strict=True)
    items = pa.concat_arrays([array.values.slice(start, size) for start, size in pieces])
    return np.append(0, np.cumsum(np.where(validity, lengths, 0))), items


def concat(parts: Sequence[Shred]) -> Shred:
    """Put rows of the same leaf one after the other."""
    if len(parts) == 1:
        return parts[0]
    layers = map(_concat_layers, zip(*(part.layers for part in parts), strict=True))
    leaves = [part.leaf for part in parts]
    is_dictionary = pa.types.is_dictionary(leaves[0].type)
    leaf = concat_dictionaries(leaves) if is_dictionary else pa.concat_arrays(leaves)
    return Shred(tuple(layers), leaf)


def _concat_layers(parts: Sequence[Layer]) -> Layer:
    sizes = [part.count for part in parts]
    validity = _concat_validity([part.validity for part in parts], sizes)
    if parts[0].offsets is None:
        return Layer(sum(sizes), validity, None, parts[0].dimension)
    lengths = [np.diff(part.offsets) for part in parts if part.offsets is not None]
    return Layer(sum(sizes), validity, np.append(0, np.cumsum(np.concatenate(lengths))))


def _concat_validity(parts: Sequence[Validity], sizes: Sequence[int]) -> Validity:
    if all(part is None for part in parts):
        return None
    pairs = zip(parts, sizes, strict=True)
    return np.concatenate([np.ones(n, np.bool_) if v is None else v for v, n in pairs])


def concat_dictionaries(arrays: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    """Return the arrays as one, with one dictionary that has no null items.

    Of many items only those that are used are kept, each once (see `merged_items`). Raises
    DataRefused for more than the keys can number.
    """
    arrays = [_without_null_items(array) for array in arrays]
    type_ = arrays[0].type.index_type
    most_items = 1 << type_.bit_width - pa.types.is_signed_integer(type_)
    nulls = np.concatenate([np.asarray(array.indices.is_null()) for array in arrays])
    keys, items = merged_items(arrays, nulls, most_items + 1)
    if len(items) > most_items:
        raise DataRefused(f"{len(items)} dictionary items are too many for keys of {type_}")
    keys = np.where(nulls, 0, keys).astype(type_.to_pandas_dtype())
    return pa.DictionaryArray.from_arrays(_key_array(keys, type_, ~nulls), items)


def _without_null_items(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the array with every null in its keys."""
    if array.dictionary.null_count == 0:
        return array
    keys, items = without_null_items(array)
    moved = _key_array(keys, array.type.index_type, validity_of(array))
    return pa.DictionaryArray.from_arrays(moved, items)


def _key_array(keys: NDArray[np.integer], type_: pa.DataType, validity: Validity) -> pa.Array:
    return pa.array(keys, type_, mask=None if validity is None else ~validity)


LevelArray = NDArray[np.uint16]
"""One level per entry."""


@dataclass(frozen=True, slots=True)
class RavelledLevels:
    """The levels of one page; None where every entry would have level 0.

    `codes` are the layer codes, innermost first: they say how high levels can be.
    """

    codes: tuple[int, ...]
    rep: LevelArray | None
    definition: LevelArray | None
    num_entries: int

    @property
    def max_rep(self) -> int:
        """Number of list layers around the leaf of the page."""
        return sum(code not in ITEM_CODES for code in self.codes)

    @property
    def max_def(self) -> int:
        """The highest definition that the codes allow."""
        return sum(map(levels_of, self.codes))

    @property
    def num_rows(self) -> int:
        """Number of page slots that the levels describe."""
        if self.rep is None:
            return self.num_entries
        return int(np.count_nonzero(self.rep == self.max_rep))

    @property
    def visible(self) -> Bools | None:
        """Which entries own a value; None when all do: (entries,)."""
        if not self.max_rep or self.definition is None:
            return None
        return self.definition <= levels_until_list(self.codes)

    def row_starts(self, num_rows: int) -> Ints:
        """Return the first entry of each of the rows, which are of as many slots each: (rows,)."""
        if self.rep is None:
            starts = np.arange(self.num_entries)
        else:
            starts = np.flatnonzero(self.rep == self.max_rep)
        return starts[:: max(1, len(starts) // max(1, num_rows))]

    def slice(self, first: int, last: int) -> RavelledLevels:
        """Return the entries `first`..`last` as views; their layers stay those of all of them."""
        pair = self.rep, self.definition
        rep, definition = (None if one is None else one[first:last] for one in pair)
        return replace(self, rep=rep, definition=definition, num_entries=last - first)


def flat_levels(count: int) -> RavelledLevels:
    """Return the levels of `count` values that nothing surrounds and none of which is null."""
    return RavelledLevels((ALL_VALID_ITEM,), None, None, count)


def ravel(rows: Shred, codes: Sequence[int] | None = None) -> RavelledLevels:
    """Return the levels of some rows of a leaf.

    `codes` (from the outside in) may allow for more than the rows need; by default they allow for
    just what is there.
    """
    layers = rows.layers
    codes = [layer_code(layer) for layer in layers] if codes is None else codes
    max_rep = sum(layer.offsets is not None for layer in layers)
    max_def = sum(map(levels_of, codes))
    entries = _Entries(layers[0].count, max_rep, max_def)
    for layer, code in zip(layers, codes, strict=True):
        entries.record(layer, code)
    rep = entries.rep if max_rep else None
    definition = entries.definition if max_def else None
    return RavelledLevels(tuple(codes[::-1]), rep, definition, entries.count)


def layer_code(layer: Layer) -> int:
    """Return the least code that can say what is null and empty in a layer."""
    nullable = layer.validity is not None and not layer.validity.all()
    if layer.offsets is None:
        return NULLABLE_ITEM if nullable else ALL_VALID_ITEM
    empty = layer.offsets[1:] == layer.offsets[:-1]
    if nullable and layer.validity is not None:
        return NULL_AND_EMPTY if (empty & layer.validity).any() else NULLABLE_LIST
    return EMPTYABLE_LIST if empty.any() else ALL_VALID_LIST


class _Entries:
    """Entries from the outermost layer inward; `_owns`: which still own a slot (None: all)."""

    def __init__(self, count: int, max_rep: int, max_def: int) -> None:
        self.count = count
        self.rep = np.zeros(count if max_rep else 0, np.uint16)
        self.definition = np.zeros(count if max_def else 0, np.uint16)
        self._owns: Bools | None = None
        self._next_rep, self._next_def = max_rep, max_def

    def record(self, layer: Layer, code: int) -> None:
        """Take in one layer, whose slots are the entries that own one."""
        live = slice(None) if self._owns is None else np.flatnonzero(self._owns)
        if code in (NULLABLE_ITEM, NULLABLE_LIST, NULL_AND_EMPTY) and layer.validity is not None:
            self._end(live, ~layer.validity, self._next_def - (code == NULL_AND_EMPTY))
        empty_level = self._next_def
        self._next_def -= levels_of(code)
        if layer.offsets is not None:
            self._open_lists(live, np.diff(layer.offsets), empty_level)
        elif layer.dimension > 1:
            self._repeat(layer.dimension)

    def _end(self, live: slice | Ints, ends: Bools, level: int) -> None:
        """Give those of the entries `live` that end here their definition, unless they have one."""
        definition = self.definition[live]
        self.definition[live] = np.where(ends & (definition == 0), np.uint16(level), definition)

    def _open_lists(self, live: slice | Ints, lengths: Ints, empty_level: int) -> None:
        """Replace the entry of each list by those of its items; null and empty ones end here.

        What is not replaced keeps its definition; what is has none.
        """
        ends, rep = lengths == 0, self.rep[live]
        self.rep[live] = np.where(rep == 0, np.uint16(self._next_rep), rep)
        self._next_rep -= 1
        if len(self.definition):
            ended = self.definition[live] != 0
            if ends.any():
                self._end(live, ends, empty_level)
            ends |= ended
        counts, owned = np.ones(self.count, np.int64), np.zeros(self.count, np.bool_)
        counts[live], owned[live] = np.where(ends, 1, lengths), ~ends
        after = np.cumsum(counts)
        first, self.count = after - counts, int(after[-1]) if len(after) else 0
        self.rep = self._spread(self.rep, first)
        if len(self.definition):
            self.definition = self._spread(self.definition, first)
        self._owns = np.ones(self.count, np.bool_)
        self._owns[first[~owned]] = False

    def _spread(self, levels: LevelArray, first: Ints) -> LevelArray:
        """Return levels for all entries, those there were at their new places."""
        spread = np.zeros(self.count, np.uint16)
        spread[first] = levels
        return spread

    def _repeat(self, dimension: int) -> None:
        """Give each entry to every item of its fixed-size list, also one of a null or empty list.

        So the rows that the levels spell are the page's length: rows times dimension.
        """
        if self._owns is not None:
            self._owns = np.repeat(self._owns, dimension)
        self.rep = np.repeat(self.rep, dimension)
        self.definition = np.repeat(self.definition, dimension)
        self.count *= dimension

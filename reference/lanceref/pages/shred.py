"""Shredding: a nested array cut into its leaves.

The inverse of assembly. Each leaf of a field's type tree becomes a column of its own and takes with
it the layers around it: what is null in them, and where their lists begin. What a null hides is
dropped where it can be: the items of a null list are not stored, and what lies below a null struct
counts as null too.

Clauses: L.page.layers.path, L.page.levels.visible
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.file.schema import Field
from lanceref.pages.dictionary_write import join_dictionaries
from lanceref.pages.layers import Step, leaf_paths
from lanceref.pages.nested import Layer, cut_layers
from lanceref.pages.validity import Validity, both, validity_of


@dataclass(frozen=True, slots=True)
class Shred:
    """Rows of one leaf: `layers` from the outside in, then the leaf and which values are valid.

    Nulls of outer structs are part of the validity of what lies below them.
    """

    layers: tuple[Layer, ...]
    leaf: pa.Array
    validity: Validity

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self.layers[0].count if self.layers else len(self.leaf)

    def slice(self, start: int, end: int) -> Shred:
        """Return rows `start`..`end` as views."""
        if start == 0 and end == self.num_rows:
            return self
        layers, first, last = cut_layers(self.layers, start, end)
        validity = None if self.validity is None else self.validity[first:last]
        return Shred(layers, self.leaf.slice(first, last - first), validity)


def shred(array: pa.Array, field: Field) -> Iterator[Shred]:
    """Yield the rows of every leaf at or below `field`, in column order."""
    return _node(array, field, (), None)


def _node(
    array: pa.Array, field: Field, outer: tuple[Layer, ...], mask: Validity
) -> Iterator[Shred]:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    validity = both(validity_of(array), mask)
    step = leaf_paths(field)[0][0]
    if step.step is Step.LEAF:
        yield Shred(outer, array, validity)
    elif step.step is Step.STRUCT:
        layers = (*outer, Layer(len(array), validity))
        for i, child in enumerate(field.children):
            yield from _node(array.field(i), child, layers, validity)
    elif step.step is Step.FIXED_SIZE_LIST:
        dimension = step.dimension
        layers = (*outer, Layer(len(array), validity, None, dimension))
        items = array.values.slice(array.offset * dimension, len(array) * dimension)
        below = None if validity is None else np.repeat(validity, dimension)
        yield from _node(items, field.children[0], layers, below)
    else:
        offsets, items = list_items(array, validity)
        layers = (*outer, Layer(len(array), validity, offsets))
        yield from _node(items, field.children[0], layers, None)


def list_items(array: pa.Array, validity: Validity) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the offsets of the lists, from 0, and the items of the valid ones."""
    wide = pa.types.is_large_list(array.type)
    raw = np.frombuffer(array.buffers()[1] or b"", np.int64 if wide else np.int32)
    raw = raw[array.offset : array.offset + len(array) + 1].astype(np.int64)
    if len(raw) == 0:
        raw = np.zeros(1, np.int64)
    lengths = np.diff(raw)
    if validity is None or not lengths[~validity].any():
        return raw - raw[0], array.values.slice(int(raw[0]), int(raw[-1] - raw[0]))
    hidden = np.flatnonzero(~validity & (lengths > 0))
    starts = np.append(raw[0], raw[hidden + 1])
    ends = np.append(raw[hidden], raw[-1])
    pieces = zip(starts.tolist(), (ends - starts).tolist(), strict=True)
    items = pa.concat_arrays([array.values.slice(start, size) for start, size in pieces])
    return np.append(0, np.cumsum(np.where(validity, lengths, 0))), items


def join(parts: Sequence[Shred]) -> Shred:
    """Put rows of the same leaf one after the other."""
    if len(parts) == 1:
        return parts[0]
    layers = tuple(
        _join_layers(same) for same in zip(*(part.layers for part in parts), strict=True)
    )
    leaf = _join_leaves([part.leaf for part in parts])
    sizes = [len(part.leaf) for part in parts]
    return Shred(layers, leaf, _join_validity([part.validity for part in parts], sizes))


def _join_leaves(leaves: Sequence[pa.Array]) -> pa.Array:
    if pa.types.is_dictionary(leaves[0].type):
        return join_dictionaries(leaves)
    return pa.concat_arrays(leaves)


def _join_layers(parts: Sequence[Layer]) -> Layer:
    sizes = [part.count for part in parts]
    validity = _join_validity([part.validity for part in parts], sizes)
    if parts[0].offsets is None:
        return Layer(sum(sizes), validity, None, parts[0].dimension)
    lengths = [np.diff(part.offsets) for part in parts if part.offsets is not None]
    return Layer(sum(sizes), validity, np.append(0, np.cumsum(np.concatenate(lengths))))


def _join_validity(parts: Sequence[Validity], sizes: Sequence[int]) -> Validity:
    if all(part is None for part in parts):
        return None
    pairs = zip(parts, sizes, strict=True)
    return np.concatenate([np.ones(n, np.bool_) if v is None else v for v, n in pairs])

"""Assembly: the leaves of a field put together to one Arrow array.

Siblings below a struct are stored in columns of their own and each repeats the layers they share.
Here the shared layers are held against each other and the children joined.

Clauses: L.page.siblings.validity, L.page.siblings.offsets
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lanceref.core.errors import CorruptPage, LimitExceeded, Place
from lanceref.file.schema import Field
from lanceref.pages.layers import Step, leaf_paths
from lanceref.pages.leafvalues import MAX_OFFSET_32, Validity, bitmap
from lanceref.pages.nested import Layer, Nested


def assemble(field: Field, leaves: Sequence[Nested], place: Place) -> pa.Array:
    """Build the array of `field` from the same rows of each of its leaves."""
    return _node(field, leaves, 0, place)


def _node(field: Field, leaves: Sequence[Nested], depth: int, place: Place) -> pa.Array:
    step = leaf_paths(field)[0][0]
    if step.step is Step.LEAF:
        leaf = leaves[0].leaf  # what is empty, but not at the start, Arrow cannot join
        return leaf if len(leaf) else pa.nulls(0, leaf.type)
    layer = _shared([leaf.layers[depth] for leaf in leaves], field, place)
    children, at = [], 0
    for child in field.children:
        used = len(leaf_paths(child))
        children.append(_node(child, leaves[at : at + used], depth + 1, place))
        at += used
    buffers = [bitmap(layer.validity)]
    if layer.offsets is not None:
        buffers.append(_offsets(field.arrow.type, layer, place))
    return pa.Array.from_buffers(field.arrow.type, layer.count, buffers, children=children)


def _offsets(type_: pa.DataType, layer: Layer, place: Place) -> pa.Buffer:
    assert layer.offsets is not None
    if pa.types.is_large_list(type_):
        return pa.py_buffer(np.ascontiguousarray(layer.offsets, dtype="<i8"))
    if int(layer.offsets[-1]) > MAX_OFFSET_32:
        raise LimitExceeded(
            "L.page.leaf.kind",
            place,
            found=f"{int(layer.offsets[-1])} items in one array of {type_}",
            wanted=f"at most {MAX_OFFSET_32}",
        )
    return pa.py_buffer(layer.offsets.astype("<i4"))


def _shared(layers: list[Layer], field: Field, place: Place) -> Layer:
    """Return the layer that all leaves below `field` agree on."""
    first = layers[0]
    for other in layers[1:]:
        if not _same_offsets(first, other):
            raise _disagree("L.page.siblings.offsets", field, place)
        if not _same_validity(first.validity, other.validity, first.count):
            raise _disagree("L.page.siblings.validity", field, place)
    return first


def _same_offsets(one: Layer, other: Layer) -> bool:
    if one.offsets is None or other.offsets is None:
        return one.offsets is other.offsets
    return np.array_equal(one.offsets, other.offsets)


def _same_validity(one: Validity, other: Validity, count: int) -> bool:
    everywhere = np.True_
    return bool(
        np.array_equal(
            np.broadcast_to(everywhere if one is None else one, count),
            np.broadcast_to(everywhere if other is None else other, count),
        )
    )


def _disagree(clause: str, field: Field, place: Place) -> CorruptPage:
    return CorruptPage(
        clause,
        place,
        found=f"different {clause.rpartition('.')[2]} in the columns below {field.name!r}",
        wanted="the same in each of them",
    )

"""Planar pages (2.3): structure and values described apart.

A page of 2.3 says in one plane how rows are nested and in the other how values are stored. With a
dense structure the bytes are those of the layouts of 2.2; only the message differs. With a sparse
structure (see `sparse_page`) the value plane has no levels.

Layout: dense x chunked is a mini-block page with u32 words, dense x zipped a full-zip page, dense x
constant and dense x none are constant pages without buffers.

Clauses: L.page.planar.planes, L.page.planar.indexed, L.page.planar.chunk-levels,
L.page.planar.zip-levels, L.page.planar.compression, L.page.planar.constant-buffers,
L.page.sparse.levels

Divergences: D.page.planar-num-items, D.page.sparse-chunk-words
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from google.protobuf.message import Message

from lanceref.core.context import expect
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto.encodings_v2_1_pb2 import FullZipLayout, MiniBlockLayout, PageLayout
from lanceref.proto.encodings_v2_3_pb2 import (
    ChunkedValues,
    PlanarLayout,
    SparseStructuralLayer,
    StructuralPlane,
    ValuePlane,
    ZippedValues,
)

CHUNKED = {
    "compression": "value_compression",
    **{name: name for name in ("dictionary", "num_dictionary_items", "num_buffers", "num_items")},
}
CHUNK_LEVELS = {
    "repetition": "rep_compression",
    "definition": "def_compression",
    "repetition_index_depth": "repetition_index_depth",
}
ZIPPED = {
    "compression": "value_compression",
    **{name: name for name in ("bits_per_value", "bits_per_offset")},
    **{name: name for name in ("num_items", "num_visible_items")},
}
ZIP_LEVELS = {"bits_repetition": "bits_rep", "bits_definition": "bits_def"}
"""Names of the fields of 2.3, and of the same in the layouts of 2.1 and 2.2."""


def _copy(source: Message, target: Message, names: Mapping[str, str]) -> None:
    """Set the fields of a message from those of another, which have other names."""
    for field, value in source.ListFields():
        name = names.get(field.name)
        if name is not None and isinstance(value, Message):
            getattr(target, name).CopyFrom(value)
        elif name is not None:
            setattr(target, name, value)


def page_layout(planar: PlanarLayout, num_buffers: int, place: Place) -> PageLayout:
    """Return a dense planar layout as one of 2.2, whose bytes are the same. Raises CorruptPage."""
    values, structure = planar.values.WhichOneof("codec"), planar.structure.WhichOneof("codec")
    if structure is None or values is None:
        found = f"structure {structure}, values {values}"
        raise CorruptPage("L.page.planar.planes", place, found, "both planes")
    codes = planar.structure.dense.layers
    if values == "indexed":
        raise CorruptPage("L.page.planar.indexed", place, "indexed values", "a sparse structure")
    if values == "chunked":
        if not planar.values.chunked.HasField("levels"):
            raise CorruptPage("L.page.planar.chunk-levels", place, "none", "levels")
        chunked = chunked_layout(planar.values.chunked, place)
        chunked.layers.extend(codes)
        return PageLayout(mini_block_layout=chunked)
    if values == "zipped":
        if not planar.values.zipped.HasField("levels"):
            raise CorruptPage("L.page.planar.zip-levels", place, "none", "levels")
        zipped = zipped_layout(planar.values.zipped, place)
        zipped.layers.extend(codes)
        return PageLayout(full_zip_layout=zipped)
    expect("L.page.planar.constant-buffers", num_buffers, 0, place)
    layout = PageLayout()
    layout.constant_layout.layers.extend(codes)
    if values == "constant":
        layout.constant_layout.inline_value = planar.values.constant.scalar
    return layout


def chunked_layout(chunked: ChunkedValues, place: Place) -> MiniBlockLayout:
    """Return values in chunks as a layout of 2.2 without layers. Raises CorruptPage."""
    if not chunked.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, "none", "a codec")
    layout = MiniBlockLayout(has_large_chunk=True)
    _copy(chunked, layout, CHUNKED)
    _copy(chunked.levels, layout, CHUNK_LEVELS)
    return layout


def zipped_layout(zipped: ZippedValues, place: Place) -> FullZipLayout:
    """Return zipped values as a layout of 2.2 without layers. Raises CorruptPage."""
    if not zipped.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, "none", "a codec")
    layout = FullZipLayout()
    _copy(zipped, layout, ZIPPED)
    _copy(zipped.levels, layout, ZIP_LEVELS)
    return layout


def dense_layout(layout: PageLayout) -> PlanarLayout:
    """Return a page layout in the words of 2.3; a constant one has no levels."""
    arm, plane = layout.WhichOneof("layout"), ValuePlane()
    if arm == "mini_block_layout":
        plane = chunked_plane(layout.mini_block_layout, dense=True)
    elif arm == "full_zip_layout":
        plane = zipped_plane(layout.full_zip_layout, dense=True)
    else:
        plane.constant.scalar = layout.constant_layout.inline_value
    structure = StructuralPlane()
    structure.dense.layers.extend(getattr(layout, arm or "constant_layout").layers)
    return PlanarLayout(structure=structure, values=plane)


def sparse_layout(layers: Sequence[SparseStructuralLayer], plane: ValuePlane) -> PlanarLayout:
    """Return the layout of a page with sparse structure."""
    structure = StructuralPlane()
    structure.sparse.layers.extend(layers)
    return PlanarLayout(structure=structure, values=plane)


def chunked_plane(mini: MiniBlockLayout, *, dense: bool) -> ValuePlane:
    """Return the plane of values in chunks; with a sparse structure they have no levels."""
    plane = ValuePlane()
    _copy(mini, plane.chunked, {name: own for own, name in CHUNKED.items()})
    if dense:
        plane.chunked.levels.SetInParent()
        _copy(mini, plane.chunked.levels, {name: own for own, name in CHUNK_LEVELS.items()})
    else:
        plane.chunked.ClearField("num_items")
    return plane


def zipped_plane(zipped: FullZipLayout, *, dense: bool) -> ValuePlane:
    """Return the plane of zipped values; with a sparse structure they have no levels."""
    plane = ValuePlane()
    _copy(zipped, plane.zipped, {name: own for own, name in ZIPPED.items()})
    if dense:
        plane.zipped.levels.SetInParent()
        _copy(zipped, plane.zipped.levels, {name: own for own, name in ZIP_LEVELS.items()})
    return plane

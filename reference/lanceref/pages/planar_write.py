"""Planar pages (2.3), written: structure and values described apart.

Layout: see `planar` and `sparse_page`.

Clauses: L.page.planar.planes, L.page.planar.chunk-levels, L.page.planar.zip-levels,
L.page.planar.constant-buffers, L.page.sparse.levels

Divergences: D.page.planar-num-items, D.page.sparse-chunk-words
"""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.proto.encodings_v2_1_pb2 import FullZipLayout, MiniBlockLayout, PageLayout
from lanceref.proto.encodings_v2_3_pb2 import (
    PlanarLayout,
    SparseStructuralLayer,
    StructuralPlane,
    ValuePlane,
)


def dense_layout(layout: PageLayout) -> PlanarLayout:
    """Return a page layout in the words of 2.3; a constant one has no levels."""
    arm = layout.WhichOneof("layout")
    plane = ValuePlane()
    if arm == "mini_block_layout":
        codes = layout.mini_block_layout.layers
        plane = chunked_plane(layout.mini_block_layout, dense=True)
    elif arm == "full_zip_layout":
        codes = layout.full_zip_layout.layers
        plane = zipped_plane(layout.full_zip_layout, dense=True)
    else:
        codes = layout.constant_layout.layers
        plane.constant.scalar = layout.constant_layout.inline_value
    structure = StructuralPlane()
    structure.dense.layers.extend(codes)
    return PlanarLayout(structure=structure, values=plane)


def sparse_layout(layers: Sequence[SparseStructuralLayer], plane: ValuePlane) -> PlanarLayout:
    """Return the layout of a page with sparse structure."""
    structure = StructuralPlane()
    structure.sparse.layers.extend(layers)
    return PlanarLayout(structure=structure, values=plane)


def chunked_plane(mini: MiniBlockLayout, *, dense: bool) -> ValuePlane:
    """Return the plane of values in chunks; with a sparse structure they have no levels."""
    plane = ValuePlane()
    chunked = plane.chunked
    chunked.compression.CopyFrom(mini.value_compression)
    if mini.HasField("dictionary"):
        chunked.dictionary.CopyFrom(mini.dictionary)
        chunked.num_dictionary_items = mini.num_dictionary_items
    chunked.num_buffers = mini.num_buffers
    if not dense:
        return plane
    chunked.num_items = mini.num_items
    levels = chunked.levels
    levels.SetInParent()
    if mini.HasField("rep_compression"):
        levels.repetition.CopyFrom(mini.rep_compression)
    if mini.HasField("def_compression"):
        levels.definition.CopyFrom(mini.def_compression)
    levels.repetition_index_depth = mini.repetition_index_depth
    return plane


def zipped_plane(zipped: FullZipLayout, *, dense: bool) -> ValuePlane:
    """Return the plane of zipped values; with a sparse structure they have no levels."""
    plane = ValuePlane()
    target = plane.zipped
    target.compression.CopyFrom(zipped.value_compression)
    target.num_items, target.num_visible_items = zipped.num_items, zipped.num_visible_items
    addressing = zipped.WhichOneof("details")
    if addressing == "bits_per_value":
        target.bits_per_value = zipped.bits_per_value
    else:
        target.bits_per_offset = zipped.bits_per_offset
    if dense:
        target.levels.SetInParent()
        target.levels.bits_repetition = zipped.bits_rep
        target.levels.bits_definition = zipped.bits_def
    return plane

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

from collections.abc import Sequence

from lanceref.core.context import expect
from lanceref.core.errors import CorruptPage, Place
from lanceref.pages.chunks import MiniBlock
from lanceref.pages.constant import Constant
from lanceref.pages.entries import FullZip
from lanceref.pages.layers import Layers, Path, parse_layers
from lanceref.proto.encodings_v2_1_pb2 import FullZipLayout, MiniBlockLayout, PageLayout
from lanceref.proto.encodings_v2_3_pb2 import (
    ChunkedValues,
    DenseChunkLevels,
    DenseZipLevels,
    PlanarLayout,
    SparseStructuralLayer,
    StructuralPlane,
    ValuePlane,
    ZippedValues,
)

Description = MiniBlock | FullZip | Constant
"""What the page layouts understand."""


def describe(layout: PlanarLayout, path: Path, num_buffers: int, place: Place) -> Description:
    """Return the description of a dense planar page. Raises CorruptPage."""
    values, structure = layout.values.WhichOneof("codec"), layout.structure.WhichOneof("codec")
    if structure is None or values is None:
        found = f"structure {structure}, values {values}"
        raise CorruptPage("L.page.planar.planes", place, found, "both planes")
    layers = parse_layers(layout.structure.dense.layers, path, place)
    if values == "indexed":
        raise CorruptPage("L.page.planar.indexed", place, "indexed values", "a sparse structure")
    if values == "chunked":
        chunked = layout.values.chunked
        if not chunked.HasField("levels"):
            raise CorruptPage("L.page.planar.chunk-levels", place, "none", "levels")
        return describe_chunked(chunked, layers, chunked.num_items, place)
    if values == "zipped":
        if not layout.values.zipped.HasField("levels"):
            raise CorruptPage("L.page.planar.zip-levels", place, "none", "levels")
        return describe_zipped(layout.values.zipped, layers, place)
    expect("L.page.planar.constant-buffers", num_buffers, 0, place)
    return Constant(layers, layout.values.constant.scalar if values == "constant" else None)


def describe_chunked(
    chunked: ChunkedValues, layers: Layers, num_items: int, place: Place
) -> MiniBlock:
    """Return the description of values in chunks, without levels when there are none.

    Raises CorruptPage.
    """
    if not chunked.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, "none", "a codec")
    levels = chunked.levels
    return MiniBlock(
        layers=layers,
        rep=levels.repetition if levels.HasField("repetition") else None,
        definition=levels.definition if levels.HasField("definition") else None,
        values=chunked.compression,
        dictionary=chunked.dictionary if chunked.HasField("dictionary") else None,
        num_dictionary_items=chunked.num_dictionary_items,
        num_buffers=chunked.num_buffers,
        num_items=num_items,
        wide=True,
        index_depth=levels.repetition_index_depth,
    )


def describe_zipped(zipped: ZippedValues, layers: Layers, place: Place) -> FullZip:
    """Return the description of zipped values, without levels when there are none.

    Raises CorruptPage.
    """
    if not zipped.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, "none", "a codec")
    addressing = zipped.WhichOneof("addressing")
    return FullZip(
        layers=layers,
        bits_rep=zipped.levels.bits_repetition,
        bits_def=zipped.levels.bits_definition,
        bits_per_value=zipped.bits_per_value if addressing == "bits_per_value" else None,
        bits_per_offset=zipped.bits_per_offset if addressing == "bits_per_offset" else None,
        num_items=zipped.num_items,
        num_visible_items=zipped.num_visible_items,
        values=zipped.compression,
    )


def dense_layout(layout: PageLayout) -> PlanarLayout:
    """Return a page layout in the words of 2.3; a constant one has no levels."""
    arm, plane = layout.WhichOneof("layout"), ValuePlane()
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
    levels = DenseChunkLevels(
        repetition=mini.rep_compression if mini.HasField("rep_compression") else None,
        definition=mini.def_compression if mini.HasField("def_compression") else None,
        repetition_index_depth=mini.repetition_index_depth,
    )
    chunked = ChunkedValues(
        compression=mini.value_compression,
        levels=levels if dense else None,
        dictionary=mini.dictionary if mini.HasField("dictionary") else None,
        num_dictionary_items=mini.num_dictionary_items,
        num_buffers=mini.num_buffers,
        num_items=mini.num_items if dense else 0,
    )
    return ValuePlane(chunked=chunked)


def zipped_plane(zipped: FullZipLayout, *, dense: bool) -> ValuePlane:
    """Return the plane of zipped values; with a sparse structure they have no levels."""
    levels = DenseZipLevels(bits_repetition=zipped.bits_rep, bits_definition=zipped.bits_def)
    is_fixed = zipped.WhichOneof("details") == "bits_per_value"
    target = ZippedValues(
        compression=zipped.value_compression,
        levels=levels if dense else None,
        bits_per_value=zipped.bits_per_value if is_fixed else None,
        bits_per_offset=None if is_fixed else zipped.bits_per_offset,
        num_items=zipped.num_items,
        num_visible_items=zipped.num_visible_items,
    )
    return ValuePlane(zipped=target)

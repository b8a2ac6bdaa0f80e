"""Planar pages (2.3): structure and values described apart.

A page of 2.3 says in one plane how rows are nested and in the other how values are stored. With a
dense structure the bytes are those of the layouts of 2.2; only the message differs.

Layout: dense x chunked is a mini-block page with u32 words, dense x zipped a full-zip page, dense x
constant and dense x none are constant pages without buffers.

Clauses: L.page.planar.planes, L.page.planar.indexed,
L.page.planar.chunk-levels, L.page.planar.zip-levels, L.page.planar.compression,
L.page.planar.constant-buffers

Divergences: D.page.planar-num-items, D.page.sparse-chunk-words
"""

from __future__ import annotations

from lanceref.core.errors import CorruptPage, Place
from lanceref.pages.constant import Constant
from lanceref.pages.fullzip import FullZip
from lanceref.pages.layers import Layers, Path, parse_layers
from lanceref.pages.miniblock import MiniBlock
from lanceref.proto.encodings_v2_3_pb2 import ChunkedValues, PlanarLayout, ZippedValues

Description = MiniBlock | FullZip | Constant
"""What the page layouts understand."""


def describe(layout: PlanarLayout, path: Path, num_buffers: int, place: Place) -> Description:
    """Bring a dense planar page into the words of the page layouts."""
    values = layout.values.WhichOneof("codec")
    if layout.structure.WhichOneof("codec") is None or values is None:
        raise CorruptPage(
            "L.page.planar.planes",
            place,
            found=f"structure {layout.structure.WhichOneof('codec')}, values {values}",
            wanted="both planes",
        )
    layers = parse_layers(layout.structure.dense.layers, path, place)
    if values == "indexed":
        raise CorruptPage(
            "L.page.planar.indexed", place, found="indexed values", wanted="a sparse structure"
        )
    if values == "chunked":
        return _chunked(layout.values.chunked, layers, place)
    if values == "zipped":
        return _zipped(layout.values.zipped, layers, place)
    if num_buffers:
        raise CorruptPage(
            "L.page.planar.constant-buffers", place, found=f"{num_buffers} buffers", wanted=0
        )
    return Constant(layers, layout.values.constant.scalar if values == "constant" else None)


def _chunked(chunked: ChunkedValues, layers: Layers, place: Place) -> MiniBlock:
    if not chunked.HasField("levels"):
        raise CorruptPage("L.page.planar.chunk-levels", place, found="no levels", wanted="levels")
    if not chunked.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, found="none", wanted="a codec")
    levels = chunked.levels
    return MiniBlock(
        layers=layers,
        rep=levels.repetition if levels.HasField("repetition") else None,
        definition=levels.definition if levels.HasField("definition") else None,
        values=chunked.compression,
        dictionary=chunked.dictionary if chunked.HasField("dictionary") else None,
        num_dictionary_items=chunked.num_dictionary_items,
        num_buffers=chunked.num_buffers,
        num_items=chunked.num_items,
        wide=True,
        index_depth=levels.repetition_index_depth,
    )


def _zipped(zipped: ZippedValues, layers: Layers, place: Place) -> FullZip:
    if not zipped.HasField("levels"):
        raise CorruptPage("L.page.planar.zip-levels", place, found="no levels", wanted="levels")
    if not zipped.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, found="none", wanted="a codec")
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

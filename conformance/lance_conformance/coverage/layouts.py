"""Coverage of layouts: layouts, layers, levels and index widths of pages of 2.1 to 2.3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message
from lanceref.codecs.buffers import value_bits
from lanceref.core.spans import Span
from lanceref.proto.encodings_v2_1_pb2 import (
    BlobLayout,
    CompressiveEncoding,
    ConstantLayout,
    FullZipLayout,
    MiniBlockLayout,
    PageLayout,
    RepDefLayer,
)
from lanceref.proto.encodings_v2_3_pb2 import (
    ChunkedValues,
    DenseStructure,
    IndexedValues,
    PlanarLayout,
    SparseListLayer,
    SparseStructure,
    SparseValiditySet,
    ZippedValues,
)
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.coverage.codecs import codec_facts
from lance_conformance.coverage.messages import Fact

_ITEMS = ("REPDEF_ALL_VALID_ITEM", "REPDEF_NULLABLE_ITEM")
_ALL = (
    "REPDEF_ALL_VALID_ITEM",
    "REPDEF_ALL_VALID_LIST",
    "REPDEF_NULLABLE_ITEM",
    "REPDEF_NULLABLE_LIST",
    "REPDEF_EMPTYABLE_LIST",
    "REPDEF_NULL_AND_EMPTY_LIST",
)
_LAYOUTS = ("mini_block_layout", "constant_layout", "full_zip_layout", "blob_layout")
_VALUE_PLANES = ("chunked", "zipped", "constant", "none")
_LEVELS = ("none", "repetition", "definition", "both")

AXES: dict[str, tuple[str, ...]] = {
    "layout in 2.1": _LAYOUTS,
    "layout in 2.2": _LAYOUTS,
    "planes in 2.3": (
        *(f"dense, {plane}" for plane in _VALUE_PLANES),
        *(f"sparse, {plane}" for plane in (*_VALUE_PLANES, "indexed")),
    ),
    "layer of mini-block pages": _ALL,
    "layer of full-zip pages": _ALL,
    "layer of constant pages": _ALL,
    "layer of blob pages": _ITEMS,
    "layer of dense structure": _ALL,
    "levels of mini-block pages": _LEVELS,
    "levels of full-zip pages": _LEVELS,
    "form of constant pages": (
        "only nulls",
        "only nulls, raw levels",
        "only nulls, coded levels",
        "inline value",
        "value buffer",
    ),
    "lists around a leaf": ("0", "1", "2", "3"),
    "layers of sparse structure": ("0", "1", "2", "3"),
    "sparse layer": ("validity", "list", "fixed_size_list"),
    "repetition index depth": ("0", "1"),
    "dictionary index bits": ("8", "16", "32", "64"),
    "bits per offset of full-zip pages": ("32", "64"),
    "bytes of the control word": ("0", "1", "2", "4"),
    "row index": tuple(f"row index u{bits}" for bits in (8, 16, 32, 64)),
    "log of a chunk in 2.1": tuple(map(str, range(16))),
    "log of a chunk since 2.2": tuple(map(str, range(16))),
}
"""Axes of layouts, with their members."""

LOG_MASK = 15
"""Bits of a chunk's word with the logarithm of its number of values."""


def message_facts(message: Message, version: str) -> Iterator[Fact]:
    """Yield the facts of one message of a page of 2.1 or later."""
    if isinstance(message, ColumnMetadata.Page):
        yield from _constant_form(message)
    elif isinstance(message, PageLayout):
        yield f"layout in {version}", message.WhichOneof("layout") or "none"
    elif isinstance(message, MiniBlockLayout):
        yield from _mini_block(message, version)
    elif isinstance(message, FullZipLayout):
        yield from _layers(message.layers, "full-zip pages")
        yield from _zip_levels(message.bits_rep, message.bits_def)
        yield from _zipped(message, message.WhichOneof("details"), version)
    elif isinstance(message, ConstantLayout):
        yield from _layers(message.layers, "constant pages")
        yield from _optional("levels", message, ("rep_compression", "def_compression"), version)
    elif isinstance(message, BlobLayout):
        yield from _layers(message.layers, "blob pages")
    else:
        yield from _planar_facts(message, version)


def _planar_facts(message: Message, version: str) -> Iterator[Fact]:
    if isinstance(message, PlanarLayout):
        structure, plane = (message.structure.WhichOneof("codec"), message.values)
        yield "planes in 2.3", f"{structure}, {plane.WhichOneof('codec')}"
    elif isinstance(message, DenseStructure):
        yield from _layers(message.layers, "dense structure")
    elif isinstance(message, SparseStructure):
        yield "layers of sparse structure", str(len(message.layers))
        yield from (("sparse layer", layer.WhichOneof("layer") or "") for layer in message.layers)
    elif isinstance(message, SparseValiditySet):
        yield from _optional("positions", message, ("positions",), version)
    elif isinstance(message, SparseListLayer):
        yield from _optional("positions", message, ("non_empty_positions",), version)
        yield from _optional("counts", message, ("counts",), version)
    elif isinstance(message, ChunkedValues):
        levels = message.levels
        yield from _chunk_levels(levels.HasField("repetition"), levels.HasField("definition"))
        yield from _optional("levels", levels, ("repetition", "definition"), version)
        yield "repetition index depth", str(levels.repetition_index_depth)
        yield from _chunk_values(message.compression, message.dictionary, version)
    elif isinstance(message, ZippedValues):
        yield from _zip_levels(message.levels.bits_repetition, message.levels.bits_definition)
        yield from _zipped(message, message.WhichOneof("addressing"), version, "compression")
    elif isinstance(message, IndexedValues):
        yield from codec_facts(message.indices, "indices", version)


def _mini_block(message: MiniBlockLayout, version: str) -> Iterator[Fact]:
    yield from _layers(message.layers, "mini-block pages")
    yield from _chunk_levels(
        message.HasField("rep_compression"), message.HasField("def_compression")
    )
    yield from _optional("levels", message, ("rep_compression", "def_compression"), version)
    yield "repetition index depth", str(message.repetition_index_depth)
    yield from _chunk_values(message.value_compression, message.dictionary, version)


def _chunk_values(
    values: CompressiveEncoding, dictionary: CompressiveEncoding, version: str
) -> Iterator[Fact]:
    yield from codec_facts(values, "chunk values", version)
    if dictionary.WhichOneof("compression"):
        yield "dictionary index bits", str(value_bits(values))
        yield from codec_facts(dictionary, "dictionary", version)


def _zipped(
    message: FullZipLayout | ZippedValues,
    addressing: str | None,
    version: str,
    name: str = "value_compression",
) -> Iterator[Fact]:
    if addressing == "bits_per_offset":
        yield "bits per offset of full-zip pages", str(message.bits_per_offset)
    yield from _optional("zipped values", message, (name,), version)


def _layers(codes: Iterable[int], pages: str) -> Iterator[Fact]:
    names = [RepDefLayer.Name(code) for code in codes if code in RepDefLayer.values()]
    yield from ((f"layer of {pages}", name) for name in names)
    yield "lists around a leaf", str(sum(name.endswith("LIST") for name in names))


def _chunk_levels(repetition: bool, definition: bool) -> Iterator[Fact]:
    yield "levels of mini-block pages", _LEVELS[repetition + 2 * definition]


def _zip_levels(bits_rep: int, bits_def: int) -> Iterator[Fact]:
    yield "levels of full-zip pages", _LEVELS[(bits_rep > 0) + 2 * (bits_def > 0)]
    bits = bits_rep + bits_def
    yield "bytes of the control word", str(next(b for b in (0, 1, 2, 4, bits) if 8 * b >= bits))


def _optional(place: str, message: Message, names: tuple[str, ...], version: str) -> Iterator[Fact]:
    for name in names:
        if message.HasField(name):
            yield from codec_facts(getattr(message, name), place, version)


def _constant_form(page: ColumnMetadata.Page) -> Iterator[Fact]:
    """Yield the form of a constant page, from its description and its buffers."""
    layout = PageLayout()
    try:
        AnyMessage.FromString(page.encoding.direct.encoding).Unpack(layout)
    except DecodeError:  # an invalid file
        return
    if layout.WhichOneof("layout") != "constant_layout":
        return
    constant, buffers = layout.constant_layout, len(page.buffer_sizes)
    form = "only nulls" if buffers % 2 == 0 else "value buffer"
    if constant.HasField("inline_value"):
        form = "inline value"
    elif buffers == 2:
        coded = constant.HasField("rep_compression") or constant.HasField("def_compression")
        form += ", coded levels" if coded else ", raw levels"
    yield "form of constant pages", form


def leaf_facts(leaf: Span, version: str) -> Iterator[Fact]:
    """Yield the facts of one leaf of a page: widths and logarithms that are in no message."""
    if leaf.kind == "chunk word" and isinstance(leaf.value, int):
        since = "in 2.1" if version == "2.1" else "since 2.2"
        yield f"log of a chunk {since}", str(leaf.value & LOG_MASK)
    elif leaf.name == "width" and leaf.clause == "L.codec.bitpack.width":
        yield f"inline width of {leaf.kind.removeprefix('u')}-bit words", str(leaf.value)
    elif leaf.kind.startswith("row index"):
        yield "row index", leaf.kind

"""Planar pages (2.3): structure and values described apart, in the words of 2.3 and of 2.2.

A page of 2.3 says in one plane how rows are nested and in the other how values are stored. With a
dense structure the bytes are those of the layouts of 2.2; only the message differs. With a sparse
structure (see `sparse`) the value plane has no levels (see `sparse_page`).

Layout: dense x chunked is a mini-block page with u32 words, dense x zipped a full-zip page, dense x
constant and dense x none are constant pages without buffers.

Clauses: L.page.planar.planes, L.page.planar.indexed, L.page.planar.chunk-levels,
L.page.planar.zip-levels, L.page.planar.compression, L.page.planar.constant-buffers

Divergences: D.page.planar-num-items
"""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import Message

from lanceref.core.context import expect
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto.encodings_v2_1_pb2 import (
    ConstantLayout,
    FullZipLayout,
    MiniBlockLayout,
    PageLayout,
)
from lanceref.proto.encodings_v2_3_pb2 import (
    ChunkedValues,
    PlanarLayout,
    SparseStructuralLayer,
    StructuralPlane,
    ValuePlane,
    ZippedValues,
)

NAMES = {
    "compression": "value_compression",
    "repetition": "rep_compression",
    "definition": "def_compression",
    "bits_repetition": "bits_rep",
    "bits_definition": "bits_def",
}
"""Names of fields of 2.3, and of the same in the layouts of 2.1 and 2.2; others have one name."""

EITHER_WAY = NAMES | {name: own for own, name in NAMES.items()}

MOST_ITEMS = 2**32 - 1
"""Items that the description of a full-zip page can count."""

Packed = MiniBlockLayout | FullZipLayout
"""What the values of a plane are stored as."""


def _copy(source: Message, target: Message) -> None:
    """Set the fields of a message that another one has too, under its own names."""
    for field, value in source.ListFields():
        name = EITHER_WAY.get(field.name, field.name)
        if name == "layers" or name not in target.DESCRIPTOR.fields_by_name:
            continue
        if isinstance(value, Message):
            getattr(target, name).CopyFrom(value)
        else:
            setattr(target, name, value)


def page_layout(planar: PlanarLayout, num_buffers: int, place: Place) -> PageLayout:
    """Return a dense planar layout as one of 2.2, whose bytes are the same. Raises CorruptPage."""
    values, structure = planar.values.WhichOneof("codec"), planar.structure.WhichOneof("codec")
    if structure is None or values is None:
        found = f"structure {structure}, values {values}"
        raise CorruptPage("L.page.planar.planes", place, found, "both planes")
    codes, layout = planar.structure.dense.layers, PageLayout()
    if values == "indexed":
        raise CorruptPage("L.page.planar.indexed", place, "indexed values", "a sparse structure")
    if values in ("chunked", "zipped"):
        held, packed, clause = (
            (planar.values.chunked, layout.mini_block_layout, "L.page.planar.chunk-levels")
            if values == "chunked"
            else (planar.values.zipped, layout.full_zip_layout, "L.page.planar.zip-levels")
        )
        if not held.HasField("levels"):
            raise CorruptPage(clause, place, "none", "levels")
        fill_layout(packed, held, place)
        packed.layers.extend(codes)
        return layout
    expect("L.page.planar.constant-buffers", num_buffers, 0, place)
    layout.constant_layout.layers.extend(codes)
    if values == "constant":
        layout.constant_layout.inline_value = planar.values.constant.scalar
    return layout


def fill_layout(layout: Packed, values: ChunkedValues | ZippedValues, place: Place) -> None:
    """Describe values in chunks or zipped ones by a layout of 2.2. Raises CorruptPage."""
    if not values.HasField("compression"):
        raise CorruptPage("L.page.planar.compression", place, "none", "a codec")
    if isinstance(layout, MiniBlockLayout):
        layout.has_large_chunk = True
    if isinstance(values, ZippedValues):
        most = max(values.num_items, values.num_visible_items)
        if most > MOST_ITEMS:
            raise CorruptPage("L.page.limits.items", place, most, f"{MOST_ITEMS} at most")
    _copy(values, layout)
    _copy(values.levels, layout)


def dense_layout(layout: PageLayout) -> PlanarLayout:
    """Return a page layout in the words of 2.3; a constant one has no levels."""
    held = getattr(layout, layout.WhichOneof("layout") or "constant_layout")
    plane, structure = ValuePlane(), StructuralPlane()
    if isinstance(held, ConstantLayout):
        plane.constant.scalar = held.inline_value
    else:
        plane = value_plane(held, dense=True)
    structure.dense.layers.extend(held.layers)
    return PlanarLayout(structure=structure, values=plane)


def sparse_layout(layers: Sequence[SparseStructuralLayer], plane: ValuePlane) -> PlanarLayout:
    """Return the layout of a page with sparse structure."""
    structure = StructuralPlane()
    structure.sparse.layers.extend(layers)
    return PlanarLayout(structure=structure, values=plane)


def value_plane(layout: Packed, *, dense: bool) -> ValuePlane:
    """Return the plane of values in chunks or zipped; with a sparse structure without levels."""
    plane = ValuePlane()
    values = plane.chunked if isinstance(layout, MiniBlockLayout) else plane.zipped
    _copy(layout, values)
    if dense:
        values.levels.SetInParent()
        _copy(layout, values.levels)
    elif isinstance(layout, MiniBlockLayout):
        values.ClearField("num_items")
    return plane

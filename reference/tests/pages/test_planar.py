"""Dense planar pages: the message of 2.3 in the words of the layouts of 2.2."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.pages.chunks import MiniBlock
from lanceref.pages.constant import Constant
from lanceref.pages.entries import FullZip
from lanceref.pages.layers import ALL_VALID_ITEM, NULLABLE_ITEM
from lanceref.pages.planar import describe

from .building import V2_3, chunk, chunk_table, field_of, flat, opened, path_to, pb3, scanned, words

PLACE = Context("test").at(5, 1)
PATH = path_to(field_of(pa.int32()))


def _layout(*layers: int) -> pb3.PlanarLayout:
    return pb3.PlanarLayout(structure={"dense": {"layers": layers or (ALL_VALID_ITEM,)}})


def _chunked() -> pb3.PlanarLayout:
    layout = _layout(NULLABLE_ITEM)
    chunked = layout.values.chunked
    chunked.compression.CopyFrom(flat(32))
    chunked.levels.definition.CopyFrom(flat(16))
    chunked.num_buffers, chunked.num_items = 1, 3
    return layout


def _zipped() -> pb3.PlanarLayout:
    layout = _layout()
    zipped = layout.values.zipped
    zipped.compression.CopyFrom(flat(32))
    zipped.levels.SetInParent()
    zipped.bits_per_value, zipped.num_items, zipped.num_visible_items = 32, 2, 2
    return layout


def _constant(scalar: bytes) -> pb3.PlanarLayout:
    layout = _layout()
    layout.values.constant.scalar = scalar
    return layout


def test_chunks_are_a_mini_block_page_of_2_2():
    """Wide words; levels lie in a message of their own."""
    described = describe(_chunked(), PATH, 2, PLACE)

    assert isinstance(described, MiniBlock)
    assert (True, 3, 1, None, 0) == (
        described.wide,
        described.num_items,
        described.num_buffers,
        described.rep,
        described.index_depth,
    )
    assert flat(16) == described.definition
    stored = chunk(words(7, 0, 9), levels=([0, 1, 0],), wide=True)
    table = chunk_table((stored, 0), wide=True)
    page = opened(pa.int32(), _chunked(), 3, table, stored, version=V2_3)
    assert [7, None, 9] == scanned(page, pa.int32())


def test_zipped_values_are_a_full_zip_page():
    """Bits per value or per offset, whichever is set."""
    described = describe(_zipped(), PATH, 1, PLACE)

    assert isinstance(described, FullZip)
    assert (0, 0, 32, None) == (
        described.bits_rep,
        described.bits_def,
        described.bits_per_value,
        described.bits_per_offset,
    )
    page = opened(pa.int32(), _zipped(), 2, words(4, 5), version=V2_3)
    assert [4, 5] == scanned(page, pa.int32())


def test_one_value_or_none_are_constant_pages():
    """The scalar lies in the message; without it all is null."""
    none = _layout()
    none.values.none.SetInParent()
    described = describe(_constant(words(7)), PATH, 0, PLACE)

    assert isinstance(described, Constant)
    assert (words(7), None) == (described.inline_value, describe(none, PATH, 0, PLACE).inline_value)
    page = opened(pa.int32(), _constant(words(7)), 4, version=V2_3)
    assert [7] * 4 == scanned(page, pa.int32())


def _without(layout: pb3.PlanarLayout, path: str) -> pb3.PlanarLayout:
    way, _, last = path.rpartition(".")
    message = layout
    for name in way.split(".") if way else ():
        message = getattr(message, name)
    message.ClearField(last)
    return layout


def _indexed() -> pb3.PlanarLayout:
    layout = _layout()
    layout.values.indexed.SetInParent()
    return layout


@pytest.mark.parametrize(
    ("layout", "clause"),
    [
        (_without(_chunked(), "structure"), "planes"),
        (_without(_chunked(), "values"), "planes"),
        (_indexed(), "indexed"),
        (_without(_chunked(), "values.chunked.levels"), "chunk-levels"),
        (_without(_chunked(), "values.chunked.compression"), "compression"),
        (_without(_zipped(), "values.zipped.levels"), "zip-levels"),
        (_without(_zipped(), "values.zipped.compression"), "compression"),
    ],
)
def test_planes_that_are_not_whole_are_refused(layout, clause):
    """Both planes, levels in the message of the plane, a codec."""
    with pytest.raises(CorruptPage) as caught:
        describe(layout, PATH, 2, PLACE)

    assert (f"L.page.planar.{clause}", 5) == (caught.value.clause, caught.value.offset)


def test_a_constant_page_has_no_buffers():
    """It lies wholly in the description."""
    with pytest.raises(CorruptPage) as caught:
        describe(_constant(words(7)), PATH, 1, PLACE)

    assert "L.page.planar.constant-buffers" == caught.value.clause

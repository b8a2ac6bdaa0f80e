"""Checking a column built by hand: each page by itself, then the leaves against each other."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context, Finding
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.pages.column import PageColumn
from lanceref.pages.layers import NULLABLE_ITEM
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding
from lanceref.storage import BytesSource

from .building import V2_1, chunk, chunk_table, field_of, flat, mini_layout, words

POINT = pa.struct([("x", pa.int32()), ("y", pa.int32())])


def _leaf(levels, padding=b"\xfe"):
    """A leaf of a struct that can be null: level 1 is a null number, 2 a null struct."""
    layout = mini_layout(flat(32), len(levels), NULLABLE_ITEM, NULLABLE_ITEM)
    layout.mini_block_layout.def_compression.CopyFrom(flat(16))
    stored = chunk(words(*range(len(levels))), levels=(levels,)).replace(b"\xfe", padding)
    return layout, (chunk_table((stored, 0)), stored)


def _column(*leaves, findings: list[Finding] | None = None) -> PageColumn:
    data, columns = bytearray(), []
    ctx = Context("test", "decode", findings=findings)
    for index, (layout, buffers) in enumerate(leaves):
        extents = []
        for buffer in buffers:
            extents.append(Extent(len(data), len(buffer)))
            data += buffer + b"H" * (-len(buffer) % 64)
        rows = layout.mini_block_layout.num_items
        page = PageMetadata(tuple(extents), rows, 0, layout, ctx.at(0))
        columns.append(ColumnMetadata(index, (page,), ColumnEncoding(), (), ctx.at(index)))
    return PageColumn(FileBytes(BytesSource(bytes(data)), ctx), field_of(POINT), columns, V2_1)


def _findings(*leaves):
    findings: list[Finding] = []
    _column(*leaves, findings=findings).check()
    return [finding.clause for finding in findings]


def test_leaves_that_agree_check_clean():
    """Row 1 is a null struct in both; x is null in row 0."""
    leaves = _leaf([1, 2, 0]), _leaf([0, 2, 0])
    (array,) = _column(*leaves).scan(0, 3)

    assert [] == _findings(*leaves)
    assert [{"x": None, "y": 0}, None, {"x": 2, "y": 2}] == array.to_pylist()


def test_leaves_that_disagree_are_found_by_reading_through():
    """Each page is sound by itself."""
    assert ["L.page.siblings.validity"] == _findings(_leaf([0, 2, 0]), _leaf([0, 0, 0]))
    assert ["L.page.siblings.validity"] == _findings(_leaf([0, 0, 0]), _leaf([0, 0, 2]))


def test_a_broken_page_is_reported_once():
    """Where a page has a finding nothing is read through: its fault would come again."""
    assert ["L.page.levels.def-range"] == _findings(_leaf([0, 3, 0]), _leaf([0, 2, 0]))
    assert ["L.page.levels.def-range"] * 2 == _findings(_leaf([0, 3, 0]), _leaf([0, 0, 4]))


def test_lints_of_one_page_hide_no_fault_of_another():
    """Other padding is reported for both leaves; the pages decode all the same."""
    found = _findings(_leaf([0, 2, 0], b"\0"), _leaf([0, 2, 0], b"\0"))

    assert {"L.page.miniblock.padding"} == set(found)


def test_leaves_have_as_many_rows():
    """Two rows beside three."""
    with pytest.raises(CorruptPage) as caught:
        _column(_leaf([0, 0, 0]), _leaf([0, 0]))

    assert "L.page.siblings.rows" == caught.value.clause
    assert ("2 rows in column 1", "3, as in column 0") == (
        caught.value.found,
        caught.value.wanted,
    )

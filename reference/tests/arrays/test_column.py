"""Columns: the type tree over physical columns."""

import pyarrow as pa
import pytest
from lanceref.errors import BadSchema, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.spans import SpanRecorder

from .building import (
    STRUCT,
    Column,
    Page,
    binary,
    flat,
    list_page,
    open_built,
    scanned,
    some_nulls,
    words,
)


def test_columns_are_assigned_depth_first():
    """Struct header, list offsets, items, then the struct's next child."""
    type_ = pa.struct([pa.field("l", pa.list_(pa.int8())), pa.field("s", pa.string())])
    column = open_built(
        type_,
        [
            Column([Page(STRUCT, 2, [])]),
            Column([Page(list_page(3), 2, [words(1, 3)])]),
            Column([Page(flat(8), 3, [b"\x01\x02\x03"])]),
            Column([Page(binary(3), 2, [words(1, 2), b"ab"])]),
        ],
    )

    assert [{"l": [1], "s": "a"}, {"l": [2, 3], "s": "b"}] == scanned(column).to_pylist()


def test_a_missing_column_is_refused():
    """Every field that owns a column has one."""
    with pytest.raises(BadSchema, match=r"L\.file\.schema\.num-columns"):
        open_built(pa.list_(pa.int8()), [Column([Page(list_page(0), 0, [b""])])])


@pytest.mark.parametrize(
    "encoding", [pb.ColumnEncoding(), pb.ColumnEncoding(zone_index={"inner": {"values": {}}})]
)
def test_other_column_encodings_are_not_supported(encoding):
    """Only values and blob are read."""
    with pytest.raises(UnknownEncoding, match=r"L\.array\.column\.encoding"):
        open_built(pa.int8(), [Column([Page(flat(8), 1, [b"\x01"])], encoding)])


@pytest.mark.parametrize("arm", [{"constant": {}}, {"struct": {}}, {"list": {}}, {}])
def test_encodings_that_hold_no_values_are_not_supported(arm):
    """A value page has one of the arms that hold values."""
    column = open_built(pa.int8(), [Column([Page(pb.ArrayEncoding(**arm), 1, [])])])

    with pytest.raises(UnknownEncoding, match=r"L\.array\.encoding\.tag"):
        scanned(column)


def test_a_check_reports_every_page_and_goes_on():
    """One damaged page does not hide the next."""
    findings = []
    pages = [
        Page(flat(8), 2, [b"\x01"]),
        Page(flat(8), 1, [b"\x01"]),
        Page(flat(16), 1, [b"\x01\x02"]),
    ]
    column = open_built(pa.int8(), [Column(pages)], findings=findings)

    column.check()

    assert ["L.array.flat.size", "L.array.flat.type-width"] == [one.clause for one in findings]


def test_a_check_owns_every_byte_of_every_buffer():
    """Bitmap, values, ends and bytes are leaves of their own."""
    spans = SpanRecorder()
    pages = [Page(some_nulls(binary(4, first=1)), 2, [b"\x03", words(1, 3), b"abc"])]

    open_built(pa.string(), [Column(pages)], spans=spans).check()

    owned = [(leaf.start, leaf.end, leaf.kind) for leaf in spans.root.leaves()]
    assert [(0, 1, "bitmap"), (64, 80, "offsets u64[]"), (128, 131, "bytes")] == owned

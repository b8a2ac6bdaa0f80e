"""Columns: the type tree over physical columns."""

import pyarrow as pa
import pytest
from lanceref.core.errors import BadSchema, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import (
    STRUCT,
    Column,
    Page,
    binary,
    flat,
    list_page,
    open_built,
    scanned,
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

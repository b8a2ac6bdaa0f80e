"""Packed structs."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, flat, no_nulls, open_built, taken

TYPE = pa.struct(
    [
        pa.field("x", pa.int16(), nullable=False),
        pa.field("v", pa.list_(pa.uint8(), 3), nullable=False),
        pa.field("u", pa.uint8(), nullable=False),
    ]
)
FIELD = pa.field("c", TYPE, metadata={"packed": "true"})
ROWS = bytes.fromhex("0100 0a0b0c 07 ffff 0d0e0f 08")


def _packed(*inner: pb.ArrayEncoding) -> pb.ArrayEncoding:
    return pb.ArrayEncoding(packed_struct={"inner": inner, "buffer": {}})


def _vector(dimension: int) -> pb.ArrayEncoding:
    return no_nulls(
        pb.ArrayEncoding(fixed_size_list={"dimension": dimension, "items": no_nulls(flat(8))})
    )


GOOD = _packed(no_nulls(flat(16)), _vector(3), no_nulls(flat(8)))


def test_rows_are_cut_into_columns():
    """Two bytes x, three bytes v, one byte u: six bytes a row."""
    column = open_built(FIELD, [Column([Page(GOOD, 2, [ROWS])])])

    first = {"x": 1, "v": [10, 11, 12], "u": 7}
    second = {"x": -1, "v": [13, 14, 15], "u": 8}
    assert [first, second] == next(column.scan(0, 2)).to_pylist()
    assert [second, second] == taken(column, 1, 1)


@pytest.mark.parametrize(
    ("encoding", "rows", "clause"),
    [
        (GOOD, ROWS[:-1], "L.array.packed-struct.size"),
        (_packed(no_nulls(flat(16)), _vector(3)), ROWS, "L.array.packed-struct.children"),
        (_packed(flat(32), _vector(1), flat(8)), ROWS, "L.array.packed-struct.width"),
    ],
)
def test_rows_that_do_not_fit_the_schema_are_refused(encoding, rows, clause):
    """Children, their widths and the size of the buffer follow from the schema."""
    column = open_built(FIELD, [Column([Page(encoding, 2, [rows])])])

    with pytest.raises(CorruptPage) as told:
        taken(column, 0)

    assert clause == told.value.clause

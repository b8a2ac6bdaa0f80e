"""Fixed-size lists."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, flat, no_nulls, open_built, read_built, some_nulls, taken


def _lists(dimension: int, items: pb.ArrayEncoding) -> pb.ArrayEncoding:
    return pb.ArrayEncoding(fixed_size_list={"dimension": dimension, "items": items})


def test_nulls_of_rows_stand_outside_and_those_of_items_inside():
    """A null row keeps its items; an item can be null in a valid row."""
    encoding = some_nulls(_lists(2, some_nulls(flat(8, 2), 1)))

    found = read_built(pa.list_(pa.int8(), 2), encoding, 2, b"\x02", b"\x0d", b"\x01\x02\x03\x04")

    assert [None, [3, 4]] == found.to_pylist()
    assert [1, None, 3, 4] == found.values.to_pylist()


def test_booleans_are_one_bitmap_over_all_items():
    """Rows of booleans do not start at a byte."""
    page = Page(no_nulls(_lists(3, no_nulls(flat(1)))), 3, [bytes([0b11_011_001, 0b0])])
    column = open_built(pa.list_(pa.bool_(), 3), [Column([page])])

    assert [[True, True, False], [True, True, False]] == taken(column, 1, 2)


def test_lists_of_lists_nest():
    """The inner list has the outer one's rows times its dimension."""
    encoding = _lists(2, _lists(2, flat(8)))

    found = read_built(pa.list_(pa.list_(pa.int8(), 2), 2), encoding, 2, bytes(range(8)))

    assert [[[0, 1], [2, 3]], [[4, 5], [6, 7]]] == found.to_pylist()


@pytest.mark.parametrize("type_", [pa.list_(pa.int8(), 3), pa.int8()])
def test_another_dimension_than_the_schemas_is_refused(type_):
    """The dimension is that of the field's type."""
    with pytest.raises(CorruptPage, match=r"L\.array\.fixed-size-list\.dimension"):
        read_built(type_, _lists(2, flat(8)), 1, b"\x01\x02")


def test_too_few_items_are_refused():
    """The items are as many as rows times dimension."""
    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.size"):
        read_built(pa.list_(pa.int8(), 2), _lists(2, flat(8)), 2, b"\x01\x02")

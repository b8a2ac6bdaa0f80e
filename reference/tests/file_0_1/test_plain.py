"""Plain pages."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.file_0_1.encodings import encode_plain, fixed_width, plain_node
from lanceref.file_0_1.page_table import BatchRanges, Node, Pages

from .building import file_bytes


def _node(data: bytes, type_: pa.DataType, *pairs: tuple[int, int]) -> Node:
    positions, lengths = np.array(pairs, np.int64).T
    pages = Pages(positions, lengths, len(data), Context("f").at(0))
    return plain_node(file_bytes(data), pages, type_, lengths)


def test_values_stand_back_to_back():
    """int32 1, null, 3: what lies below the null is stored."""
    data = encode_plain(pa.array([1, None, 3], pa.int32()))
    assert bytes.fromhex("01000000 00000000 03000000") == bytes(data)

    node = _node(b"xx" + bytes(data), pa.int32(), (2, 3))
    assert [1, 0, 3] == node.read(BatchRanges.whole(0, 3)).to_pylist()


def test_booleans_are_bits_from_the_lowest():
    """A null is false."""
    data = encode_plain(pa.array([True, None, False, True] * 3)[1:])
    assert bytes.fromhex("cc04") == bytes(data)


def test_a_vector_is_its_items():
    """Two vectors of three int8; a null one keeps its items."""
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array([1, 2, 3, 4, 5, 6], pa.int8()), 3, mask=pa.array([False, True])
    )
    assert bytes([1, 2, 3, 4, 5, 6]) == bytes(encode_plain(vectors))
    node = _node(bytes([1, 2, 3, 4, 5, 6]), vectors.type, (0, 2))
    assert [[1, 2, 3], [4, 5, 6]] == node.read(BatchRanges.whole(0, 2)).to_pylist()


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=20), min_size=1), st.data())
def test_bits_of_any_pieces_are_moved_together(pages, data):
    """Ranges of several bitmaps read as if each bit were a byte."""
    encoded = [bytes(encode_plain(pa.array(page))) for page in pages]
    starts = np.cumsum([0, *map(len, encoded)])
    pairs = [(int(start), len(page)) for start, page in zip(starts, pages, strict=False)]
    bounds = [sorted(data.draw(st.tuples(*[st.integers(0, len(page))] * 2))) for page in pages]
    pieces = BatchRanges(np.arange(len(pages)), *np.array(bounds).T)

    read = _node(b"".join(encoded), pa.bool_(), *pairs).read(pieces)
    wanted = [bit for page, (a, b) in zip(pages, bounds, strict=True) for bit in page[a:b]]
    assert wanted == read.to_pylist()


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        (pa.int16(), (pa.int16(), [])),
        (pa.list_(pa.list_(pa.bool_(), 2), 5), (pa.bool_(), [5, 2])),
        (pa.decimal256(40, 1), (pa.decimal256(40, 1), [])),
        (pa.string(), None),
        (pa.null(), None),
        (pa.binary(0), None),
        (pa.list_(pa.string(), 2), None),
        (pa.list_(pa.null(), 2), None),
        (pa.dictionary(pa.int8(), pa.string()), None),
        (pa.struct([("a", pa.int8())]), None),
    ],
)
def test_what_is_stored_plain(type_, found):
    """Fixed widths above 0, also in vectors."""
    assert found == fixed_width(type_)

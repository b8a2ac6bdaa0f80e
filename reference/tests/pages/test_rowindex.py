"""Row index: where each row of a full-zip page begins."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.core.spans import SpanRecorder
from lanceref.pages.repindex import RowIndex
from lanceref.storage import BytesSource


def _index(data, num_slots, data_bytes, spans=None):
    file = FileBytes(BytesSource(data), Context("test", spans=spans))
    return RowIndex(file, Extent(0, len(data)), num_slots, data_bytes, file.ctx.at(0))


def test_worked_index():
    """00 01 08 0d: entries of 1, 7 and 5 bytes."""
    index = _index(bytes.fromhex("0001080d"), 3, 13)

    assert [0, 1, 8, 13] == index.offsets.tolist()
    assert [[1, 8], [8, 13]] == index.rows(np.array([1, 2]), 1).tolist()


def test_single_rows_are_read_without_the_rest():
    """Before the whole is known, rows read only their own entries: a wrong end stays unseen."""
    index = _index(bytes.fromhex("0001080c"), 3, 13)

    assert [[0, 1, 8]] == index.rows(np.array([0]), 2).tolist()
    with pytest.raises(CorruptPage):
        _ = index.offsets


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        ("000108", "width"),
        ("000000010000080000d0d000", "width"),
        ("00010e0d", "order"),
        ("0008010d", "order"),
        ("0101080d", "total"),
        ("0001080c", "total"),
    ],
)
def test_an_index_that_is_none_is_refused(data, clause):
    """Its width, its order, its ends."""
    with pytest.raises(CorruptPage) as caught:
        _ = _index(bytes.fromhex(data), 3, 13).offsets

    assert f"L.page.rowindex.{clause}" == caught.value.clause


def test_every_position_is_owned():
    """One span a slot, and one for the end."""
    spans = SpanRecorder()
    _ = _index(bytes.fromhex("0001080d"), 3, 13, spans).offsets
    names = [leaf.name for leaf in spans.finish(4).leaves()]

    assert [f"start of row {i}" for i in range(4)] == names


@given(st.sampled_from([1, 2, 4, 8]), st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_any_width_says_the_same(width, sizes):
    """Positions are what was summed up, and every range of slots is a piece of them."""
    ends = np.append(0, np.cumsum(sizes))
    data = b"".join(int(end).to_bytes(width, "little") for end in ends)
    index = _index(data, len(sizes), int(ends[-1]))
    first = np.arange(len(sizes))
    single = index.rows(first, 1)

    assert ends.tolist() == index.offsets.tolist()
    assert np.stack([ends[:-1], ends[1:]], axis=1).tolist() == single.tolist()
    assert single.tolist() == index.rows(first, 1).tolist()

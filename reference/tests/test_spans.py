"""Spans: ownership of bytes."""

import pytest
from lanceref.core.errors import LimitExceeded
from lanceref.core.spans import SPAN_BYTES, SpanRecorder, uncovered


def test_groups_take_the_range_of_their_children():
    """A group starts and ends where its first and last child do."""
    recorder = SpanRecorder()
    with recorder.group("header"):
        recorder.leaf(4, 6, "a", "u16", value=1)
        recorder.leaf(0, 4, "b", "u32")
    group = recorder.finish(6).children[0]

    assert (0, 6) == (group.start, group.end)
    assert ["a", "b"] == [leaf.name for leaf in group.leaves()]


def test_uncovered_lists_what_no_leaf_owns():
    """Gaps at the start, between leaves and at the end are found; overlaps are not gaps."""
    recorder = SpanRecorder()
    for start, end in ((2, 4), (3, 6), (8, 9)):
        recorder.leaf(start, end, "x", "bytes")

    assert [(0, 2), (6, 8), (9, 12)] == uncovered(recorder.finish(12))


def test_a_group_owns_nothing():
    """A group without leaves leaves its bytes unowned."""
    recorder = SpanRecorder()
    with recorder.group("page data"):
        pass

    assert [(0, 5)] == uncovered(recorder.finish(5))


def test_empty_leaves_are_dropped():
    """A range of no bytes owns nothing and is not recorded."""
    recorder = SpanRecorder()
    recorder.leaf(3, 3, "nothing", "bytes")

    assert [] == recorder.root.children


def test_spans_are_bounded():
    """A file of two bytes a field has many more bytes of spans: they are held to a limit."""
    recorder = SpanRecorder(2 * SPAN_BYTES)
    recorder.leaf(0, 1, "a", "u8")
    recorder.leaf(1, 2, "b", "u8")

    with pytest.raises(LimitExceeded, match="more spans"):
        recorder.leaf(2, 3, "c", "u8")

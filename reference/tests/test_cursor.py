"""Cursor: bounds, positions, spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes
from lanceref.core.errors import LanceError, LimitExceeded, OutOfRange, Truncated
from lanceref.core.spans import SpanRecorder
from lanceref.storage import BytesSource


def _cursor(data: bytes, base: int = 0, spans: SpanRecorder | None = None) -> Cursor:
    return Cursor(memoryview(data), base, Context("f", spans=spans))


def test_integers_are_little_endian():
    """01 00 is 1 as u16; the cursor moves by the width."""
    cursor = _cursor(bytes.fromhex("01 0200 03000000 0400000000000000"))

    assert (1, 2) == (cursor.u8("a", "L.x.y"), cursor.u16("b", "L.x.y"))
    assert (3, 4) == (cursor.u32("c", "L.x.y"), cursor.u64("d", "L.x.y"))
    assert 0 == cursor.remaining


def test_a_short_read_names_where_and_what():
    """Cutting past the window raises Truncated with absolute offset and the clause."""
    cursor = _cursor(b"\1\2\3", base=100)
    cursor.u8("a", "L.x.y")

    with pytest.raises(Truncated) as caught:
        cursor.u32("b", "L.x.z")

    assert ("L.x.z", 101) == (caught.value.clause, caught.value.offset)


def test_cuts_are_recorded_with_absolute_offsets():
    """Each cut is a leaf; a window and a skip own nothing by themselves."""
    spans = SpanRecorder()
    cursor = _cursor(bytes(12), base=50, spans=spans)
    cursor.u16("word", "L.x.y")
    inner = cursor.window(4, "inner", "L.x.y")
    inner.take(4, "payload", "L.x.y")
    cursor.skip(2, "unowned", "L.x.y")

    assert [("word", 50, 52), ("payload", 52, 56)] == [
        (leaf.name, leaf.start, leaf.end) for leaf in spans.root.leaves()
    ]


def test_an_array_is_checked_before_it_is_made():
    """A count of 2**40 items on 8 bytes is refused without sizing anything by it."""
    with pytest.raises(Truncated):
        _cursor(bytes(8)).array("<u8", 2**40, "offsets", "L.x.y")


def test_arrays_keep_their_type():
    """Two u32 from eight bytes."""
    array = _cursor(bytes.fromhex("01000000 02000000")).array("<u4", 2, "n", "L.x.y")

    assert np.array_equal(np.array([1, 2], np.uint32), array)


@given(st.binary(max_size=32), st.lists(st.integers(-2, 40), max_size=5))
def test_any_cut_is_a_value_or_a_lance_error(data, sizes):
    """Whatever sizes are asked for, only LanceError escapes, and positions stay inside."""
    cursor = _cursor(data)
    for size in sizes:
        try:
            assert size == len(cursor.take(size, "x", "L.x.y"))
        except LanceError:
            assert not 0 <= size <= cursor.remaining
    assert 0 <= cursor.position <= len(data)


def test_an_extent_outside_the_file_is_refused():
    """Position and size are held against the file before any read."""
    file = FileBytes(BytesSource(bytes(10)), Context("f"))

    for extent in (Extent(8, 3), Extent(2**63, 1), Extent(0, 11)):
        with pytest.raises(OutOfRange):
            file.cursor(extent, "buffer", "L.x.y")


def test_the_tail_is_read_once():
    """Extents inside the tail cost no further request."""
    source = BytesSource(bytes(range(100)))
    file = FileBytes(source, Context("f")).with_tail(40)
    first = file.cursor(Extent(70, 2), "a", "L.x.y")
    file.cursor(Extent(98, 2), "b", "L.x.y")

    assert bytes([70, 71]) == bytes(first.data)
    assert 1 == source.stats.read_iops


def test_near_extents_share_a_request_and_keep_their_order():
    """Extents in any order come back in that order; those far apart are read separately."""
    source = BytesSource(bytes(i % 251 for i in range(3 * MERGE_GAP_BYTES)))
    file = FileBytes(source, Context("f"))
    far = 2 * MERGE_GAP_BYTES + 100
    cursors = file.cursors([Extent(far, 2), Extent(5, 1), Extent(7, 2)], "x", "L.x.y")

    assert [bytes([far % 251, (far + 1) % 251]), b"\5", b"\7\10"] == [
        bytes(c.data) for c in cursors
    ]
    assert [far, 5, 7] == [cursor.offset for cursor in cursors]
    assert 2 == source.stats.read_iops


def test_a_longer_tail_reads_what_is_missing_only():
    """The first 40 bytes from the end are not read again for 60."""
    source = BytesSource(bytes(range(100)))
    file = FileBytes(source, Context("f")).with_tail(40).with_tail(60)

    assert bytes(range(40, 100)) == bytes(file.cursor(Extent(40, 60), "a", "L.x.y").data)
    assert (2, 60) == (source.stats.read_iops, source.stats.read_bytes)


@given(st.lists(st.tuples(st.integers(0, 6 * MERGE_GAP_BYTES), st.integers(0, 9)), max_size=8))
def test_gathered_extents_are_where_it_says(extents):
    """In any order, overlapping or not, with and without a tail."""
    data = bytes(i % 251 for i in range(7 * MERGE_GAP_BYTES))
    table = np.array(extents, np.int64).reshape(-1, 2)
    bare = FileBytes(BytesSource(data), Context("f"))
    for file in (bare, bare.with_tail(2 * MERGE_GAP_BYTES)):
        found, at = file.gather(table[:, 0], table[:, 1], "x", "L.x.y")
        cut = [found[a : a + size].tobytes() for a, (_, size) in zip(at.tolist(), extents)]

        assert [data[start : start + size] for start, size in extents] == cut


@pytest.mark.parametrize("extent", [(8, 3), (-1, 2), (2**62, 2**62), (3, -1)])
def test_gathered_extents_lie_inside_the_file(extent):
    """Those before it are not read either."""
    source = BytesSource(bytes(10))
    with pytest.raises(OutOfRange):
        FileBytes(source, Context("f")).gather(
            np.array([0, extent[0]]), np.array([1, extent[1]]), "x", "L.x.y"
        )
    assert 0 == source.stats.read_iops


class _Huge:
    """A file of a TiB, of which no large piece fits the memory."""

    path, size = "huge", 2**40

    def read(self, offset, size):
        if size > 2**20:
            raise MemoryError
        return memoryview(bytes(size))

    def read_many(self, offsets, sizes):
        return [self.read(*pair) for pair in zip(offsets, sizes, strict=True)]


@pytest.mark.parametrize(
    "read",
    [
        lambda file: file.whole("message", "L.x.y"),
        lambda file: file.with_tail(2**32),
        lambda file: file.cursor(Extent(0, 2**30), "page", "L.x.y"),
        lambda file: file.cursors([Extent(0, 2**30), Extent(2**31, 2**30)], "page", "L.x.y"),
    ],
    ids=["whole", "tail", "extent", "extents"],
)
def test_a_piece_that_does_not_fit_the_memory_is_refused(read):
    """The size of a sparse file costs its writer nothing."""
    with pytest.raises(LimitExceeded, match="fits the memory"):
        read(FileBytes(_Huge(), Context("f")))

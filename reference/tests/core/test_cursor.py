"""Cursor, context and spans: bounds, positions, owners of bytes, findings."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes, read_extents
from lanceref.core.errors import CorruptPage, LanceError, LimitExceeded, OutOfRange
from lanceref.core.limits import Limits
from lanceref.core.spans import SPAN_BYTES, SpanRecorder, uncovered
from lanceref.file.column_io import read_cursors
from lanceref.storage import BytesSource


def _cursor(data: bytes, base: int = 0, spans: SpanRecorder | None = None) -> Cursor:
    return Cursor(memoryview(data), base, Context("f", spans=spans))


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


def test_near_extents_share_a_request_and_keep_their_order():
    """Extents in any order come back in that order; those far apart are read separately."""
    source = BytesSource(bytes(i % 251 for i in range(3 * MERGE_GAP_BYTES)))
    file = FileBytes(source, Context("f"))
    far = 2 * MERGE_GAP_BYTES + 100
    cursors = read_cursors(file, [Extent(far, 2), Extent(5, 1), Extent(7, 2)], "x", "L.x.y")

    assert [bytes([far % 251, (far + 1) % 251]), b"\5", b"\7\10"] == [
        bytes(c.data) for c in cursors
    ]
    assert [far, 5, 7] == [cursor.offset for cursor in cursors]
    assert 2 == source.stats.read_iops


@given(st.lists(st.tuples(st.integers(0, 6 * MERGE_GAP_BYTES), st.integers(0, 9)), max_size=8))
def test_gathered_extents_are_where_it_says(extents):
    """In any order, overlapping or not, with and without a tail."""
    data = bytes(i % 251 for i in range(7 * MERGE_GAP_BYTES))
    table = np.array(extents, np.int64).reshape(-1, 2)
    bare = FileBytes(BytesSource(data), Context("f"))
    for file in (bare, bare.with_tail(2 * MERGE_GAP_BYTES)):
        found, at = read_extents(file, table[:, 0], table[:, 1], "x", "L.x.y")
        cut = [found[a : a + size].tobytes() for a, (_, size) in zip(at.tolist(), extents)]

        assert [data[start : start + size] for start, size in extents] == cut


@pytest.mark.parametrize("extent", [(8, 3), (-1, 2), (2**62, 2**62), (3, -1)])
def test_gathered_extents_lie_inside_the_file(extent):
    """Those before it are not read either."""
    source = BytesSource(bytes(10))
    with pytest.raises(OutOfRange):
        read_extents(
            FileBytes(source, Context("f")),
            np.array([0, extent[0]]),
            np.array([1, extent[1]]),
            "x",
            "L.x.y",
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
        lambda file: read_cursors(file, [Extent(0, 2**30), Extent(2**31, 2**30)], "page", "L.x.y"),
    ],
    ids=["whole", "tail", "extent", "extents"],
)
def test_a_piece_that_does_not_fit_the_memory_is_refused(read):
    """The size of a sparse file costs its writer nothing."""
    with pytest.raises(LimitExceeded, match="fits the memory"):
        read(FileBytes(_Huge(), Context("f")))


def _error(ctx: Context) -> CorruptPage:
    return CorruptPage("L.page.x", ctx.at(8, 2), found=1, wanted=2)


def test_refuse_is_recorded_when_validating():
    """With findings a refusal becomes one of them, complete, and parsing goes on."""
    ctx = Context("f", findings=[])
    ctx.refuse(_error(ctx))
    (finding,) = ctx.findings

    assert ("L.page.x", "must", "f", 8, 2, "1", "2") == astuple(finding)[:-1]


def test_a_piece_ends_at_its_error_and_the_next_one_runs():
    """When validating, an error inside a piece is a finding and what follows the piece runs."""
    ctx, reached = Context("f", findings=[]), []
    with ctx.piece():
        raise _error(ctx)
    reached.append("next piece")

    assert ["L.page.x"] == [finding.clause for finding in ctx.findings]
    assert ["next piece"] == reached


def test_a_piece_does_not_hide_bugs():
    """An error that is not about bytes passes through a piece even when validating."""
    ctx = Context("f", findings=[])

    with pytest.raises(IndexError), ctx.piece():
        raise IndexError


def test_findings_are_bounded_but_no_clause_is_lost():
    """After as many findings as the limits allow, the first of each clause is kept."""
    ctx = Context("f", findings=[], limits=Limits(findings=3))
    for clause in ["L.page.x"] * 5 + ["L.page.y"] * 2:
        ctx.lint(clause, ctx.at(0), found=1, wanted=2)

    assert ["L.page.x"] * 4 + ["L.page.y"] == [finding.clause for finding in ctx.findings]


def test_uncovered_lists_what_no_leaf_owns():
    """Gaps at the start, between leaves and at the end are found; overlaps are not gaps."""
    recorder = SpanRecorder()
    for start, end in ((2, 4), (3, 6), (8, 9)):
        recorder.leaf(start, end, "x", "bytes")

    assert [(0, 2), (6, 8), (9, 12)] == uncovered(recorder.finish(12))


def test_spans_are_bounded():
    """A file of two bytes a field has many more bytes of spans: they are held to a limit."""
    recorder = SpanRecorder(2 * SPAN_BYTES)
    recorder.leaf(0, 1, "a", "u8")
    recorder.leaf(1, 2, "b", "u8")

    for record, offset in (
        (lambda: recorder.leaf(2, 3, "c", "u8"), 2),
        (recorder.group("d").__enter__, 0),
    ):
        with pytest.raises(LimitExceeded, match="more spans") as caught:
            record()
        assert offset == caught.value.offset

"""Value columns: pages one after another."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage
from lanceref.core.spans import SpanRecorder
from lanceref.storage import BytesSource

from .building import (
    Column,
    Page,
    all_nulls,
    binary,
    flat,
    open_built,
    read_built,
    scanned,
    some_nulls,
    taken,
    words,
)


def test_a_take_reads_only_the_bytes_of_its_rows():
    """One row far from the others costs one request of its width."""
    source = BytesSource(bytes(80_000))
    page = Page(flat(64), 10_000, [bytes(80_000)])
    column = open_built(pa.int64(), [Column([page])], source=source)

    taken(column, 3, 9_000)

    assert (2, 16) == (source.stats.read_iops, source.stats.read_bytes)


def test_a_scan_of_a_large_page_comes_in_runs():
    """No more than about 4 MiB is decoded at a time."""
    column = open_built(pa.int64(), [Column([Page(flat(64), 1_200_000, [bytes(9_600_000)])])])

    sizes = [len(part) for part in column.scan(5, 1_200_000)]

    assert 3 == len(sizes)
    assert 1_199_995 == sum(sizes)


def test_pages_are_joined_in_order():
    """Rows of later pages follow those of earlier ones, in scans and takes."""
    pages = [Page(flat(8), 2, [b"\x01\x02"]), Page(flat(8), 0, [b""]), Page(flat(8), 1, [b"\x03"])]
    column = open_built(pa.int8(), [Column(pages)])

    assert [1, 2, 3] == scanned(column).to_pylist()
    assert [2, 3, 3] == taken(column, 1, 2, 2)


@pytest.mark.parametrize("encoding", [all_nulls(), some_nulls(flat(8, 1))])
def test_a_null_in_a_field_that_has_none_is_refused(encoding):
    """A field that is not nullable has no null rows."""
    buffers = [b"\x02", b"\x01\x02"] if encoding.nullable.HasField("some_nulls") else []

    with pytest.raises(CorruptPage, match=r"L\.array\.nullable\.field"):
        read_built(pa.field("c", pa.int8(), nullable=False), encoding, 2, *buffers)


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

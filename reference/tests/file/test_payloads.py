"""Payloads of blob columns."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import LimitExceeded, OutOfRange
from lanceref.core.limits import Limits
from lanceref.file.column_io import DESCRIPTOR, RUN_BYTES, extents, fetch, runs
from lanceref.storage import BytesSource

CTX = Context("data.lance", limits=Limits(expansion_bytes=100, expansion_factor=1))
FILE = FileBytes(BytesSource(b"0123456789"), CTX)


def _rows(*pairs: tuple[int, int]) -> pa.Array:
    return pa.array([{"position": p, "size": s} for p, s in pairs], DESCRIPTOR)


def test_payloads_in_any_order_and_overlapping_are_fetched() -> None:
    """Each descriptor gets its own bytes."""
    rows = _rows((7, 3), (0, 2), (1, 2), (4, 0))
    valid = np.array([True, True, True, False])

    assert fetch(FILE, rows, valid, "L.page.blob.payload", CTX.at(0)).to_pylist() == [
        *(b"789", b"01", b"12"),
        None,
    ]
    assert extents(rows) == [Extent(7, 3), Extent(0, 2), Extent(1, 2)]


def test_more_bytes_than_allowed_are_refused_before_they_are_read() -> None:
    """Many descriptors of the same bytes cannot expand beyond the limit."""
    with pytest.raises(LimitExceeded):
        fetch(FILE, _rows(*[(0, 10)] * 12), np.ones(12, bool), "L.page.blob.payload", CTX.at(0))
    with pytest.raises(OutOfRange):
        fetch(FILE, _rows((5, 6)), np.ones(1, bool), "L.page.blob.payload", CTX.at(0))


def test_runs_are_cut_by_payload_bytes() -> None:
    """A run ends where about RUN_BYTES come together, at a multiple of the group."""
    half = RUN_BYTES // 2
    rows = _rows(*[(0, half)] * 6)

    assert [len(run) for run in runs(rows)] == [1, 2, 2, 1]
    assert [len(run) for run in runs(rows, 3)] == [3, 3]

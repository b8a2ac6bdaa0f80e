"""Columns the oracle wrote, read back: every shape, in every version that has it."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.spans import SpanRecorder, uncovered

from .oracle_files import column, open_bytes, same, scanned, some_rows, write
from .shapes_sparse import SHAPES

pytestmark = pytest.mark.oracle

CASES = [
    pytest.param(name, version, id=f"{name} {version}")
    for name, make in SHAPES.items()
    for version in make().versions
]


@pytest.mark.parametrize(("name", "version"), CASES)
def test_what_the_oracle_wrote_reads_equal(name, version, tmp_path):
    """Whole scans, ranges of rows, and taken rows have the values and types that were written."""
    shape = SHAPES[name]()
    reader = column(open_bytes(write(shape, version, tmp_path / "c.lance")))
    expected, rows = shape.array, len(shape.array)

    assert rows == reader.num_rows
    assert same(expected, scanned(reader, 0, rows))
    for start, end in ((0, 1), (1, rows), (rows // 3, rows // 3 + 5), (rows - 1, rows)):
        part = scanned(reader, start, end)
        for chunk in part.chunks:
            chunk.validate(full=True)
        assert same(expected.slice(start, end - start), part)
    taken = some_rows(rows)
    assert same(expected.take(pa.array(taken)), reader.take(taken))
    assert 0 == len(reader.take(np.array([], dtype=np.int64)))


@pytest.mark.parametrize(("name", "version"), CASES)
def test_what_the_oracle_wrote_checks_clean_and_is_owned(name, version, tmp_path):
    """Checking finds nothing, and every byte of every page buffer has an owner."""
    spans, findings = SpanRecorder(), []
    data = write(SHAPES[name](), version, tmp_path / "c.lance")
    file = open_bytes(data, spans, findings)
    column(file).check()
    root = spans.finish(len(data))
    gaps = uncovered(root)
    owned = [
        extent
        for physical in file.columns
        for page in physical.pages
        for extent in page.extents
        if extent.size and any(a < extent.end and b > extent.offset for a, b in gaps)
    ]

    assert [] == findings
    assert [] == owned

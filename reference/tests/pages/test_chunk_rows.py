"""Rows of chunks: what a scan and a take of them read."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.context import Context
from lanceref.file.column_reader import RUN_BYTES
from lanceref.file.data_file import open_file
from lanceref.storage import BytesSource

from .oracle_files import column, open_bytes, write
from .shapes import Shape

pytestmark = pytest.mark.oracle

WIDE = pa.array(np.random.default_rng(5).integers(-(2**62), 2**62, 1_200_000))


def test_scan_yields_runs_that_fit_the_cache(tmp_path):
    """Consecutive arrays of about RUN_BYTES, none much larger."""
    reader = column(open_bytes(write(Shape(WIDE), "2.1", tmp_path / "c.lance")))
    sizes = [array.nbytes for array in reader.scan(0, len(WIDE))]

    assert len(sizes) > 2
    assert max(sizes) <= RUN_BYTES
    assert min(sizes[:-1]) > RUN_BYTES // 2


def test_take_from_lists_reads_the_chunks_of_the_rows(tmp_path):
    """The repetition index leads to the chunks of a row; the rest of the page is not read."""
    lists = pa.array(
        [list(range(i, i + 300)) for i in range(0, 2**22, 2**12)], pa.list_(pa.int64())
    )
    source = BytesSource(write(Shape(lists), "2.1", tmp_path / "c.lance"))
    reader = column(open_file(source, Context("c.lance")))
    source.stats.incremental()
    taken, read = reader.take(np.array([3, 900])), source.stats.incremental()

    assert lists.take(pa.array([3, 900])).equals(taken)
    assert read.read_bytes < source.size // 8

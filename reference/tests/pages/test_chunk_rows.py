"""Rows of chunks: what a scan and a take of them read."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.file.column_io import RUN_BYTES
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


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_take_reads_the_chunk_table_and_the_chunks_of_the_rows(version, tmp_path):
    """Two far rows: one request for the table, one for each chunk; again, only the chunks."""
    source = BytesSource(write(Shape(WIDE), version, tmp_path / "c.lance"))
    reader = column(open_file(source, Context("c.lance")))
    rows = np.array([10, 500_000])
    source.stats.incremental()
    taken, first = reader.take(rows), source.stats.incremental()
    reader.take(rows)
    again = source.stats.incremental()

    assert WIDE.take(pa.array(rows)).equals(taken)
    assert (3, 2) == (first.read_iops, again.read_iops)
    assert again.read_bytes < 2 * 4200


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_pages_of_lists_are_joined(version, tmp_path):
    """Lists of 0 to 10 items, some null, in pages of 64 Ki items: fewer arrays than pages."""
    random = np.random.default_rng(3)
    sizes = random.integers(0, 11, 100_000)
    offsets = pa.array(np.append(0, np.cumsum(sizes)), pa.int32())
    items = pa.array(random.integers(0, 10**6, int(sizes.sum())), pa.int32())
    nulls = pa.array((sizes == 0) & (random.random(len(sizes)) < 0.5))
    lists = pa.ListArray.from_arrays(offsets, items, mask=nulls)
    data = write(Shape(lists), version, tmp_path / "c.lance")
    opened = open_file(BytesSource(data), Context("c.lance"))
    parts = list(column(open_bytes(data)).scan(0, len(lists)))

    assert lists.equals(pa.concat_arrays(parts))
    assert len(parts) < len(opened.columns[0].pages)


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
@pytest.mark.parametrize("kind", ["dictionary", "fsst", "lists", "nulls"])
def test_rows_of_many_pages_of_the_oracle(kind, version, tmp_path):
    """Strings with few and with many distinct values, lists and nulls over several pages."""
    rng, count = np.random.default_rng(3), 900_000
    numbers = pa.array(rng.integers(0, 10**6, count), mask=rng.random(count) < 0.2)
    array = {
        "dictionary": pa.array([f"kind {i}" for i in range(50)]).take(
            pa.array(rng.integers(0, 50, count))
        ),
        "fsst": pa.array([f"user/{i}@example.com" for i in range(count)]),
        "lists": pa.ListArray.from_arrays(np.arange(0, count + 1, 3, dtype=np.int32), numbers),
        "nulls": numbers,
    }[kind]
    reader = column(open_bytes(write(Shape(array), version, tmp_path / "c.lance")))
    for size in (1, 40, 5000):
        rows = np.sort(rng.choice(len(array), size, replace=False))

        assert array.take(pa.array(rows)).equals(reader.take(rows))

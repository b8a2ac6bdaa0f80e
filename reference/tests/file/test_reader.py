"""The file reader: rows, ranges, batches, requests, and what it says of a file."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import LimitExceeded, NotFound, OutOfRange
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.data_file.data_file import open_file
from lanceref.file import column_io
from lanceref.file.column_io import Recutter
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from .files import DESCRIPTOR as FILE_DESCRIPTOR
from .files import WORKED_FILE
from .in_memory import column, opened, scanned, taken, written

ROWS = pa.table({"a": pa.array([1, None, 3], pa.int32())})


def _reader(**options) -> LanceFileReader:
    return LanceFileReader("f.lance", source=BytesSource(WORKED_FILE, "f.lance"), **options)


def test_the_worked_file_is_read_whole_in_ranges_and_by_rows(tmp_path):
    """Batches have the size asked for; wrong rows, ranges, columns and files are refused."""
    reader = _reader()
    assert ROWS.equals(reader.read_all().to_table())
    assert ROWS.slice(1, 2).equals(reader.read_range(1, 2).to_table())
    assert ROWS.take([0, 2, 2]).equals(reader.take_rows([0, 2, 2]).to_table())
    assert [2, 1] == [len(batch) for batch in reader.read_all(batch_size=2).to_batches()]
    for rows in ([2, 1], [3]):
        with pytest.raises(ValueError, match="Indices"):
            reader.take_rows(rows)
    with pytest.raises(ValueError, match="rows"):
        reader.read_range(2, 2)
    for read in (lambda: reader.take_rows([-1]), lambda: reader.read_range(-1, 1)):
        with pytest.raises(OverflowError):
            read()
    with pytest.raises(NotFound) as caught:
        _reader(columns=["b"])
    assert isinstance(caught.value, OSError)
    with pytest.raises(NotFound):
        LanceFileReader(tmp_path / "none.lance")


def test_metadata_and_global_buffers_are_those_of_the_file():
    """Rows, the words of the version, pages, sizes; buffer 0 is the descriptor."""
    metadata = _reader().metadata()
    buffers = [(one.position, one.size) for one in metadata.columns[0].pages[0].buffers]

    assert (3, 0, 3) == (metadata.num_rows, metadata.major_version, metadata.minor_version)
    sizes = metadata.num_data_bytes, metadata.num_column_metadata_bytes
    assert (128, 133, 31) == (*sizes, metadata.num_global_buffer_bytes)
    assert [(0, 1), (64, 12)] == buffers
    assert 13 == _reader().file_statistics().columns[0].size_bytes
    assert FILE_DESCRIPTOR == _reader().read_global_buffer(0)
    with pytest.raises(NotFound):
        _reader().read_global_buffer(1)


class _Column:
    """A column whose scan is cut at given rows."""

    def __init__(self, array: pa.Array, cuts: list[int]) -> None:
        self.array, self.cuts, self.type = array, cuts, array.type

    def scan(self, start, end):
        """Yield the rows start..end in pieces."""
        for a, b in pairwise(sorted({start, end, *(c for c in self.cuts if start < c < end)})):
            yield self.array.slice(a, b - a)


@given(st.data(), st.integers(1, 60), st.integers(1, 20))
def test_batches_are_the_rows_cut_evenly(data, rows, size):
    """However two columns are cut: batches of one size, or runs of whole batches."""
    cuts = st.lists(st.integers(0, rows), max_size=6)
    one = _Column(pa.array(range(rows)), data.draw(cuts))
    two = _Column(pa.array([str(i) for i in range(rows)]), data.draw(cuts))
    start = data.draw(st.integers(0, rows - 1))
    for uncut in (False, True):
        made = _cut([one, two], start, rows, size, uncut=uncut)
        assert list(range(start, rows)) == [v for a, _ in made for v in a.to_pylist()]
        assert [str(i) for i in range(start, rows)] == [v for _, b in made for v in b.to_pylist()]
        assert all(len(a) == len(b) and len(a) % size == 0 for a, b in made[:-1])
        assert uncut or {size} >= {len(a) for a, _ in made[:-1]}
        assert [[], []] == _cut([], 0, 5, 3, uncut=uncut)


def _cut(columns, start, end, size, *, uncut):
    """Return the arrays of each batch."""
    scans = [one.scan(start, end) for one in columns]
    return [arrays for _, arrays in column_io.batches(scans, start, end, size, uncut=uncut)]


def test_whole_batches_reach_to_cuts_and_nested_vectors_are_copies():
    """A cut at 10 of batches of three; pyarrow takes wrong items from slices of nested vectors."""
    nested = pa.array([[[1]], [[2]], [[3]]], pa.list_(pa.list_(pa.int8(), 1), 1))
    recutter = Recutter(iter([nested]))
    recutter.next(1)

    cut = _Column(pa.array(range(20)), [10])
    assert [9, 3, 6, 2] == [len(a) for (a,) in _cut([cut], 0, 20, 3, uncut=True)]
    assert 0 == recutter.next(2).offset


def test_arrays_that_cannot_be_joined_are_a_limit(monkeypatch):
    """Two int8 dictionaries of 100 values; more bytes than one array may hold; missing rows."""
    keys = pa.array(range(100), pa.int8())
    parts = [
        pa.DictionaryArray.from_arrays(keys, pa.array([f"{part}-{i}" for i in range(100)]))
        for part in range(2)
    ]
    with pytest.raises(LimitExceeded):
        Recutter(iter(parts)).next(200)
    with pytest.raises(OutOfRange, match="ends 1 rows early"):
        Recutter(iter([pa.array([1, 2])])).next(3)
    for most, fits in [(40, 5), (39, 4), (32, 4), (31, 2), (1, 2)]:
        monkeypatch.setattr(column_io, "MOST_BYTES", most)
        recutter = Recutter(_Column(pa.array(range(6)), [2, 4]).scan(0, 6))
        assert fits == recutter.fitting(5)
        assert list(range(fits)) == recutter.next(fits).to_pylist()
    assert 3 == Recutter(iter([pa.array(range(4))])).fitting(3)


WIDE = pa.array(np.random.default_rng(5).integers(-(2**62), 2**62, 1_200_000))
SMALL = pa.array(np.arange(1_200_000) % 251)


@pytest.fixture(scope="module")
def large():
    """Files of many numbers: wide in 2.1 and 2.2, small, and lists."""
    lists = pa.array([list(range(i, i + 300)) for i in range(0, 2**22, 2**12)])
    return {
        "wide": (WIDE, written(pa.table({"c": WIDE}), "2.1")),
        "planar": (WIDE, written(pa.table({"c": WIDE}), "2.3")),
        "small": (SMALL, written(pa.table({"c": SMALL}), "2.1")),
        "lists": (lists, written(pa.table({"c": lists}), "2.2")),
    }


@pytest.mark.parametrize("name", ["wide", "planar", "small", "lists"])
def test_scans_come_in_runs_that_fit_the_cache(name, large):
    """Arrays of about RUN_BYTES one after another, none much larger."""
    array, data = large[name]
    sizes = [part.nbytes for part in column(data).scan(0, len(array))]

    assert len(sizes) > (0 if name == "lists" else 2)
    assert max(sizes) <= RUN_BYTES * 1.1
    assert array.slice(1000, 5).equals(scanned(column(data), 1000, 1005).combine_chunks())


@pytest.mark.parametrize(
    ("name", "rows", "first", "again"),
    [
        ("wide", [10, 500_000], 3, 2),
        ("planar", [10, 500_000], 3, 2),
        ("lists", [3, 900], None, None),
    ],
)
def test_takes_read_the_chunks_of_their_rows(name, rows, first, again, large):
    """Two far rows: one request for the table, one for each chunk; again, only the chunks."""
    array, data = large[name]
    source = BytesSource(data)
    reader = column(open_file(source, Context("f")))
    source.stats.incremental()
    found, one = taken(reader, rows), source.stats.incremental()
    taken(reader, rows)
    other = source.stats.incremental()

    assert array.take(pa.array(rows)).equals(found)
    assert other.read_bytes < source.size // 8
    assert first in (None, one.read_iops)
    assert again in (None, other.read_iops)


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_pages_that_follow_each_other_are_joined(version):
    """Lists over many pages come in fewer arrays than pages, and any rows of them are read."""
    random = np.random.default_rng(3)
    sizes = random.integers(0, 11, 60_000)
    offsets = pa.array(np.append(0, np.cumsum(sizes)), pa.int32())
    items = pa.array(random.integers(0, 10**6, int(sizes.sum())), pa.int32())
    nulls = pa.array((sizes == 0) & (random.random(len(sizes)) < 0.5))
    lists = pa.ListArray.from_arrays(offsets, items, mask=nulls)
    file = opened(written(pa.table({"c": lists}), version, cache_bytes=100_000))
    reader = column(file)
    parts = list(reader.scan(0, len(lists)))
    rows = np.sort(random.choice(len(lists), 500, replace=False))

    assert lists.equals(pa.concat_arrays(parts))
    assert len(parts) < len(file.columns[0].pages)
    assert lists.take(pa.array(rows)).equals(taken(reader, rows))

"""BITMAP: of every value its rows."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.scalar.bitmap import Bitmap, entries

from ..tables import asked, assert_same, ids, index_reads, scanned, write
from ..values import columns, conditions

COLUMNS = columns(seed=2)


def test_a_worked_example(tmp_path):
    """Keys rise, null first; the row with null has a set of its own."""
    dataset = write(pa.table({"s": ["b", None, "a", "b"]}), tmp_path)
    dataset.create_scalar_index("s", "BITMAP")
    (segment,) = dataset._snapshot.indices.segments
    index = Bitmap(segment)
    assert index.keys.to_pylist() == [None, "a", "b"]
    assert index.statistics() == {"num_bitmaps": 3}
    metadata = segment.file("bitmap_page_lookup.lance").metadata
    assert metadata == {"lance:index_stats": '{"num_bitmaps":3}'}
    values, keys = entries(segment)
    assert values.to_pylist() == [None, "a", "b", "b"]
    assert keys.tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_every_type_is_found_as_a_scan_finds_it(tmp_path, name):
    """With rows deleted and rows added afterwards."""
    dataset = write(pa.table({name: COLUMNS[name]}), tmp_path, max_rows_per_file=120)
    dataset.create_scalar_index(name, "BITMAP")
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(pa.table({name: COLUMNS[name].slice(0, 20)}))
    assert_same(dataset, conditions(name, COLUMNS[name]))


@pytest.mark.oracle
def test_both_answer_from_the_files_of_the_other(tmp_path):
    """Every type, both directions."""
    import lance

    table = pa.table(COLUMNS)
    for writer, reader in ((lance, pylanceref), (pylanceref, lance)):
        path = str(tmp_path / writer.__name__)
        lance.write_dataset(table, path, max_rows_per_file=120)
        written = writer.dataset(path)
        for name in COLUMNS:
            written.create_scalar_index(name, "BITMAP")
        read, theirs = reader.dataset(path), lance.dataset(path)
        for name, values in COLUMNS.items():
            asking = conditions(name, values)
            for condition, found in zip(asking, scanned(theirs, asking), strict=True):
                assert reader is lance or asked(read, condition), condition
                assert sorted(ids(read, condition)) == found, condition


def test_only_the_sets_asked_for_are_read(tmp_path):
    """Keys are read, of the sets one."""
    words = pa.array([f"{n % 1000:050d}" for n in range(100_000)])
    dataset = write(pa.table({"s": words}), tmp_path)
    everything = index_reads(dataset, f"s || '' = '{5:050d}'")
    dataset.create_scalar_index("s", "BITMAP")
    assert index_reads(dataset, f"s = '{5:050d}'") * 4 < everything
    (tmp_path / "t" / "data").rename(tmp_path / "t" / "gone")
    assert pylanceref.dataset(dataset.uri).count_rows(f"s = '{5:050d}'") == 100


def test_stale_ids_of_updated_rows_are_not_found(tmp_path):
    """Sets are by row id where ids are stable: the row counts where it is now."""
    dataset = write(pa.table({"i": range(10)}), tmp_path, enable_stable_row_ids=True)
    dataset.create_scalar_index("i", "BITMAP")
    dataset.update({"i": "100"}, where="i = 3")
    opened = pylanceref.dataset(dataset.uri)
    assert [ids(opened, f"i = {one}") for one in (3, 5, 100)] == [[], [5], [3]]

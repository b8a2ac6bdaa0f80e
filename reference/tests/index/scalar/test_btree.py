"""BTREE: values in order, cut into pages."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.index.scalar.btree import read_entries
from pylanceref.indices import IndexConfig

from ..tables import asked, assert_same, ids, index_reads, scanned, write
from ..values import columns, conditions

COLUMNS = columns()
FROZEN = Path(__file__).parents[4] / "fixtures" / "index" / "any"


def lookup(dataset):
    """Return the rows of the page table."""
    (segment,) = dataset._snapshot.indices.segments
    file = segment.file("page_lookup.lance")
    return {name: file.read(name).to_pylist() for name in ("min", "max", "null_count", "page_idx")}


def test_a_worked_example(tmp_path):
    """Seven values in pages of four, as the chapter shows them."""
    dataset = write(pa.table({"i": [5, None, 2, 1, 3, None, 2]}), tmp_path)
    dataset.create_scalar_index("i", IndexConfig("btree", {"zone_size": 4}))
    (segment,) = dataset._snapshot.indices.segments
    values, keys = read_entries(segment)
    assert values.to_pylist() == [None, None, 1, 2, 2, 3, 5]
    assert keys.tolist() == [1, 5, 3, 2, 6, 4, 0]
    assert lookup(dataset) == {
        "min": [None, 2],
        "max": [2, 5],
        "null_count": [2, 0],
        "page_idx": [0, 1],
    }
    assert ids(dataset, "i = 2") == [2, 6]
    assert ids(dataset, "i is null") == [1, 5]


@pytest.mark.parametrize("rows", [None, 10])
@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_every_type_is_found_as_a_scan_finds_it(tmp_path, name, rows):
    """In one page and in many, with rows deleted and rows added afterwards."""
    dataset = write(pa.table({name: COLUMNS[name]}), tmp_path, max_rows_per_file=120)
    parameters = {} if rows is None else {"zone_size": rows}
    dataset.create_scalar_index(name, IndexConfig("btree", parameters))
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(pa.table({name: COLUMNS[name].slice(0, 20)}))
    assert_same(dataset, conditions(name, COLUMNS[name]))


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0", "2.1", "2.2"])
def test_both_answer_from_the_files_of_the_other(tmp_path, version):
    """Every type, both directions."""
    import lance

    table = pa.table({k: v for k, v in COLUMNS.items() if version != "0.1" or k != "float16"})
    for writer, reader in ((lance, pylanceref), (pylanceref, lance)):
        path = str(tmp_path / writer.__name__)
        lance.write_dataset(table, path, max_rows_per_file=120, data_storage_version=version)
        written = writer.dataset(path)
        for name in table.column_names:
            written.create_scalar_index(name, "BTREE")
        read, theirs = reader.dataset(path), lance.dataset(path)
        for name in table.column_names:
            asking = conditions(name, COLUMNS[name])
            for condition, found in zip(asking, scanned(theirs, asking), strict=True):
                assert reader is lance or asked(read, condition), condition
                assert sorted(ids(read, condition)) == found, condition


def test_only_pages_that_may_hold_the_value_are_read(tmp_path):
    """A point costs a part of what a scan costs, and the data is not read."""
    dataset = write(pa.table({"i": pa.array(range(100_000))}), tmp_path)
    everything = index_reads(dataset, "i + 0 = 5")
    dataset.create_scalar_index("i", "BTREE")
    assert index_reads(dataset, "i = 5") * 4 < everything
    (tmp_path / "t" / "data").rename(tmp_path / "t" / "gone")
    assert pylanceref.dataset(dataset.uri).count_rows("i = 5") == 1


def test_an_index_without_training_covers_nothing(tmp_path):
    """Its files have no rows, and every row is scanned."""
    dataset = write(pa.table({"i": [1, 2]}), tmp_path)
    dataset.create_scalar_index("i", "BTREE", train=False)
    assert lookup(dataset)["min"] == []
    assert ids(dataset, "i = 2") == [1]
    assert dataset.index_statistics("i_idx")["num_unindexed_rows"] == 2


def test_what_cannot_be_built(tmp_path):
    """Columns without an order, pages without rows, names that are taken."""
    dataset = write(pa.table({"i": [1], "l": [[1]]}), tmp_path)
    with pytest.raises(TypeError):
        dataset.create_scalar_index("l", "BTREE")
    with pytest.raises(OperationRefused):
        dataset.create_scalar_index("i", IndexConfig("btree", {"zone_size": 0}))
    dataset.create_scalar_index("i", "BTREE", name="x")
    with pytest.raises(IndexRefused):
        dataset.create_scalar_index("i", "BTREE", name="x", replace=False)


def test_keys_are_addresses_under_stable_row_ids(tmp_path):
    """A moved row is found where it is now, by its new value and not by the old one."""
    table = pa.table({"i": range(10)})
    dataset = write(table, tmp_path, enable_stable_row_ids=True)
    dataset.create_scalar_index("i", "BTREE")
    assert dataset._snapshot.manifest.indices[0].index_version == 1
    dataset.update({"i": "100"}, where="i = 3")
    dataset.update({"i": "i"}, where="i = 4")
    opened = pylanceref.dataset(dataset.uri)
    assert [ids(opened, f"i = {one}") for one in (3, 4, 100)] == [[], [4], [3]]


def test_keys_under_their_early_name_are_kept_in_memory():
    """An index of 0.33.0 that has been warmed up finds the same rows."""
    dataset = pylanceref.dataset(materialised(FROZEN / "btree/0-33-0-row-ids/dataset"))
    (name,) = [one.name for one in dataset._snapshot.indices.known]
    found = ids(dataset, "c >= 3 AND c < 9")
    warm = pylanceref.dataset(dataset.uri)
    warm.prewarm_index(name)
    assert found == ids(warm, "c >= 3 AND c < 9")
    assert warm.index_cache_hit_rate() > 0

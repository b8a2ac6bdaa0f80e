"""The indices of a version: which are known, and what happens to those that are not."""

import shutil
from pathlib import Path
from uuid import UUID

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.inspection import validate

from .tables import ids, write

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.mark.parametrize("anew", [False, True])
def test_an_index_of_an_early_release_is_brought_up_to_date(tmp_path, anew):
    """Where it is not compacted first: then it covers nothing, and is built over all rows too."""
    shutil.copytree(
        materialised(FIXTURES / "table/any/backward/0-20-0-indexed/dataset"), tmp_path / "t"
    )
    dataset = pylanceref.dataset(tmp_path / "t")
    (index,) = dataset._snapshot.indices.known
    (path,) = [name for name, held in dataset._snapshot.indices.by_path.items() if index in held]
    (stated,) = dataset.stats.index_stats(index.name)["segments"]
    dataset.prewarm_index(index.name)
    pylanceref.write_dataset(dataset.to_table(), tmp_path / "t", mode="append")
    dataset = pylanceref.dataset(tmp_path / "t")
    if anew:
        dataset.optimize.compact_files()
    dataset.optimize.optimize_indices()
    wanted = dataset.to_table(filter=f"{path} is not null", use_scalar_index=False)
    after = pylanceref.dataset(tmp_path / "t")
    (index,) = after._snapshot.indices.known

    assert stated == {}
    assert [one.id for one in after._snapshot.manifest.fragments] == list(index.segments[0].covers)
    assert not index.is_early(index.segments[0])
    assert wanted.equals(after.to_table(filter=f"{path} is not null"))
    assert [
        one for one in lanceref.validate(tmp_path / "t", deep=True) if "must" in one.severity
    ] == []


FROZEN = Path(__file__).parents[3] / "fixtures" / "index" / "any"


@pytest.mark.parametrize(
    "case", ["zonemap/4-0-1-nulls", "zonemap/4-0-1-values", "bloomfilter/4-0-1-nulls"]
)
@pytest.mark.parametrize("change", ["optimize", "compact"])
def test_segments_without_sets_of_nulls_are_continued(tmp_path, case, change):
    """Those of 4.0.1, brought up to date or rewritten, leave no row out and are found whole."""
    shutil.copytree(materialised(FROZEN / case / "dataset"), tmp_path / "t")
    dataset = pylanceref.dataset(tmp_path / "t")
    if change == "optimize":
        dataset.optimize.optimize_indices()
    else:
        dataset.optimize.compact_files(target_rows_per_fragment=100)
    for condition in ("c = 5", "c IS NULL", "c IS NOT NULL", "c = 3 OR c IS NULL"):
        found = dataset.to_table(filter=condition)
        assert found == dataset.to_table(filter=condition, use_scalar_index=False)
        assert len(found)
    assert [] == [one.clause for one in lanceref.validate(dataset.uri, deep=True)]


@pytest.mark.parametrize("kind", ["ZONEMAP", "BLOOMFILTER"])
def test_a_fragment_without_zones_is_scanned_and_reported(tmp_path, kind):
    """Early releases said of rows that they moved that the zones of the old places cover them."""
    dataset = pylanceref.write_dataset(pa.table({"i": [1, None, 3]}), tmp_path / "t")
    dataset.create_scalar_index("i", kind, name="known")
    (entry,) = dataset._snapshot.manifest.indices
    dataset.insert(pa.table({"i": [3, None]}))
    dataset.drop_index("known")
    details = entry.index_details.type_url, entry.index_details.value
    uuid = str(UUID(bytes=entry.uuid.uuid))
    stale = pylanceref.Index(uuid, "i_idx", [0], 1, {0, 1}, 0, index_details=details)
    made = pylanceref.LanceOperation.CreateIndex([stale], [])
    dataset = pylanceref.LanceDataset.commit(dataset.uri, made, read_version=dataset.version)

    assert [3, 3] == dataset.to_table(filter="i = 3")["i"].to_pylist()
    assert 2 == dataset.count_rows("i is null")
    assert [1, 3, 3] == dataset.to_table(filter="i is not null")["i"].to_pylist()
    assert "L.index.segment.complete" in {one.clause for one in validate(dataset.uri, deep=True)}


@pytest.mark.parametrize("kind", ["ZONEMAP", "BLOOMFILTER"])
def test_rows_wrongly_told_to_be_null_are_reported(tmp_path, kind):
    """A writer that replaces a null in place must take the fragment from the index."""
    rows = pa.table({"k": [1, 2], "g": pa.array([1, None], pa.int64())})
    dataset = pylanceref.write_dataset(rows, tmp_path / "t")
    dataset.create_scalar_index("g", kind)
    new = pa.table({"k": [2], "g": [20]})
    updated, _ = dataset.get_fragments()[0].update_columns(new, left_on="k")
    operation = pylanceref.LanceOperation.Update(updated_fragments=[updated])
    pylanceref.LanceDataset.commit(dataset.uri, operation, read_version=dataset.version)

    assert ["L.index.zones.nulls"] == [one.clause for one in validate(dataset.uri, deep=True)]


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

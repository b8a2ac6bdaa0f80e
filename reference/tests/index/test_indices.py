"""The indices of a version."""

from __future__ import annotations

import shutil
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.core.errors import OutOfRange
from lanceref.index.indices import paths_of
from lanceref.index.row_set import RowSet, encode_row_set
from lanceref.transactions.manifest_builder import Staged

from .rewriting import rewritten
from .tables import asked, ids, write

FIXTURES = Path(__file__).parents[3] / "fixtures"

TABLE = pa.table({"i": range(100), "a": [{"b": n % 7} for n in range(100)]})


@pytest.fixture
def dataset(tmp_path):
    """A table with an index on each column."""
    written = write(TABLE, tmp_path, max_rows_per_file=60)
    written.create_scalar_index("i", "BTREE")
    written.create_scalar_index("a.b", "BITMAP")
    return written


def changed(dataset, change) -> pylanceref.LanceDataset:
    """Commit other entries in place of those there are."""
    entries = [
        type(one).FromString(one.SerializeToString()) for one in dataset._snapshot.manifest.indices
    ]
    transaction = dataset._new_transaction()
    transaction.create_index.removed_indices.extend(entries)
    for entry in entries:
        entry.uuid.uuid = entry.uuid.uuid
        change(entry)
    transaction.create_index.new_indices.extend(entries)
    dataset._commit(Staged(transaction))
    return pylanceref.dataset(dataset.uri)


def test_indices_are_found_by_the_path_of_their_field(dataset):
    """Parts of structs have a dot."""
    assert set(dataset._snapshot.indices.by_path) == {"i", "a.b"}
    assert ids(dataset, "a.b = 3") == ids(dataset, "a.b = 3", use_scalar_index=False)


def test_paths_end_at_lists(tmp_path):
    """Only structs have parts."""
    items = pa.list_(pa.struct([("c", pa.int8())]))
    schema = pylanceref.write_dataset(
        pa.table({"a": pa.array([{"b": [{"c": 1}]}], pa.struct([("b", items)]))}), tmp_path / "p"
    )._snapshot.manifest.schema
    assert set(paths_of(schema).values()) == {"a", "a.b"}


def test_type_urls_are_compared_without_case(dataset):
    """Upper case is the same type."""

    def shout(entry):
        entry.index_details.type_url = entry.index_details.type_url.upper()

    assert asked(changed(dataset, shout), "i = 5")


def unknown_type(entry):
    """Name a type that nobody knows."""
    entry.index_details.type_url = "/lance.table.OtherIndexDetails"


def newer_version(entry):
    """Name a version that nobody knows."""
    entry.index_version = 99


@pytest.mark.parametrize("change", [unknown_type, newer_version])
def test_what_is_not_known_is_scanned(dataset, change):
    """Same rows, and no index is asked."""
    other = changed(dataset, change)
    assert not asked(other, "i = 5")
    assert ids(other, "i = 5") == [5]


def test_fragments_that_are_not_covered_are_scanned(dataset):
    """Rows added later are found as well, those of a fragment that is gone are not."""
    pylanceref.write_dataset(TABLE.slice(5, 1), dataset.uri, mode="append")
    other = pylanceref.dataset(dataset.uri)
    assert ids(other, "i = 5") == [5, 2 << 32]
    other.delete("i < 60")
    assert ids(other, "i = 5 or i = 70") == [1 << 32 | 10]


@pytest.mark.parametrize(("fragment", "refused"), [(1, False), (2, True)])
def test_rows_of_fragments_that_never_were_are_refused(tmp_path, fragment, refused):
    """Those of another fragment are only not found."""
    dataset = write(pa.table({"i": range(8)}), tmp_path, max_rows_per_file=4)
    dataset.create_scalar_index("i", "BITMAP")
    (segment,) = dataset._snapshot.indices.segments
    file = segment.file("bitmap_page_lookup.lance")
    own = file.read("bitmaps").to_pylist()
    own[2] = encode_row_set(RowSet(np.array([fragment << 32 | 9], np.uint64)))
    rewritten(segment, "bitmap_page_lookup.lance", {"bitmaps": pa.array(own, pa.binary())})
    assert ids(dataset, "i = 1") == [1]
    if refused:
        with pytest.raises(OutOfRange, match="fragment 2") as caught:
            ids(dataset, "i = 2")
        assert caught.value.clause == "L.index.rows.fragment"
    else:
        assert ids(dataset, "i = 2") == []


def test_files_of_early_releases_are_scanned():
    """A table of 0.20.0 whose index files are of 0.1: same rows, and nothing is found wrong."""
    path = materialised(FIXTURES / "table/any/backward/0-20-0-indexed/dataset")
    opened = pylanceref.dataset(path)
    (index,) = opened._snapshot.indices.known
    (column,) = [name for name, held in opened._snapshot.indices.by_path.items() if index in held]
    found = opened.to_table(filter=f"{column} is not null")
    assert found == opened.to_table(filter=f"{column} is not null", use_scalar_index=False)
    assert [one for one in lanceref.validate(path, deep=True) if one.severity == "must"] == []


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


def test_an_entry_that_is_listed_again_is_asked_once(dataset):
    """It has the same files."""
    entries = dataset._snapshot.manifest.indices
    indices = dataset._snapshot.indices.of([*entries, *entries])

    assert [1, 1] == [len(index.segments) for index in indices.known]


@pytest.mark.parametrize("created", [2**63 + 1, 9_069_393_600_000_000])
def test_a_time_that_is_none_is_not_shown(dataset, created):
    """Beyond the year 9999."""

    def later(entry):
        entry.created_at = created

    found = changed(dataset, later).describe_indices()
    assert {None} == {one.created_at for index in found for one in index.segments}

"""Zones of rows."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import UUID

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.core.errors import FormatError
from lanceref.index.index_type import Spans
from lanceref.index.scalar.zonemap import cut_zones, kept_zones, read_nulls, read_spans
from lanceref.index.training import Training
from lanceref.operations.index_build import indexed_field
from lanceref.validate import validate

from ..tables import write

FROZEN = Path(__file__).parents[4] / "fixtures" / "index" / "any"


def zones(dataset, rows: int) -> list[tuple[int, int, int]]:
    """Return the zones of column `i`."""
    field, _ = indexed_field(dataset._snapshot.manifest.schema, "i")
    training = Training(field, dataset._snapshot.fragments)
    return [(one.fragment_id, one.start, one.length) for one in cut_zones(training, rows)]


@pytest.mark.parametrize(
    ("rows", "deleted", "size", "expected"),
    [
        (8, (0, 3), 2, [(0, 1, 2), (0, 4, 2), (0, 6, 2)]),
        (10, (4, 5, 9), 3, [(0, 0, 3), (0, 3, 5), (0, 8, 1)]),
        (4, (), 9, [(0, 0, 4)]),
    ],
)
def test_worked_examples(tmp_path, rows, deleted, size, expected):
    """Zones are cut over live rows; deleted ones inside count in the length."""
    dataset = write(pa.table({"i": range(rows)}), tmp_path)
    if deleted:
        dataset.delete(f"i in ({', '.join(map(str, deleted))})")
    assert zones(dataset, size) == expected


def test_no_zone_crosses_a_fragment(tmp_path):
    """Each begins its own."""
    dataset = write(pa.table({"i": range(5)}), tmp_path, max_rows_per_file=3)
    assert zones(dataset, 2) == [(0, 0, 2), (0, 2, 1), (1, 0, 2)]


def test_zones_are_kept_by_their_first_row():
    """Where it is gone the zone is."""
    spans = Spans(np.array([0, 1]), np.array([5, 0]), np.array([2, 2]))
    kept = kept_zones(spans, lambda keys: (keys < 1 << 32, keys[keys < 1 << 32]))
    assert kept.tolist() == [True, False]


def test_broken_files_are_refused(tmp_path):
    """A buffer that is not there, and rows that no fragment has."""
    dataset = write(pa.table({"i": range(5)}), tmp_path)
    dataset.create_scalar_index("i", "ZONEMAP")
    file = pylanceref.dataset(dataset.uri)._snapshot.indices.segments[0].file("zonemap.lance")
    file.metadata["null_bitmap"] = "7"
    with pytest.raises(FormatError) as caught:
        read_nulls(file)
    assert caught.value.clause == "L.index.files.buffer"
    file.read = lambda *_: pa.array([1 << 40], pa.uint64())
    with pytest.raises(FormatError) as caught:
        read_spans(file)
    assert caught.value.clause == "L.index.zones.order"


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

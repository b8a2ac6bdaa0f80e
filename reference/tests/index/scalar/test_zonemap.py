"""ZONEMAP: bounds of zones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import OperationRefused
from pylanceref.indices import IndexConfig

from ..tables import asked, assert_found, ids, index_reads, scanned, write
from ..values import columns, conditions

COLUMNS = columns(seed=5)
NEGATIVE_NAN = np.frombuffer(np.uint64(0xFFF8000000000000).tobytes(), np.float64)[0]


def contents(dataset) -> dict[str, list]:
    """Return the columns of the file."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    file = segment.file("zonemap.lance")
    return {name: file.read(name).to_pylist() for name in file.names}


def test_a_worked_example(tmp_path):
    """NaN makes `max` NaN and does not count in `min`; nulls have no bounds."""
    nan = float("nan")
    dataset = write(pa.table({"f": [1.0, nan, 2.0, None, None, -0.0, 0.0]}), tmp_path)
    dataset.create_scalar_index("f", IndexConfig("zonemap", {"rows_per_zone": 3}))
    found = contents(dataset)
    assert repr(found["min"]) == "[1.0, -0.0, 0.0]"
    assert repr(found["max"]) == "[nan, -0.0, 0.0]"
    assert (found["null_count"], found["nan_count"]) == ([0, 2, 0], [1, 0, 0])
    assert (found["zone_start"], found["zone_length"]) == ([0, 3, 6], [3, 3, 1])
    (entry,) = dataset._snapshot.manifest.indices
    assert entry.index_details.value.hex() == "080310001801"


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_every_type_is_found_as_a_scan_finds_it(tmp_path, name):
    """With rows deleted and rows added afterwards, whether the index is asked or not."""
    dataset = write(pa.table({name: COLUMNS[name]}), tmp_path, max_rows_per_file=120)
    dataset.create_scalar_index(name, IndexConfig("zonemap", {"rows_per_zone": 7}))
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(pa.table({name: COLUMNS[name].slice(0, 20)}))
    assert_found(dataset, conditions(name, COLUMNS[name]))


def test_a_negative_nan_is_found(tmp_path):
    """It lies below every number, and `min` does not count it."""
    dataset = write(pa.table({"f": np.array([NEGATIVE_NAN, 5.0, 6.0])}), tmp_path)
    dataset.create_scalar_index("f", "ZONEMAP")
    assert asked(dataset, "f < 0")
    assert ids(dataset, "f < 0") == [0]


@pytest.mark.oracle
def test_the_oracle_writes_the_same_and_finds_the_same(tmp_path):
    """Every column of every type is equal; rows of both libraries from the files of both."""
    import lance
    from lance.indices import IndexConfig as Other

    made = {}
    for library, config in ((lance, Other), (pylanceref, IndexConfig)):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(pa.table(COLUMNS), path, max_rows_per_file=120)
        lance.dataset(path).delete("_rowaddr in (3, 50, 60, 61, 62, 63, 64, 65, 66, 67)")
        dataset = library.dataset(path)
        for name in COLUMNS:
            dataset.create_scalar_index(name, config("zonemap", {"rows_per_zone": 7}), name=name)
        made[library] = path
    theirs, own = (pylanceref.dataset(made[one])._snapshot.indices for one in (lance, pylanceref))
    for one, other in zip(theirs.segments, own.segments, strict=True):
        left, right = one.file("zonemap.lance"), other.file("zonemap.lance")
        assert left.metadata == right.metadata
        assert one.entry.index_details == other.entry.index_details
        assert bytes(left.buffer(1).data) == bytes(right.buffer(1).data)
        for name in left.names:
            assert repr(left.read(name).to_pylist()) == repr(right.read(name).to_pylist())
    for path in made.values():
        for reader in (lance, pylanceref):
            read, theirs = reader.dataset(path), lance.dataset(path)
            for name in ("int32", "float64", "utf8", "decimal128", "bool"):
                asking = conditions(name, COLUMNS[name])
                for condition, found in zip(asking, scanned(theirs, asking), strict=True):
                    assert sorted(ids(read, condition)) == found, condition


def test_zones_that_are_ruled_out_are_not_read(tmp_path):
    """Sorted values: a point costs a part of the data."""
    dataset = write(pa.table({"i": pa.array(range(200_000))}), tmp_path)
    everything = index_reads(dataset, "i = 5")
    dataset.create_scalar_index("i", "ZONEMAP")
    assert index_reads(dataset, "i = 5") * 4 < everything


def test_new_rows_and_gone_fragments(tmp_path):
    """Zones of both segments lie in order; those of a fragment that is gone are left out."""
    dataset = write(pa.table({"i": range(9)}), tmp_path, max_rows_per_file=3)
    dataset.create_scalar_index("i", IndexConfig("zonemap", {"rows_per_zone": 2}))
    dataset.delete("i < 3")
    dataset.insert(pa.table({"i": [None, 7]}))
    dataset.optimize.optimize_indices()
    found = contents(dataset)
    assert found["fragment_id"] == [1, 1, 2, 2, 3]
    assert ids(dataset, "i is null") == [3 << 32]


def test_zones_have_rows(tmp_path):
    """None is refused."""
    dataset = write(pa.table({"i": [1]}), tmp_path)
    with pytest.raises(OperationRefused):
        dataset.create_scalar_index("i", IndexConfig("zonemap", {"rows_per_zone": 0}))

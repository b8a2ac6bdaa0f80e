"""BLOOMFILTER: filters of zones."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError, OperationRefused
from lanceref.index.scalar.bloomfilter import read_filters
from pylanceref.indices import IndexConfig

from ..tables import asked, assert_found, ids, index_reads, scanned, write
from ..values import columns, conditions

HASHED = {
    name: values
    for name, values in columns(seed=6).items()
    if name not in ("float16", "bool", "fixed", "duration", "decimal128", "decimal256")
}
SMALL = IndexConfig("bloomfilter", {"number_of_items": 7, "probability": 0.01})


@pytest.mark.parametrize("name", sorted(HASHED))
def test_every_type_is_found_as_a_scan_finds_it(tmp_path, name):
    """With rows deleted and rows added afterwards."""
    dataset = write(pa.table({name: HASHED[name]}), tmp_path, max_rows_per_file=120)
    dataset.create_scalar_index(name, SMALL)
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(pa.table({name: HASHED[name].slice(0, 20)}))
    assert asked(dataset, f"{name} is null")
    assert_found(dataset, conditions(name, HASHED[name]))


@pytest.mark.oracle
def test_the_oracle_writes_the_same_and_finds_the_same(tmp_path):
    """Every column of every type is equal; rows of both libraries from the files of both."""
    import lance
    from lance.indices import IndexConfig as Other

    made = {}
    for library, config in ((lance, Other), (pylanceref, IndexConfig)):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(pa.table(HASHED), path, max_rows_per_file=120)
        dataset = library.dataset(path)
        for name in HASHED:
            given = config("bloomfilter", SMALL.parameters)
            dataset.create_scalar_index(name, given, name=name)
        made[library] = path
    theirs, own = (pylanceref.dataset(made[one])._snapshot.indices for one in (lance, pylanceref))
    for one, other in zip(theirs.segments, own.segments, strict=True):
        left, right = one.file("bloomfilter.lance"), other.file("bloomfilter.lance")
        assert left.metadata == right.metadata
        assert bytes(left.buffer(1).data) == bytes(right.buffer(1).data)
        for name in left.names:
            assert left.read(name) == right.read(name)
    for path in made.values():
        for reader in (lance, pylanceref):
            read, theirs = reader.dataset(path), lance.dataset(path)
            for name in ("int32", "float64", "utf8", "date32"):
                asking = conditions(name, HASHED[name])
                for condition, found in zip(asking, scanned(theirs, asking), strict=True):
                    assert sorted(ids(read, condition)) == found, condition


def test_zones_that_are_ruled_out_are_not_read(tmp_path):
    """Values in no order: a point costs the filters and one zone."""
    words = pa.array([f"{n:0200d}" for n in range(50_000)])
    dataset = write(pa.table({"s": words}), tmp_path)
    everything = index_reads(dataset, f"s = '{5:0200d}'")
    dataset.create_scalar_index("s", "BLOOMFILTER")
    assert index_reads(dataset, f"s = '{5:0200d}'") * 3 < everything


def test_new_rows_are_taken_in(tmp_path):
    """With the size and the zones of the segment before."""
    dataset = write(pa.table({"i": range(20)}), tmp_path)
    dataset.create_scalar_index("i", SMALL)
    dataset.insert(pa.table({"i": [None, 77]}))
    dataset.optimize.optimize_indices()
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    assert read_filters(segment.file("bloomfilter.lance")).shape == (4, 1, 8)
    assert ids(dataset, "i = 77") == [1 << 32 | 1]


def test_filters_of_several_sizes_are_refused(tmp_path):
    """Also of a size that has no blocks."""
    dataset = write(pa.table({"i": range(20)}), tmp_path)
    dataset.create_scalar_index("i", SMALL)
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    file = segment.file("bloomfilter.lance")
    for broken in ([b"x" * 32, b"x" * 64], [b"x" * 33], [b""]):
        file.read = lambda name, type_, held=broken: pa.array(held, pa.binary())
        with pytest.raises(FormatError) as caught:
            read_filters(file)
        assert caught.value.clause == "L.index.bloom.data"


@pytest.mark.parametrize("parameters", [{"number_of_items": 0}, {"probability": 2.0}])
def test_what_is_refused(tmp_path, parameters):
    """Zones without rows, shares that are none, values that are not hashed."""
    dataset = write(pa.table({"i": [1], "b": [True]}), tmp_path)
    with pytest.raises(OperationRefused):
        dataset.create_scalar_index("i", IndexConfig("bloomfilter", parameters))
    with pytest.raises(OperationRefused):
        dataset.create_scalar_index("b", "BLOOMFILTER")

"""Details of a log."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EditFailed, OperationRefused
from lanceref.index.mem_wal.details import (
    as_dict,
    check_maintained,
    details_of,
    spec_from,
    spec_of,
    statistics,
    writer_defaults,
)
from lanceref.index.mem_wal.sharding import ShardingField, ShardingSpec


@pytest.fixture
def dataset(tmp_path):
    """A table with indices."""
    table = pa.table({"i": [1], "s": ["a"], "f": [1.5], "l": [[1]]})
    made = pylanceref.write_dataset(table, tmp_path / "t")
    made.create_scalar_index("i", "BTREE")
    made.create_scalar_index("s", "BITMAP")
    return made


def spec(dataset, bucket=None, count=None, identity=None, unsharded=False):
    """Return a spec over the table."""
    schema = dataset._snapshot.manifest.schema
    return spec_of(schema, bucket, count, identity, unsharded=unsharded)


def test_worked_details():
    """Of a log that was told nothing: field 12, true."""
    details = details_of(None, None, {})
    assert details.SerializeToString() == b"\x60\x01"
    assert as_dict(details) == {
        "num_shards": 0,
        "maintained_indexes": [],
        "maintain_all_indexes": True,
        "writer_config_defaults": {},
        "sharding_specs": [],
    }
    assert set(statistics(details).values()) == {0}
    assert statistics(details_of(None, ["i_idx"], {}))["num_maintained_indexes"] == 1


def test_each_way_of_sharding(dataset):
    """Specs come back as they are stored; the number of shards is known or 0."""
    expected = {
        4: ShardingField("bucket", [0], "bucket", None, "int32", {"num_buckets": "4"}),
        0: ShardingField("bucket", [1], "identity", None, "utf8"),
        1: ShardingField("bucket", [], "unsharded", None, "int32"),
    }
    asked = {
        4: spec(dataset, "i", 4),
        0: spec(dataset, identity="s"),
        1: spec(dataset, unsharded=True),
    }
    for count, own in asked.items():
        assert own == ShardingSpec(1, [expected[count]])
        details = details_of(own, [], {})
        assert details.num_shards == count
        assert spec_from(details.sharding_specs[0]) == own
    assert spec(dataset) is None
    assert spec(dataset, "f", 2) is not None
    assert spec(dataset, identity="i").fields[0].result_type == "int64"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("i", None), OperationRefused),
        ((None, 3), OperationRefused),
        (("i", 3, "s"), OperationRefused),
        ((None, None, "s", True), OperationRefused),
        (("zz", 3), EditFailed),
        (("i", 0), EditFailed),
        (("i", 1025), EditFailed),
        (("l", 3), EditFailed),
        ((None, None, "f"), EditFailed),
        ((None, None, "l"), EditFailed),
    ],
)
def test_wrong_ways_are_refused(dataset, given, error):
    """Half of one, two at once, columns that are none or cannot be."""
    with pytest.raises(error):
        spec(dataset, *given)


def test_indices_that_cannot_be_kept_are_refused(dataset):
    """Nor those that are not there."""
    entries = dataset._snapshot.manifest.indices
    check_maintained(["i_idx"], entries)
    for name in ("s_idx", "x"):
        with pytest.raises(EditFailed):
            check_maintained([name], entries)


def test_options_are_stored_together():
    """All of them when one is told, none otherwise; 0 is no interval."""
    assert writer_defaults({"durable_write": None}) == {}
    stored = writer_defaults({"durable_write": False, "stats_log_interval_ms": 0})
    assert stored["durable_write"] == "false"
    assert stored["max_memtable_rows"] == "100000"
    assert "stats_log_interval_ms" not in stored
    assert len(stored) == 12

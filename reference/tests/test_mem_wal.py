"""Names of the log."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from pylanceref import mem_wal
from pylanceref.mem_wal import ShardingField, ShardingSpec, evaluate_sharding_spec

FIELD = {"field_id": "b", "source_ids": [1], "transform": "bucket"}


def test_a_spec_is_evaluated(tmp_path):
    """By the fields of the table that have the names of the columns; also given by name."""
    table = pa.table({"a": [1, 2, 3], "b": pa.array([1, 2, 3], pa.int32())})
    schema = pylanceref.write_dataset(table, tmp_path / "t").lance_schema
    parameters = {"num_buckets": "8"}
    (batch,) = table.to_batches()
    own = ShardingSpec(1, [ShardingField(**FIELD, parameters=parameters)])
    named = {"spec_id": 1, "fields": [{**FIELD, "parameters": parameters}]}
    for spec in (own, named):
        found = evaluate_sharding_spec(batch, spec, schema)
        assert found.to_pydict() == {"b": [2, 7, 1]}
    with pytest.raises(TypeError):
        evaluate_sharding_spec(table, own, schema)
    with pytest.raises(ValueError, match="spec_id"):
        evaluate_sharding_spec(batch, {}, schema)


def test_the_names_are_there():
    """Those of pylance that are about the format."""
    assert mem_wal.CompactedSsTable("x", 2).generation == 2
    for name in mem_wal.__all__:
        assert hasattr(mem_wal, name)

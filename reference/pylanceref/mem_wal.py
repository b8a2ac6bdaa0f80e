"""The memory write-ahead log of a table: shards of it, scans over it (face).

Has the names of pylance's `lance.mem_wal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from lanceref.index.mem_wal.sharding import ShardingField, ShardingSpec, derived

from pylanceref.lsm_planner import ExecutionPlan, LsmPointLookupPlanner
from pylanceref.lsm_scanner import LsmScanner
from pylanceref.lsm_vector_planner import LsmVectorSearchPlanner
from pylanceref.schema import LanceSchema
from pylanceref.shard_snapshot import ShardSnapshot
from pylanceref.shard_writer import ShardWriter

__all__ = [
    "CompactedSsTable",
    "ExecutionPlan",
    "LsmPointLookupPlanner",
    "LsmScanner",
    "LsmVectorSearchPlanner",
    "ShardSnapshot",
    "ShardWriter",
    "ShardingField",
    "ShardingSpec",
    "evaluate_sharding_spec",
]


@dataclass
class CompactedSsTable:
    """The last generation of a shard whose rows are in the table."""

    shard_id: str
    generation: int


def evaluate_sharding_spec(
    batch: pa.RecordBatch, spec: ShardingSpec | Mapping[str, object], schema: LanceSchema
) -> pa.RecordBatch:
    """Return the values that tell the shards of rows apart. Raises TypeError, OperationRefused."""
    if not isinstance(batch, pa.RecordBatch):
        raise TypeError(f"Expected pyarrow.RecordBatch, got {type(batch)!r}")
    held = {field.name(): field.id() for field in schema.fields()}
    columns = {
        held[name]: column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        if name in held
    }
    return derived(_spec(spec), columns, batch.num_rows)


def _spec(given: ShardingSpec | Mapping[str, object]) -> ShardingSpec:
    """Return a spec that may be given by name. Raises TypeError, ValueError."""
    if isinstance(given, ShardingSpec):
        return given
    spec_id, fields = given.get("spec_id"), given.get("fields")
    if not isinstance(spec_id, int) or not isinstance(fields, list):
        raise ValueError("a sharding spec has 'spec_id' and 'fields'")
    return ShardingSpec(spec_id, [ShardingField(**one) for one in fields])

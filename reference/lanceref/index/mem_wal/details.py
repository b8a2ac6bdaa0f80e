"""MemWAL details: how the log of a table is sharded, and what its writers start from.

The entry `__lance_mem_wal` of the index section has no fields, fragments or files; everything is in
its details.

Clauses: L.index.mem-wal.details
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from lanceref.core.arguments import unsigned
from lanceref.core.errors import EditFailed, OperationRefused
from lanceref.core.logical_types import logical_type
from lanceref.file.schema import PRIMARY_KEY, LanceSchema
from lanceref.index.indices import type_name
from lanceref.index.mem_wal.sharding import MOST_BUCKETS, NUM_BUCKETS, ShardingField, ShardingSpec
from lanceref.proto import table_pb2
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails
from lanceref.proto.mem_wal_pb2 import ShardingSpec as SpecMessage

SPEC_ID = 1
FIELD = "bucket"
MAINTAINED = ("BTreeIndexDetails", "VectorIndexDetails", "InvertedIndexDetails")
"""Types of indices that a writer of the log can keep."""

SHARD_KEYS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
"""Types whose values may be shards themselves; text besides."""

KEYS = {*SHARD_KEYS, "string", "large_string", "binary", "large_binary"}
"""Types that a primary key may have."""

WRITER = {
    "durable_write": "true",
    "max_wal_buffer_size": "10485760",
    "max_wal_flush_interval_ms": "100",
    "max_memtable_size": "268435456",
    "max_memtable_rows": "100000",
    "max_memtable_batches": "8000",
    "max_unflushed_memtable_bytes": "1073741824",
    "manifest_scan_batch_size": "2",
    "backpressure_log_interval_ms": "30000",
    "stats_log_interval_ms": "60000",
    "enable_memtable": "true",
    "max_wal_persist_retries": "3",
    "wal_persist_retry_base_delay_ms": "50",
}
"""What a writer does unless told otherwise."""

OWN = frozenset({"enable_memtable", "max_wal_persist_retries", "wal_persist_retry_base_delay_ms"})
"""Those of them that no caller sets."""

GRAPHS, DURABLE = "hnsw_params", "durable_write"
"""The options that are no numbers."""

GRAPH = {"max_level": 7, "num_edges": 20, "ef_construction": 150}
"""Parameters of a graph that a writer builds, stored as `hnsw.{index}.{parameter}`."""

OPTIONS = (WRITER.keys() - OWN) | {GRAPHS}
"""What a caller may say of a writer."""

NEVER = "stats_log_interval_ms"
"""Nothing is said where this is 0."""


def writer_options(given: Mapping[str, object]) -> dict[str, str]:
    """Return what is said of a writer, as it is stored; None says nothing.

    Raises TypeError, OverflowError for an option or a value that no writer has, ValueError for a
    parameter that no graph has.
    """
    found: dict[str, str] = {}
    for name, value in given.items():
        if name not in OPTIONS:
            raise TypeError(f"a memory WAL got an unexpected keyword argument {name!r}")
        if value is None:
            continue
        if name == GRAPHS:
            found |= _graphs(value)
        elif name == DURABLE:
            if not isinstance(value, bool):
                raise TypeError(f"argument '{name}': {value!r} is not an instance of 'bool'")
            found[name] = f"{value}".lower()
        else:
            found[name] = f"{unsigned(value)}"  # type: ignore[arg-type]
    return found


def _graphs(given: object) -> dict[str, str]:
    """Return the parameters of graphs by index. Raises TypeError, ValueError, OverflowError."""
    found = {}
    if not isinstance(given, Mapping):
        raise TypeError(f"argument '{GRAPHS}': {given!r} is not an instance of 'dict'")
    for index, parameters in given.items():
        if not isinstance(parameters, Mapping):
            raise TypeError(f"argument '{GRAPHS}': {parameters!r} is not an instance of 'dict'")
        for name in parameters:
            if name not in GRAPH:
                raise ValueError(
                    f"unknown HNSW build param '{name}' for index '{index}'; expected one of "
                    "'num_edges', 'ef_construction', 'max_level'"
                )
        for name, value in {**GRAPH, **parameters}.items():
            found[f"hnsw.{index}.{name}"] = f"{unsigned(value)}"
    return found


def writer_defaults(given: Mapping[str, object]) -> dict[str, str]:
    """Return what is stored of a writer's options: nothing, or each of them.

    Raises TypeError, OverflowError, ValueError.
    """
    told = writer_options(given)
    if not told:
        return {}
    found = WRITER | told
    if found[NEVER] == "0":
        del found[NEVER]
    return found


def spec_of(
    schema: LanceSchema,
    bucket_column: str | None,
    num_buckets: int | None,
    identity_column: str | None,
    *,
    unsharded: bool,
) -> ShardingSpec | None:
    """Return the sharding asked for, None for none. Raises ValueError, EditFailed."""
    if (bucket_column is None) != (num_buckets is None):
        raise OperationRefused("bucket sharding requires both `bucket_column` and `num_buckets`")
    if (bucket_column is not None) + (identity_column is not None) + unsharded > 1:
        raise OperationRefused(
            "at most one of bucket sharding, `identity_column`, or `unsharded` may be set"
        )
    if unsharded:
        return ShardingSpec(SPEC_ID, [ShardingField(FIELD, [], "unsharded", None, "int32")])
    if bucket_column is not None and num_buckets is not None:
        if not 1 <= num_buckets <= MOST_BUCKETS:
            raise EditFailed(
                f"bucket_sharding: num_buckets must be in [1, {MOST_BUCKETS}], got {num_buckets}"
            )
        source, _ = _source(schema, bucket_column, "bucket_sharding")
        parameters = {NUM_BUCKETS: f"{num_buckets}"}
        own = ShardingField(FIELD, [source], "bucket", None, "int32", parameters)
        return ShardingSpec(SPEC_ID, [own])
    if identity_column is None:
        return None
    source, type_ = _source(schema, identity_column, "identity_sharding")
    return ShardingSpec(SPEC_ID, [ShardingField(FIELD, [source], "identity", None, type_)])


def _source(schema: LanceSchema, column: str, mode: str) -> tuple[int, str]:
    """Return id and type of a column. Raises EditFailed."""
    fields = {one.name: one for one in schema.fields}
    if column not in fields:
        raise EditFailed(f"{mode}: column '{column}' not found on the dataset")
    field = fields[column]
    name = {"string": "utf8", "large_string": "large_utf8", "bool": "boolean"}
    stored = logical_type(field.arrow.type)
    known = stored in SHARD_KEYS or stored in name
    floats = mode == "bucket_sharding" and stored in ("float", "double")
    if not known and not floats and not stored.startswith(("date32", "time", "timestamp")):
        raise EditFailed(
            f"{mode}: column '{column}' has type {field.arrow.type}, which cannot be used as a "
            "shard key"
        )
    return field.id, name.get(stored, stored)


def check_key(schema: LanceSchema) -> None:
    """Raise EditFailed where a column of the primary key is of a type that writers do not hash."""
    for field in schema.fields:
        if PRIMARY_KEY in field.metadata and logical_type(field.arrow.type) not in KEYS:
            raise EditFailed(
                f"Primary key column '{field.name}' has unsupported type {field.arrow.type} for "
                "hashing; supported types: Int8/16/32/64, UInt8/16/32/64, Boolean, "
                "Utf8/LargeUtf8, Binary/LargeBinary"
            )


def check_maintained(names: Sequence[str], entries: Sequence[table_pb2.IndexMetadata]) -> None:
    """Raise EditFailed for an index that is not there, or that no writer can keep."""
    by_name = {one.name: one for one in entries}
    for name in names:
        if name not in by_name:
            raise EditFailed(f"Index '{name}' from maintained_indexes not found on dataset")
        if type_name(by_name[name]).rpartition(".")[2] not in MAINTAINED:
            raise EditFailed(
                f"index '{name}' has type {by_name[name].index_details.type_url}, which no "
                f"registered plugin maintains. Supported: [{', '.join(MAINTAINED)}]"
            )


def details_of(
    spec: ShardingSpec | None, maintained: Sequence[str] | None, defaults: Mapping[str, str]
) -> MemWalIndexDetails:
    """Return the details of a log that is begun; without `maintained` every index is kept."""
    found = MemWalIndexDetails(
        maintained_indexes=maintained or [],
        maintain_all_indexes=maintained is None,
        writer_config_defaults=dict(defaults),
    )
    if spec is not None:
        found.sharding_specs.append(_message(spec))
        (own,) = spec.fields
        found.num_shards = int(own.parameters.get(NUM_BUCKETS, own.transform == "unsharded"))
    return found


def _message(spec: ShardingSpec) -> SpecMessage:
    message = SpecMessage(spec_id=spec.spec_id)
    for one in spec.fields:
        message.fields.add(**{name: value for name, value in asdict(one).items() if value})
    return message


def spec_from(message: SpecMessage) -> ShardingSpec:
    """Return a spec as it is stored."""
    fields = [
        ShardingField(
            one.field_id,
            list(one.source_ids),
            one.transform if one.HasField("transform") else None,
            one.expression if one.HasField("expression") else None,
            one.result_type,
            dict(one.parameters),
        )
        for one in message.fields
    ]
    return ShardingSpec(message.spec_id, fields)


def as_dict(details: MemWalIndexDetails) -> dict[str, object]:
    """Return what users are told of the log."""
    return {
        "num_shards": details.num_shards,
        "maintained_indexes": list(details.maintained_indexes),
        "maintain_all_indexes": details.maintain_all_indexes,
        "writer_config_defaults": dict(details.writer_config_defaults),
        "sharding_specs": [asdict(spec_from(one)) for one in details.sharding_specs],
    }


def statistics(details: MemWalIndexDetails) -> dict[str, object]:
    """Return numbers of the log."""
    return {
        "num_shards": details.num_shards,
        "num_compacted_sstables": len(details.compacted_sstables),
        "num_shard_specs": len(details.sharding_specs),
        "num_maintained_indexes": len(details.maintained_indexes),
        "num_index_catchup_entries": len(details.index_catchup),
    }

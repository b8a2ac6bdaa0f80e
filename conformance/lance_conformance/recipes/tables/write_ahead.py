"""Cases of tables with a memory write-ahead log: the table reads well, the log is validated.

The reference writes the table, a shard of its log and the generation that was flushed from it; what
no writer says of a shard and of the log is put in by hand.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from google.protobuf.message import Message
from lanceref.index.mem_wal.shard_log import entry_path, manifest_path
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails, ShardManifest
from lanceref.proto.table_pb2 import IndexSection

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import made
from lance_conformance.recipes.messages import indices
from lance_conformance.recipes.model import (
    Change,
    Made,
    MessageEdit,
    Negative,
    Positive,
    Remove,
    Rename,
    Resize,
)
from lance_conformance.recipes.tables.edits import table_fault

SHARD = uuid.UUID(int=7)
GENERATION = "a1b2c3d4_gen_1"
_LATEST = "_versions/18446744073709551612.manifest"

_SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), False, {"lance-schema:unenforced-primary-key": "true"}),
        pa.field("c", pa.string()),
    ]
)


def _rows(*ids: int) -> pa.Table:
    return pa.table({"id": ids, "c": [f"row {one}" for one in ids]}, schema=_SCHEMA)


def _steps(module: Any, uri: str) -> None:
    dataset = module.write_dataset(_rows(1, 2), uri, data_storage_version="2.1")
    dataset.create_scalar_index("id", "BTREE")
    dataset = module.dataset(uri)
    dataset.initialize_mem_wal(bucket_column="id", num_buckets=1, maintained_indexes=["id_idx"],
                               max_memtable_rows=10)  # fmt: skip
    for ids in ((3,), (2, 4)):
        module.dataset(uri).mem_wal_writer(str(SHARD)).put(_rows(*ids))
    folder = f"{uri}/_mem_wal/{SHARD}/{GENERATION}"
    module.write_dataset(_rows(3), folder, data_storage_version="2.1")


def _log(section: IndexSection, edit: Callable[[MemWalIndexDetails], None]) -> None:
    (own,) = (entry for entry in section.indices if entry.name == "__lance_mem_wal")
    details = MemWalIndexDetails.FromString(own.index_details.value)
    edit(details)
    own.index_details.value = details.SerializeToString(deterministic=True)


def _all_of_log(details: MemWalIndexDetails) -> None:
    details.snapshot_ts_millis = 1_700_000_000_000
    details.inline_snapshots = b"rows"
    details.maintain_all_indexes = True
    done = details.compacted_sstables.add(generation=1)
    done.shard_id.uuid = SHARD.bytes
    progress = details.index_catchup.add(index_name="id_idx")
    progress.caught_up_generations.add().CopyFrom(done)
    details.sharding_specs[0].fields[0].expression = "bucket(id, 1)"


def _all_of_shard(data: bytes) -> bytes:
    """Say of the latest version of the shard all that can be said."""
    manifest = ShardManifest.FromString(data)
    manifest.replay_after_wal_entry_position = 1
    manifest.current_generation, manifest.shard_spec_id = 2, 1
    manifest.status = ShardManifest.SEALED
    manifest.sstables.add(generation=1, path=GENERATION, in_memory_bytes=64, physical_rows=1,
                          primary_key_bytes=8)  # fmt: skip
    manifest.shard_field_entries.add(field_id="bucket", value=bytes(4))
    return manifest.SerializeToString(deterministic=True)


def _make() -> Made:
    base = reworked(made(_steps, _rows(1, 2), by="reference"),
                    indices(lambda section: _log(section, _all_of_log), _LATEST))()  # fmt: skip
    latest = manifest_path(SHARD, 3)
    files = {**base.files, latest: _all_of_shard(base.files[latest])}
    return Made(files, base.table, made_by="hand")


_ID = "table/any/mem-wal/shard"

POSITIVES = (
    Positive(
        id=_ID,
        title="a log before the table: a shard of three versions, two entries and a fence",
        clauses=("L.index.mem-wal.details",),
        make=_make,
        version="2.1",
        kind="read-dataset",
        reachable=False,
    ),
)


def _fault(slug: str, title: str, topic: str, change: Change) -> Negative:
    return table_fault(_ID, slug, title, f"L.index.mem-wal.{topic}", change, kind="lint")


def _garbled(section: Message) -> None:
    (own,) = (one for one in section.indices if one.name == "__lance_mem_wal")  # type: ignore[attr-defined]
    own.index_details.value = b"\xff"


NEGATIVES = (
    _fault("details", "details that are no message", "details",
           MessageEdit("index section", _garbled, _LATEST)),
    _fault("manifest", "a version of a shard that is no message", "manifest",
           Resize(0, b"\xff\xff", manifest_path(SHARD, 2))),
    _fault("manifest-name", "a version that is called another one", "manifest-name",
           Rename(manifest_path(SHARD, 2), manifest_path(SHARD, 5))),
    _fault("generation", "a flushed generation that is still to come", "sstables",
           Resize(None, ShardManifest(current_generation=1).SerializeToString(),
                  manifest_path(SHARD, 3))),
    _fault("entry", "an entry that is cut off", "entry", Resize(100, b"", entry_path(SHARD, 3))),
    _fault("position", "a position that is missing", "positions", Remove(entry_path(SHARD, 2))),
)  # fmt: skip
"""What only `validate` looks at."""

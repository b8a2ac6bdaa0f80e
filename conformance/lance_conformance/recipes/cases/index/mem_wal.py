"""Cases of the write-ahead log in memory: shards and log entries."""

from __future__ import annotations

import io
import uuid
from typing import Any

import pyarrow as pa
from lanceref.index.mem_wal.shard_log import EPOCH, GENERATION, TOMBSTONE, entry_path, manifest_path
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails, ShardManifest
from lanceref.proto.table_pb2 import IndexSection

from lance_conformance.recipes.constructors import case, lint
from lance_conformance.recipes.edits import THIRD, indices, inside, update
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.indexed import made
from lance_conformance.recipes.model import Files, MessageEdit, Recipe, Remove, Rename, Resize

SHARD = uuid.UUID(int=7)
LATEST = manifest_path(SHARD, 3)


def _rows(*ids: int) -> pa.Table:
    key = pa.field("id", pa.int64(), False, {"lance-schema:unenforced-primary-key": "true"})
    schema = pa.schema([key, pa.field("c", pa.string())])
    return pa.table({"id": ids, "c": [f"row {one}" for one in ids]}, schema=schema)


def _steps(module: Any, uri: str) -> None:
    dataset = module.write_dataset(_rows(1, 2), uri, data_storage_version="2.1")
    dataset.create_scalar_index("id", "BTREE")
    dataset = module.dataset(uri)
    dataset.initialize_mem_wal(
        bucket_column="id", num_buckets=1, maintained_indexes=["id_idx"], max_memtable_rows=10
    )
    for ids in ((3,), (2, 4)):
        module.dataset(uri).mem_wal_writer(str(SHARD)).put(_rows(*ids))
    folder = f"{uri}/_mem_wal/{SHARD}/a1b2c3d4_gen_1"
    module.write_dataset(_rows(3), folder, data_storage_version="2.1")


def _log(value: object) -> MessageEdit:
    """Change the details of the index."""

    def edit(section: IndexSection) -> None:
        (own,) = (entry for entry in section.indices if entry.name == "__lance_mem_wal")
        update(own, {"index_details.value": value})

    return indices(edit, THIRD)


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
    manifest.current_generation, manifest.shard_spec_id = (2, 1)
    manifest.status = ShardManifest.SEALED
    sizes = {"in_memory_bytes": 64, "physical_rows": 1, "primary_key_bytes": 8}
    manifest.sstables.add(generation=1, path="a1b2c3d4_gen_1", **sizes)
    manifest.shard_field_entries.add(field_id="bucket", value=bytes(4))
    return manifest.SerializeToString(deterministic=True)


_SHARD_LOG = edited(made(_steps, _rows(1, 2)), _log(inside(MemWalIndexDetails, _all_of_log)),
    lambda files: {**files, LATEST: _all_of_shard(files[LATEST])})  # fmt: skip


def _mark_first(files: Files) -> Files:
    """Put the marks of a log entry before its other columns."""
    path = entry_path(SHARD, 3)
    table = pa.ipc.open_stream(files[path]).read_all()
    names = [TOMBSTONE, *(name for name in table.column_names if name != TOMBSTONE)]
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.select(names).schema) as writer:
        writer.write_table(table.select(names))
    return {**files, path: sink.getvalue()}


def _entry(name: str = TOMBSTONE, generation: str = "1") -> Resize:
    """Put an entry of no rows, with one column, in place of the last one."""
    schema = pa.schema([pa.field(name, pa.bool_())], {EPOCH: b"1", GENERATION: generation})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema):
        pass
    return Resize(0, sink.getvalue(), entry_path(SHARD, 3))


CASES: tuple[Recipe, ...] = (
    case("table/any/mem-wal/mark-first", "a log entry whose marks are its first column",
        "L.index.mem-wal.entry", edited(_SHARD_LOG, _mark_first)),
    case("table/any/mem-wal/shard",
        "a log before the table: a shard of three versions, two entries and a fence",
        "L.index.mem-wal.details", _SHARD_LOG),
    lint("entry-number", "an entry whose generation is no number", "L.index.mem-wal.entry",
        _entry(generation="x")),
    lint("no-marks", "an entry without marks of the rows that are deleted", "L.index.mem-wal.entry",
        _entry("id")),
    lint("generation-long", "a generation of 21 digits", "L.index.mem-wal.entry",
        _entry(generation="1" * 21)),
    lint("details", "details that are no message", "L.index.mem-wal.details", _log(b"\xff")),
    lint("manifest", "a version of a shard that is no message", "L.index.mem-wal.manifest",
        Resize(0, b"\xff\xff", manifest_path(SHARD, 2))),
    lint("manifest-name", "a version that is called another one", "L.index.mem-wal.manifest-name",
        Rename(manifest_path(SHARD, 2), manifest_path(SHARD, 5))),
    lint("generation", "a flushed generation that is still to come", "L.index.mem-wal.sstables",
        Resize(None, ShardManifest(current_generation=1).SerializeToString(),
            manifest_path(SHARD, 3))),
    lint("entry", "an entry that is cut off", "L.index.mem-wal.entry",
        Resize(100, b"", entry_path(SHARD, 3))),
    lint("position", "a position that is missing", "L.index.mem-wal.positions",
        Remove(entry_path(SHARD, 2))),
)  # fmt: skip

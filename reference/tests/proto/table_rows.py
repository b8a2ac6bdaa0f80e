"""Inventory of the table: manifests, transactions, row ids, clones, branches, overlays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .row import Change, Row, create, dataset_row, table

if TYPE_CHECKING:
    import lance

KEY = {"lance-schema:unenforced-primary-key": "true"}


def _reopened(dataset: lance.LanceDataset) -> lance.LanceDataset:
    import lance

    return lance.dataset(dataset.uri)


def _append(dataset: lance.LanceDataset, **options: Any) -> lance.LanceDataset:
    import lance

    return lance.write_dataset(table(100, 5), dataset.uri, mode="append", **options)


def _compact(dataset: lance.LanceDataset, **options: Any) -> None:
    options = {"materialize_deletions_threshold": 0.0, **options}
    dataset.optimize.compact_files(target_rows_per_fragment=1_000_000, **options)


def _delete_and_compact(predicate: str) -> Change:
    def change(dataset: lance.LanceDataset) -> None:
        dataset.delete(predicate)
        _compact(dataset)

    return change


def _two_writers(dataset: lance.LanceDataset) -> None:
    other = _reopened(dataset)
    dataset.delete("a = 1")
    other.delete("a = 2")


def _update_columns(with_offsets: bool) -> Change:
    def change(dataset: lance.LanceDataset) -> None:
        from lance import LanceOperation

        new = pa.table({"a": [0, 1], "s": ["x", "y"]})
        part = dataset.get_fragments()[0]
        fragment, ids, *offsets = part.update_columns(new, "a", with_offsets=with_offsets)
        operation = LanceOperation.Update(
            updated_fragments=[fragment],
            fields_modified=ids,
            update_mode="rewrite_columns",
            updated_fragment_offsets={0: offsets[0]} if with_offsets else None,
        )
        dataset.commit(dataset.uri, operation, read_version=dataset.version)

    return change


def _index_and_drop(dataset: lance.LanceDataset) -> None:
    dataset.create_scalar_index("a", "BTREE")
    dataset.drop_index("a_idx")


def _column_file(dataset: lance.LanceDataset, column: pa.Table, name: str) -> Any:
    """Write a file with one column of a dataset into its data folder."""
    from lance.file import LanceFileWriter
    from lance.fragment import DataFile

    path = Path(dataset.uri, "data", name)
    with LanceFileWriter(str(path), column.schema, version="2.2") as writer:
        writer.write_batch(column)
    return DataFile(name, [1], [0], 2, 2)


def _replace_column(dataset: lance.LanceDataset) -> None:
    from lance import LanceOperation

    file = _column_file(dataset, pa.table({"s": ["x"] * 10}), "replacement.lance")
    group = LanceOperation.DataReplacementGroup(0, file)
    operation = LanceOperation.DataReplacement([group])
    dataset.commit(dataset.uri, operation, read_version=dataset.version)


def _overlay(offsets: list[int] | list[list[int]]) -> Change:
    def change(dataset: lance.LanceDataset) -> None:
        from lance import LanceOperation

        file = _column_file(dataset, pa.table({"s": ["x", "y"]}), "overlay.lance")
        overlay = LanceOperation.DataOverlayFile(file, offsets)
        operation = LanceOperation.DataOverlay([LanceOperation.DataOverlayGroup(0, [overlay])])
        with _environment("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1"):
            dataset.commit(dataset.uri, operation, read_version=dataset.version)

    return change


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def _deferred_remap(dataset: lance.LanceDataset) -> None:
    dataset.create_scalar_index("a", "BTREE")
    dataset.delete("a = 3")
    _compact(dataset, defer_index_remap=True)


def _indexed_and_compacted(dataset: lance.LanceDataset) -> None:
    dataset.create_scalar_index("a", "BTREE")
    _compact(dataset)


def _spilled(dataset: lance.LanceDataset) -> None:
    dataset.update_config(
        {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "100"}
    )
    dataset.update({"s": "'x'"}, where="a % 3 = 1")
    _compact(dataset)


def _bases(folder: Path) -> None:
    from lance import DatasetBasePath

    other = folder / "other"
    other.mkdir()
    base = DatasetBasePath(str(other), name="x", is_dataset_root=True)
    dataset = create(folder, initial_bases=[base], target_bases=["x"])
    third = folder / "third"
    third.mkdir()
    dataset.add_bases([DatasetBasePath(str(third), name="y")])


def _shallow_clone(folder: Path) -> None:
    dataset = create(folder)
    dataset.create_scalar_index("a", "BTREE")
    dataset.delete("a = 1")
    dataset.shallow_clone(str(folder / "clone.lance"), dataset.version)


def _deep_clone(folder: Path) -> None:
    dataset = create(folder)
    dataset.deep_clone(str(folder / "clone.lance"), dataset.version)


def _branch(dataset: lance.LanceDataset) -> None:
    branch = dataset.create_branch("dev/x")
    branch.delete("a = 1")
    dataset.tags.create("first", 1)


def _detached(dataset: lance.LanceDataset) -> None:
    from lance import LanceOperation

    operation = LanceOperation.Delete([], [1], "true")
    dataset.commit(dataset.uri, operation, read_version=dataset.version, detached=True)


def _restored(dataset: lance.LanceDataset) -> None:
    import lance

    dataset.delete("a = 1")
    lance.dataset(dataset.uri, version=1).restore()


def _merge_insert_by_key(folder: Path) -> None:
    import lance

    schema = pa.schema([pa.field("a", pa.int64(), False, KEY), ("s", pa.string())])
    dataset = lance.write_dataset(table(0, 9).cast(schema), folder / "keyed.lance")
    builder = dataset.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    builder.execute(table(7, 5).cast(schema))


def _blob(folder: Path) -> None:
    import lance
    from lance.blob import blob_array, blob_field

    blobs = pa.table([blob_array([b"x" * 3_000_000, None])], schema=pa.schema([blob_field("b")]))
    lance.write_dataset(blobs, folder / "blobs.lance", data_storage_version="2.2")


def _empty(folder: Path) -> None:
    import lance

    lance.write_dataset(table(0, 0), folder / "empty.lance", enable_stable_row_ids=True)


def _versions() -> dict[str, Row]:
    names = ("legacy", "2.0", "2.1", "2.2", "2.3")
    return {
        f"data version {name}": dataset_row(
            None, "DataStorageFormat.version", "DataFile.file_minor_version"
            if name != "2.0" else "DataFile.file_major_version", data_storage_version=name,
        )
        for name in names
    }  # fmt: skip


ROWS = {
    "version 1 names": dataset_row(
        lambda dataset: dataset.migrate_manifest_paths_v2(),
        "Manifest.version",
        enable_v2_manifest_paths=False,
    ),
    **_versions(),
    "mixed versions": dataset_row(
        lambda dataset: _append(dataset, data_storage_version="2.1"), "Transaction.append"
    ),
    "inline transaction": dataset_row(
        None, "Manifest.transaction_section", "Manifest.transaction_file", "Transaction.overwrite"
    ),
    "small deletion": dataset_row(
        lambda dataset: dataset.delete("a < 3"),
        "DataFragment.deletion_file", "DeletionFile.num_deleted_rows", "Delete.predicate",
    ),
    "large deletion": dataset_row(
        lambda dataset: dataset.delete("a < 5000"), "DeletionFile.file_type", rows=20_000
    ),
    "rebased deletion": dataset_row(_two_writers, "DeletionFile.read_version"),
    "whole-fragment delete": dataset_row(
        lambda dataset: dataset.delete("a < 10"), "Delete.deleted_fragment_ids"
    ),
    "truncate": dataset_row(
        lambda dataset: dataset.truncate_table(), "Delete.deleted_fragment_ids"
    ),
    "update rows": dataset_row(
        lambda dataset: dataset.update({"s": "'x'"}, where="a = 3"),
        "Update.updated_fragments", "Update.new_fragments",
    ),
    "update every row": dataset_row(
        lambda dataset: dataset.update({"s": "'x'"}), "Update.removed_fragment_ids"
    ),
    "update columns": dataset_row(
        _update_columns(False), "Update.update_mode", "Update.fields_modified"
    ),
    "update columns with offsets": dataset_row(
        _update_columns(True), "Update.updated_fragment_offset_bitmaps"
    ),
    "replace a column": dataset_row(_replace_column, "DataReplacementGroup.new_file"),
    "all-null column": dataset_row(
        lambda dataset: dataset.add_columns(pa.field("n", pa.int32())), "Merge.schema"
    ),
    "computed column": dataset_row(
        lambda dataset: dataset.add_columns({"b": "a + 1"}), "Merge.fragments"
    ),
    "drop": dataset_row(lambda dataset: dataset.drop_columns(["s"]), "Project.schema"),
    "rename and nullable": dataset_row(
        lambda dataset: dataset.alter_columns({"path": "a", "name": "b", "nullable": True}),
        "Project.schema",
    ),
    "cast": dataset_row(
        lambda dataset: dataset.alter_columns({"path": "a", "data_type": pa.int32()}),
        "Transaction.merge",
    ),
    "compaction": dataset_row(
        _compact, "RewriteGroup.new_fragments", "ReserveFragments.num_fragments"
    ),
    "compaction with an index": dataset_row(
        _indexed_and_compacted, "RewrittenIndex.new_id", "RewrittenIndex.new_index_details"
    ),
    "fragment reuse index": dataset_row(_deferred_remap, "FragmentReuseIndexDetails.inline"),
    "stable ids": dataset_row(
        None, "U64Segment.range", "DataFragment.inline_created_at_versions",
        "RowDatasetVersionRun.version", "Manifest.next_row_id", enable_stable_row_ids=True,
    ),
    "range with holes": dataset_row(
        _delete_and_compact("a in (5, 9)"), "RangeWithHoles.holes",
        rows=10_000, enable_stable_row_ids=True,
    ),
    "range with bitmap": dataset_row(
        _delete_and_compact("a % 3 = 0"), "RangeWithBitmap.bitmap",
        rows=10_000, enable_stable_row_ids=True,
    ),
    "sorted array of 16 bits": dataset_row(
        _delete_and_compact("a % 100 != 7"), "U64Segment.sorted_array", "U16Array.offsets",
        rows=10_000, enable_stable_row_ids=True,
    ),
    "sorted array of 32 bits": dataset_row(
        _delete_and_compact("a % 1000 != 7"), "U32Array.offsets",
        rows=200_000, max_rows_per_file=200_000, enable_stable_row_ids=True,
    ),
    "spilled lineage": dataset_row(
        _spilled, "DataFragment.column_row_ids", rows=20_000, enable_stable_row_ids=True
    ),
    "config": dataset_row(
        lambda dataset: dataset.update_config({"k": "v", "gone": None}),
        "Manifest.config", "UpdateMapEntry.value",
    ),
    "table metadata": dataset_row(
        lambda dataset: dataset.update_metadata({"k": "v"}), "Manifest.table_metadata"
    ),
    "schema metadata": dataset_row(
        lambda dataset: dataset.update_schema_metadata({"k": "v"}, replace=True),
        "Manifest.schema_metadata", "UpdateMap.replace",
    ),
    "field metadata": dataset_row(
        lambda dataset: dataset.update_field_metadata({"a": {"k": "v"}}),
        "UpdateConfig.field_metadata_updates", "Field.metadata",
    ),
    "transaction properties": dataset_row(
        None, "Transaction.transaction_properties",
        transaction_properties={"k": "v"}, commit_message="why",
    ),
    "branch and tag": dataset_row(_branch, "Manifest.branch", "Clone.branch_name"),
    "shallow clone": Row(_shallow_clone, "Clone.is_shallow", "DataFile.base_id",
                         "DeletionFile.base_id", "IndexMetadata.base_id"),
    "deep clone": Row(_deep_clone, "Transaction.clone"),
    "several bases": Row(_bases, "Manifest.base_paths", "BasePath.name", "UpdateBases.new_bases",
                         "Overwrite.initial_bases"),
    "detached": dataset_row(_detached, "Delete.deleted_fragment_ids"),
    "restore": dataset_row(_restored, "Restore.version"),
    "index entry": dataset_row(
        lambda dataset: dataset.create_scalar_index("a", "BTREE"),
        "IndexMetadata.uuid", "IndexMetadata.files", "CreateIndex.new_indices",
    ),
    "index dropped": dataset_row(_index_and_drop, "CreateIndex.removed_indices"),
    "memory log entry": dataset_row(
        lambda dataset: dataset.initialize_mem_wal(), "MemWalIndexDetails.maintain_all_indexes"
    ),
    "key filter": Row(_merge_insert_by_key, "Update.inserted_rows", "BloomFilter.bitmap"),
    "blob 2": Row(_blob, "Field.extension_name"),
    "dense overlay": dataset_row(_overlay([1, 3]), "DataOverlayFile.shared_offset_bitmap"),
    "sparse overlay": dataset_row(_overlay([[1, 3]]), "FieldCoverage.offset_bitmaps"),
    "empty dataset": Row(_empty, "Manifest.fields"),
}  # fmt: skip

NOT_WRITTEN = {
    "U64Segment.array": "read; the writer makes several segments instead",
    "EncodedU64Array.u64_array": "read; the writer makes several segments instead",
    "Manifest.fragment_tree": "reserved",
    "Manifest.clustering": "reserved",
    "Manifest.max_clustering_id": "reserved",
    "Manifest.version_aux_data": "of former times",
    "Manifest.tag": "tags are files of their own",
    "Manifest.transaction_section_deprecated": "read when field 23 is absent",
    "DataFragment.clustering_id": "reserved",
    "Rewrite.old_fragments": "deprecated, groups hold them",
    "Rewrite.new_fragments": "deprecated, groups hold them",
    "UpdateConfig.upsert_values": "deprecated",
    "UpdateConfig.delete_keys": "deprecated",
    "KeyExistenceFilter.exact": "a Bloom filter even for one row",
}

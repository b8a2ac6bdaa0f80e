"""What the oracle is made to write beside the cases of the suite."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa

if TYPE_CHECKING:
    import lance

Change = Callable[["lance.LanceDataset"], object]
KEY = {"lance-schema:unenforced-primary-key": "true"}
KEYED = pa.schema([pa.field("id", pa.int64(), False, KEY), ("v", pa.int64())])


class Row:
    """`make` writes files into a folder; they hold the fields `shows`, named `Message.field`."""

    def __init__(self, make: Callable[[Path], object], *shows: str) -> None:
        self.make = make
        self.shows = shows


def table(start: int, rows: int) -> pa.Table:
    """Make rows `a` = start, start + 1 ... and `s`."""
    numbers = list(range(start, start + rows))
    return pa.table({"a": numbers, "s": [f"row {i}" for i in numbers]})


def dataset_row(change: Change | None, *shows: str, rows: int = 20, **options: Any) -> Row:
    """Make a row of one dataset of several fragments that is changed once."""

    def make(folder: Path) -> None:
        dataset = create(folder, rows, **options)
        if change is not None:
            change(dataset)

    return Row(make, *shows)


def create(folder: Path, rows: int = 20, **options: Any) -> lance.LanceDataset:
    """Write a dataset in two fragments."""
    import lance

    options = {"max_rows_per_file": -(-rows // 2), **options}
    return lance.write_dataset(table(0, rows), folder / "table.lance", **options)


def _compact(dataset: lance.LanceDataset) -> None:
    options = {"materialize_deletions_threshold": 0.0, "target_rows_per_fragment": 1_000_000}
    dataset.optimize.compact_files(**options)


def _delete_and_compact(predicate: str) -> Change:
    def change(dataset: lance.LanceDataset) -> None:
        dataset.delete(predicate)
        _compact(dataset)

    return change


def _update_columns(dataset: lance.LanceDataset) -> None:
    from lance import LanceOperation

    new = pa.table({"a": [0, 1], "s": ["x", "y"]})
    part = dataset.get_fragments()[0]
    fragment, ids, offsets = part.update_columns(new, "a", with_offsets=True)
    operation = LanceOperation.Update(
        updated_fragments=[fragment],
        fields_modified=ids,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: offsets},
    )
    dataset.commit(dataset.uri, operation, read_version=dataset.version)


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
        with patch.dict(os.environ, {"LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES": "1"}):
            dataset.commit(dataset.uri, operation, read_version=dataset.version)

    return change


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


def _branch(dataset: lance.LanceDataset) -> None:
    branch = dataset.create_branch("dev/x")
    branch.delete("a = 1")
    dataset.tags.create("first", 1)


def _merge_insert_by_key(folder: Path) -> None:
    import lance

    schema = pa.schema([pa.field("a", pa.int64(), False, KEY), ("s", pa.string())])
    dataset = lance.write_dataset(table(0, 9).cast(schema), folder / "keyed.lance")
    builder = dataset.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    builder.execute(table(7, 5).cast(schema))


def _memory_log(folder: Path, **options: Any) -> None:
    import lance

    rows = pa.table({"id": [1, 2, 3], "v": [1, 2, 3]}, schema=KEYED)
    dataset = lance.write_dataset(rows, folder / "t.lance")
    dataset.create_scalar_index("id", "BTREE")
    dataset.initialize_mem_wal(maintained_indexes=["id_idx"], **options)
    shard = str(uuid.UUID(int=7))
    with lance.dataset(dataset.uri).mem_wal_writer(shard) as writer:
        writer.put(pa.table({"id": [5, 6], "v": [1, 2]}, schema=KEYED))


ROWS = {
    "update every row": dataset_row(
        lambda dataset: dataset.update({"s": "'x'"}), "Update.removed_fragment_ids"
    ),
    "update columns with offsets": dataset_row(
        _update_columns, "Update.updated_fragment_offset_bitmaps"
    ),
    "replace a column": dataset_row(_replace_column, "DataReplacementGroup.new_file"),
    "range with holes": dataset_row(
        _delete_and_compact("a in (5, 9)"), "RangeWithHoles.holes",
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
    "several bases": Row(_bases, "Manifest.base_paths", "BasePath.name", "UpdateBases.new_bases",
                         "Overwrite.initial_bases"),
    "memory log entry": dataset_row(
        lambda dataset: dataset.initialize_mem_wal(), "MemWalIndexDetails.maintain_all_indexes"
    ),
    "key filter": Row(_merge_insert_by_key, "Update.inserted_rows", "BloomFilter.bitmap"),
    "dense overlay": dataset_row(_overlay([1, 3]), "DataOverlayFile.shared_offset_bitmap"),
    "sparse overlay": dataset_row(_overlay([[1, 3]]), "FieldCoverage.offset_bitmaps"),
    "memory log in buckets": Row(
        lambda folder: _memory_log(folder, bucket_column="id", num_buckets=4),
        "ShardingField.parameters",
        "MemWalIndexDetails.maintained_indexes",
        "ShardManifest.sstables",
        "SsTable.path",
    ),
    "memory log with settings": Row(
        lambda folder: _memory_log(folder, unsharded=True, durable_write=True),
        "MemWalIndexDetails.writer_config_defaults",
    ),
}  # fmt: skip

"""Inventory of scalar indices, of the fragment reuse index, and of the in-memory log."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .row import Change, Row, create

if TYPE_CHECKING:
    import lance

TEXTS = [f"the {word} fox number {i}" for i in range(5) for word in ("quick", "lazy", "café", "x")]
KEYED = pa.schema(
    [
        pa.field("id", pa.int64(), False, metadata={"lance-schema:unenforced-primary-key": "true"}),
        pa.field("v", pa.int64()),
    ]
)


def _rows(start: int) -> pa.Table:
    numbers = list(range(start, start + 20))
    points = [{"x": float(i), "y": float(-i)} for i in numbers]
    coordinates = pa.struct(
        [pa.field("x", pa.float64(), False), pa.field("y", pa.float64(), False)]
    )
    fields = [
        ("a", pa.int64()),
        ("s", pa.string()),
        ("l", pa.list_(pa.string())),
        ("j", pa.json_()),
        pa.field("g", coordinates, metadata={"ARROW:extension:name": "geoarrow.point"}),
    ]
    json = pa.array([f'{{"a": {i}}}' for i in numbers])
    arrays = [
        pa.array(numbers),
        pa.array(TEXTS),
        pa.array([[f"t{i % 3}", "u"] for i in numbers]),
        pa.ExtensionArray.from_storage(pa.json_(), json),
        pa.array(points, coordinates),
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _config(kind: str, **parameters: Any) -> Any:
    from lance.indices import IndexConfig

    return IndexConfig(kind, parameters)


def _indexed(column: str, kind: Any, then: Change | None = None, **options: Any) -> Any:
    """Return a function that indexes a column of a dataset of two fragments, then changes it."""

    def make(folder: Path) -> None:
        import lance

        stable = options.pop("enable_stable_row_ids", False)
        dataset = lance.write_dataset(
            _rows(0), folder / "t.lance", max_rows_per_file=10, enable_stable_row_ids=stable
        )
        given = kind() if callable(kind) else kind
        dataset.create_scalar_index(column, given, **options)
        if then is not None:
            then(lance.dataset(dataset.uri))

    return make


def _append(dataset: lance.LanceDataset) -> None:
    import lance

    lance.write_dataset(_rows(50), dataset.uri, mode="append")


def _append_and_optimize(dataset: lance.LanceDataset) -> None:
    import lance

    _append(dataset)
    lance.dataset(dataset.uri).optimize.optimize_indices(num_indices_to_merge=0)


def _compact_twice(dataset: lance.LanceDataset) -> None:
    import lance

    dataset.delete("a = 3")
    dataset.optimize.compact_files(defer_index_remap=True, materialize_deletions_threshold=0.0)
    _append(dataset)
    again = lance.dataset(dataset.uri)
    again.delete("a = 51")
    again.optimize.compact_files(defer_index_remap=True, materialize_deletions_threshold=0.0)


def _segments(folder: Path) -> None:
    dataset = create(folder)
    parts = [
        dataset.create_index_uncommitted("a", "BTREE", name="a_idx", fragment_ids=[fragment])
        for fragment in (0, 1)
    ]
    merged = dataset.merge_existing_index_segments(parts)
    dataset.commit_existing_index_segments("a_idx", "a", [merged])


def _of_list_elements(folder: Path) -> None:
    from lance.query import DocumentGranularity

    granularity = DocumentGranularity.LIST_ELEMENT
    _indexed("l", "INVERTED", document_granularity=granularity)(folder)


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
    "BTREE": Row(_indexed("a", "BTREE"), "IndexMetadata.index_details"),
    "BTREE with a zone size": Row(
        _indexed("a", lambda: _config("btree", zone_size=5)), "IndexMetadata.index_details"
    ),
    "BITMAP": Row(_indexed("a", "BITMAP"), "IndexMetadata.fragment_bitmap"),
    "LABEL_LIST": Row(_indexed("l", "LABEL_LIST"), "IndexMetadata.index_version"),
    "NGRAM": Row(_indexed("s", "NGRAM"), "IndexMetadata.index_details"),
    "ZONEMAP": Row(
        _indexed("s", "ZONEMAP", _append),
        "ZoneMapIndexDetails.rows_per_zone",
        "ZoneMapIndexDetails.use_seeds",
        "ZoneMapIndexDetails.has_null_bitmap",
    ),
    "ZONEMAP without seeds": Row(
        _indexed("s", lambda: _config("zonemap", rows_per_zone=4, use_seeds=False)),
        "ZoneMapIndexDetails.rows_per_zone",
    ),
    "BLOOMFILTER": Row(
        _indexed("a", lambda: _config("bloomfilter", number_of_items=50, probability=0.01)),
        "IndexMetadata.index_details",
    ),
    "INVERTED 1": Row(
        _indexed("s", "INVERTED", format_version=1),
        "InvertedIndexDetails.posting_format_version",
    ),
    "INVERTED 2 with positions": Row(
        _indexed("s", "INVERTED", with_position=True, base_tokenizer="whitespace"),
        "InvertedIndexDetails.with_position",
        "InvertedIndexDetails.language",
    ),
    "INVERTED of n-grams": Row(
        _indexed("s", "INVERTED", base_tokenizer="ngram", prefix_only=True),
        "InvertedIndexDetails.prefix_only",
        "InvertedIndexDetails.min_ngram_length",
    ),
    "INVERTED of code": Row(
        _indexed("s", "INVERTED", base_tokenizer="code", split_identifiers=True),
        "InvertedIndexDetails.code_config",
    ),
    "INVERTED 3": Row(_indexed("s", "INVERTED", block_size=256), "InvertedIndexDetails.block_size"),
    "INVERTED of list elements": Row(
        _of_list_elements,
        "InvertedIndexDetails.document_granularity",
    ),
    "RTREE": Row(_indexed("g", "RTREE"), "IndexMetadata.index_details"),
    "JSON": Row(
        _indexed("j", lambda: _config("json", target_index_type="btree", path="a")),
        "JsonIndexDetails.path",
        "JsonIndexDetails.target_details",
    ),
    "MINHASHLSH": Row(
        _indexed("s", "MINHASHLSH"),
        "MinHashLshIndexDetails.num_bands",
        "MinHashLshIndexDetails.tokenizer",
    ),
    "FM": Row(_indexed("s", lambda: _config("fm")), "IndexMetadata.index_details"),
    "fragment reuse": Row(
        _indexed("a", "BTREE", _compact_twice),
        "Version.groups",
        "Group.changed_row_addrs",
        "FragmentDigest.num_deleted_rows",
    ),
    "memory log in buckets": Row(
        lambda folder: _memory_log(folder, bucket_column="id", num_buckets=4),
        "ShardingField.parameters",
        "MemWalIndexDetails.maintained_indexes",
        "ShardManifest.sstables",
        "SsTable.path",
    ),
    "memory log by identity": Row(
        lambda folder: _memory_log(folder, identity_column="v"), "ShardingField.transform"
    ),
    "memory log with settings": Row(
        lambda folder: _memory_log(folder, unsharded=True, durable_write=True),
        "MemWalIndexDetails.writer_config_defaults",
    ),
    "merged segments": Row(_segments, "CreateIndex.new_indices"),
    "delta segments": Row(_indexed("a", "BTREE", _append_and_optimize), "IndexMetadata.files"),
    "stable ids": Row(
        _indexed("a", "BTREE", enable_stable_row_ids=True), "IndexMetadata.index_version"
    ),
}

NOT_WRITTEN = {
    "FragmentReuseIndexDetails.external": "needs millions of rows; the file is an InlineContent",
    "InlineContent.transitions": "newer than the oracle",
    "JsonIndexDetails.target_data_type": "newer than the oracle",
    "IndexMetadata.covering_fields": "read, never filled",
}

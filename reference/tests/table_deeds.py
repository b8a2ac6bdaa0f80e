"""Deeds: one operation of each kind that writes to a table, for tests that interrupt it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref

ROWS = 300


@dataclass(frozen=True, slots=True)
class Deed:
    """What is done to a table, and how the table is prepared before."""

    act: Callable[[pylanceref.LanceDataset], object]
    prepare: Callable[[Path], object]


def rows(start: int = 0, count: int = ROWS) -> pa.Table:
    """Return rows with numbers, words, vectors."""
    numbers = np.arange(start, start + count)
    values = np.random.default_rng(start).standard_normal(count * 4).astype(np.float32)
    return pa.table(
        {
            "a": pa.array(numbers, pa.int64()),
            "text": [f"word{one % 7} of row{one}" for one in numbers.tolist()],
            "tags": [[f"t{one % 3}"] for one in numbers.tolist()],
            "v": pa.FixedSizeListArray.from_arrays(pa.array(values), 4),
        }
    )


def plain(path: Path) -> None:
    """Write a table of two fragments with deleted rows and an index."""
    made = pylanceref.write_dataset(rows(), path)
    made = pylanceref.write_dataset(rows(ROWS, 20), path, mode="append")
    made.delete("a < 3")
    made.create_scalar_index("a", "BTREE", name="first")
    pylanceref.write_dataset(rows(ROWS + 20, 5), path, mode="append")


def early(path: Path) -> None:
    """Write a table of file version 0.1."""
    pylanceref.write_dataset(rows(), path, data_storage_version="legacy")


def _append(table: pylanceref.LanceDataset) -> None:
    pylanceref.write_dataset(rows(900, 4), table.uri, mode="append")


def _overwrite(table: pylanceref.LanceDataset) -> None:
    pylanceref.write_dataset(rows(900, 4), table.uri, mode="overwrite")


def _merge(table: pylanceref.LanceDataset) -> None:
    joined = table.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    joined.execute(rows(310, 30))


def _blobs(table: pylanceref.LanceDataset) -> None:
    field = pylanceref.blob_field("b")
    sizes = (10, 100_000, 5 << 20)
    values = pylanceref.blob_array([bytes([65 + n]) * size for n, size in enumerate(sizes)])
    rows = pa.Table.from_arrays([values], schema=pa.schema([field]))
    pylanceref.write_dataset(rows, table.uri, mode="overwrite", data_storage_version="2.2")


def _tag(table: pylanceref.LanceDataset) -> None:
    table.tags.create("new", table.version)


def _move_tag(table: pylanceref.LanceDataset) -> None:
    table.tags.create("new", 1)
    table.tags.update("new", table.version)


def _restore(table: pylanceref.LanceDataset) -> None:
    table.checkout_version(2).restore()


def _vectors(index_type: str, **options: object) -> Deed:
    def act(table: pylanceref.LanceDataset) -> None:
        table.create_index("v", index_type, num_partitions=2, **options)

    return Deed(act, plain)


def _scalar(column: str, index_type: str) -> Deed:
    return Deed(lambda table: table.create_scalar_index(column, index_type, name="i"), plain)


DEEDS = {
    "append": Deed(_append, plain),
    "append to 0.1": Deed(_append, early),
    "overwrite": Deed(_overwrite, plain),
    "delete": Deed(lambda table: table.delete("a > 100 and a < 104"), plain),
    "update": Deed(lambda table: table.update({"text": "'x'"}, "a < 9"), plain),
    "merge_insert": Deed(_merge, plain),
    "add_columns": Deed(lambda table: table.add_columns({"c": "a + 1"}), plain),
    "drop_columns": Deed(lambda table: table.drop_columns(["text"]), plain),
    "compaction": Deed(lambda table: table.optimize.compact_files(), plain),
    "optimize_indices": Deed(lambda table: table.optimize.optimize_indices(), plain),
    "BTREE": _scalar("a", "BTREE"),
    "BITMAP": _scalar("a", "BITMAP"),
    "ZONEMAP": _scalar("a", "ZONEMAP"),
    "BLOOMFILTER": _scalar("a", "BLOOMFILTER"),
    "LABEL_LIST": _scalar("tags", "LABEL_LIST"),
    "NGRAM": _scalar("text", "NGRAM"),
    "INVERTED": _scalar("text", "INVERTED"),
    "IVF_FLAT": _vectors("IVF_FLAT"),
    "IVF_PQ": _vectors("IVF_PQ", num_sub_vectors=2),
    "IVF_HNSW_SQ": _vectors("IVF_HNSW_SQ"),
    "tag": Deed(_tag, plain),
    "tag moved": Deed(_move_tag, plain),
    "branch": Deed(lambda table: table.create_branch("side"), plain),
    "restore": Deed(_restore, plain),
    "blobs": Deed(_blobs, plain),
    "cleanup": Deed(lambda table: table.cleanup_old_versions(retain_versions=1), plain),
}
"""Every deed by its name."""

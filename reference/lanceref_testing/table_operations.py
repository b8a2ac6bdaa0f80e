"""Table operations: everything that changes a table, for a table with a bit of everything.

The table has a version for each of its three fragments, and versions in which rows were deleted, a
column was added and a setting was changed; a tag and a branch refer to older versions. Tests and
campaigns interrupt the operations, and check the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from types import ModuleType

import numpy as np
import pyarrow as pa

NOW = timedelta(0)
"""Minimum age of the versions that a cleanup removes."""

Operation = Callable[[ModuleType, str], object]
"""Changes the table at a path, by a module with the names of pylance."""


def new_rows(ids: Sequence[int], n: int = 0) -> pa.Table:
    """Return rows without the column `twice`, which is added later."""
    values = np.random.default_rng(list(ids)).standard_normal(len(ids) * 4, np.float32)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "n": pa.array([n] * len(ids), pa.int64()),
            "text": [f"word{one % 7} of row{one}" for one in ids],
            "tags": [[f"t{one % 3}"] for one in ids],
            "v": pa.FixedSizeListArray.from_arrays(pa.array(values), 4),
        }
    )


def rows(*ids: int) -> pa.Table:
    """Return rows for the table."""
    return new_rows(ids, 7).append_column("twice", pa.array([14] * len(ids), pa.int64()))


def build(
    engine: ModuleType,
    uri: str,
    *,
    stable: bool = False,
    v2_names: bool = True,
    version: str | None = None,
    make: Callable[[Sequence[int]], pa.Table] = new_rows,
) -> None:
    """Create the table with ids from 0 to 29; `make` returns the rows of ids."""
    for number in range(3):
        engine.write_dataset(
            make(range(10 * number, 10 * number + 10)),
            uri,
            mode="append" if number else "create",
            data_storage_version=version,
            enable_stable_row_ids=stable,
            enable_v2_manifest_paths=v2_names,
        )
    table = engine.dataset(uri)
    table.tags.create("old", 2)
    table.delete("id in (3, 4, 15)")
    table.create_branch("side").delete("id = 20")
    engine.dataset(uri).add_columns({"twice": "n * 2"})
    engine.dataset(uri).update_config({"kind": "x"})


def build_legacy(engine: ModuleType, uri: str) -> None:
    """Create a table of file version 0.1 with the same columns."""
    engine.write_dataset(rows(*range(30)), uri, data_storage_version="legacy")


def prepare(engine: ModuleType, operation: str, uri: str) -> None:
    """Create the table on which an operation runs."""
    if operation == "append to 0.1":
        build_legacy(engine, uri)
    elif operation != "create":
        build(engine, uri)


def cleanup(lance: ModuleType, path: str, options: dict[str, str] | None = None) -> None:
    """Remove all versions but the latest, tags and branches, and every unreferenced file."""
    table = lance.dataset(path, storage_options=options)
    branches = [table.checkout_version((name, None)) for name in table.branches.list()]
    for one in (table, *branches):
        one.cleanup_old_versions(NOW, delete_unverified=True, error_if_tagged_old_versions=False)


def _merge_insert(lance: ModuleType, path: str) -> None:
    merge = lance.dataset(path).merge_insert("id")
    merge.when_matched_update_all().when_not_matched_insert_all().execute(rows(1, 21, 50))


ON_ROWS: dict[str, Operation] = {
    "create": lambda lance, path: lance.write_dataset(rows(1, 2), path),
    "append": lambda lance, path: lance.write_dataset(rows(40, 41), path, mode="append"),
    "append files": lambda lance, path: lance.write_dataset(
        rows(40, 41, 42), path, mode="append", max_rows_per_file=1
    ),
    "overwrite": lambda lance, path: lance.write_dataset(rows(60), path, mode="overwrite"),
    "delete": lambda lance, path: lance.dataset(path).delete("id in (1, 12, 22)"),
    "delete fragment": lambda lance, path: lance.dataset(path).delete("id < 10"),
    "truncate": lambda lance, path: lance.dataset(path).truncate_table(),
    "update": lambda lance, path: lance.dataset(path).update({"n": "n + 1"}, "id in (1, 12, 22)"),
    "merge insert": _merge_insert,
    "compaction": lambda lance, path: lance.dataset(path).optimize.compact_files(),
}
"""Operations on rows by name; `create` runs without a table."""

ON_METADATA: dict[str, Operation] = {
    "add columns": lambda lance, path: lance.dataset(path).add_columns({"more": "id + 1"}),
    "drop columns": lambda lance, path: lance.dataset(path).drop_columns(["twice"]),
    "cast column": lambda lance, path: lance.dataset(path).alter_columns(
        {"path": "n", "data_type": pa.int32()}
    ),
    "configure": lambda lance, path: lance.dataset(path).update_config({"other": "y"}),
    "restore": lambda lance, path: lance.dataset(path, 2).restore(),
    "tag": lambda lance, path: lance.dataset(path).tags.create("new"),
    "move tag": lambda lance, path: lance.dataset(path).tags.update("old", 3),
    "delete tag": lambda lance, path: lance.dataset(path).tags.delete("old"),
    "branch": lambda lance, path: lance.dataset(path).create_branch("wing"),
    "branch of tag": lambda lance, path: lance.dataset(path).create_branch("a/b", "old"),
    "delete branch": lambda lance, path: lance.dataset(path).branches.delete("side"),
    "clean up": cleanup,
    "drop": lambda lance, path: lance.LanceDataset.drop(path, ignore_not_found=True),
}
"""Operations on columns, settings, references, and the table as a whole."""


def _scalar(column: str, kind: str) -> Operation:
    return lambda lance, path: lance.dataset(path).create_scalar_index(column, kind)


def _vectors(kind: str, **more: object) -> Operation:
    options: dict[str, object] = {"num_partitions": 2, **more}
    return lambda lance, path: lance.dataset(path).create_index("v", kind, **options)


def _optimize_indices(lance: ModuleType, path: str) -> None:
    """Optimize an index that covers no rows."""
    lance.dataset(path).create_scalar_index("id", "BTREE", train=False)
    lance.dataset(path).optimize.optimize_indices()


INDEXING: dict[str, Operation] = {
    **{kind: _scalar("id", kind) for kind in ("BTREE", "BITMAP", "ZONEMAP", "BLOOMFILTER")},
    "LABEL_LIST": _scalar("tags", "LABEL_LIST"),
    **{kind: _scalar("text", kind) for kind in ("NGRAM", "INVERTED")},
    "IVF_FLAT": _vectors("IVF_FLAT"),
    "IVF_PQ": _vectors("IVF_PQ", num_sub_vectors=2, num_bits=4),
    "IVF_HNSW_SQ": _vectors("IVF_HNSW_SQ"),
    "optimize indices": _optimize_indices,
}
"""Operations that build indices, by their types."""


def _blobs(lance: ModuleType, path: str) -> None:
    sizes = (10, 100_000, 5 << 20)
    values = lance.blob_array([bytes([65 + n]) * size for n, size in enumerate(sizes)])
    schema = pa.schema([lance.blob_field("b")])
    table = pa.Table.from_arrays([values], schema=schema)
    lance.write_dataset(table, path, mode="overwrite", data_storage_version="2.2")


OF_OTHER_FILES: dict[str, Operation] = {"append to 0.1": ON_ROWS["append"], "blobs": _blobs}
"""Operations on, or to, files of another version."""

OPERATIONS = ON_ROWS | ON_METADATA | INDEXING | OF_OTHER_FILES

REMOVALS = ("delete branch", "clean up", "drop")
"""Operations that take effect at their first step, and then remove files."""

"""Operations: everything that changes a table, on one that has a bit of everything.

The table has three versions more than its fragments: rows were deleted, a column was added, a
setting was changed; a tag and a branch hold older versions.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from uuid import UUID

import pyarrow as pa
import pylanceref
from pylanceref.operation import Index

NOW = timedelta(0)
"""Age of the youngest version that goes in a cleanup."""

Operation = Callable[[str], object]
"""Changes the table at a path."""


def build(engine: ModuleType, uri: str, *, stable: bool = False, v2_names: bool = True) -> None:
    """Make the table, by either implementation."""
    for number in range(3):
        rows = pa.table({"id": range(10 * number, 10 * number + 10), "n": [0] * 10})
        engine.write_dataset(
            rows,
            uri,
            mode="append" if number else "create",
            enable_stable_row_ids=stable,
            enable_v2_manifest_paths=v2_names,
        )
    table = engine.dataset(uri)
    table.tags.create("old", 2)
    table.delete("id in (3, 4, 15)")
    table.create_branch("side").delete("id = 20")
    engine.dataset(uri).add_columns({"twice": "n * 2"})
    engine.dataset(uri).update_config({"kind": "x"})


def rows(*ids: int) -> pa.Table:
    """Return rows for the table."""
    count = len(ids)
    return pa.table({"id": pa.array(ids, pa.int64()), "n": [7] * count, "twice": [14] * count})


def cleanup(path: str, options: dict[str, str] | None = None) -> None:
    """Remove all but the latest version, tags and branches, and every file that nothing needs."""
    table = pylanceref.dataset(path, storage_options=options)
    branches = [table.checkout_version((name, None)) for name in table.branches.list()]
    for one in (table, *branches):
        one.cleanup_old_versions(NOW, delete_unverified=True, error_if_tagged_old_versions=False)


def _merge_insert(path: str) -> None:
    merge = pylanceref.dataset(path).merge_insert("id")
    merge.when_matched_update_all().when_not_matched_insert_all().execute(rows(1, 21, 50))


def _index(path: str) -> None:
    """Write the folder of an index and commit its entry; who writes such a folder removes it."""
    number = UUID(int=7)
    folder = Path(path, "_indices", str(number))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "page_data.lance").write_bytes(b"x")
    version = pylanceref.dataset(path).version
    entry = Index(str(number), "by_n", [1], version, [0, 1, 2], 0)
    operation = pylanceref.LanceOperation.CreateIndex([entry], [])
    try:
        pylanceref.LanceDataset.commit(path, operation, read_version=version)
    except OSError:
        shutil.rmtree(folder)
        raise


ON_ROWS: dict[str, Operation] = {
    "create": lambda path: pylanceref.write_dataset(rows(1, 2), path),
    "append": lambda path: pylanceref.write_dataset(rows(40, 41), path, mode="append"),
    "append files": lambda path: pylanceref.write_dataset(
        rows(40, 41, 42), path, mode="append", max_rows_per_file=1
    ),
    "overwrite": lambda path: pylanceref.write_dataset(rows(60), path, mode="overwrite"),
    "delete": lambda path: pylanceref.dataset(path).delete("id in (1, 12, 22)"),
    "delete fragment": lambda path: pylanceref.dataset(path).delete("id < 10"),
    "truncate": lambda path: pylanceref.dataset(path).truncate_table(),
    "update": lambda path: pylanceref.dataset(path).update({"n": "n + 1"}, "id in (1, 12, 22)"),
    "merge insert": _merge_insert,
    "compaction": lambda path: pylanceref.dataset(path).optimize.compact_files(),
}
"""Operations on rows by name; `create` begins where no table is."""

ON_THE_REST: dict[str, Operation] = {
    "add columns": lambda path: pylanceref.dataset(path).add_columns({"more": "id + 1"}),
    "drop columns": lambda path: pylanceref.dataset(path).drop_columns(["twice"]),
    "cast column": lambda path: pylanceref.dataset(path).alter_columns(
        {"path": "n", "data_type": pa.int32()}
    ),
    "configure": lambda path: pylanceref.dataset(path).update_config({"other": "y"}),
    "index entry": _index,
    "restore": lambda path: pylanceref.dataset(path, 2).restore(),
    "tag": lambda path: pylanceref.dataset(path).tags.create("new"),
    "move tag": lambda path: pylanceref.dataset(path).tags.update("old", 3),
    "delete tag": lambda path: pylanceref.dataset(path).tags.delete("old"),
    "branch": lambda path: pylanceref.dataset(path).create_branch("wing"),
    "branch of tag": lambda path: pylanceref.dataset(path).create_branch("a/b", "old"),
    "delete branch": lambda path: pylanceref.dataset(path).branches.delete("side"),
    "clean up": cleanup,
    "drop": lambda path: pylanceref.LanceDataset.drop(path, ignore_not_found=True),
}
"""Operations on columns, settings, references, and the table as a whole."""

OPERATIONS = ON_ROWS | ON_THE_REST

REMOVALS = ("delete branch", "clean up", "drop")
"""Operations that take effect at their beginning, and then have files to remove."""

"""Operations: everything that changes a table, on one that has a bit of everything, and its files.

The table has three versions more than its fragments: rows were deleted, a column was added, a
setting was changed; a tag and a branch hold older versions. Files below its root that nothing
needs, and those that are needed and not there, are counted from the messages of the manifests,
apart from how a cleanup goes about it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from uuid import UUID

import pyarrow as pa
import pylanceref
from lanceref.core.context import Context
from lanceref.proto.table_pb2 import DeletionFile
from lanceref.storage import LocalSource
from lanceref.table.manifest import Manifest, open_manifest
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


SUFFIXES = {DeletionFile.ARROW_ARRAY: "arrow", DeletionFile.BITMAP: "bin"}


def residue(root: Path, uri: str = "") -> set[str]:
    """Return the files that nothing needs, by their paths below the root.

    `uri` is what the table calls its root where the files are copies.
    """
    return _there(root) - _needed(root, uri)


def missing(root: Path, uri: str = "") -> set[str]:
    """Return the files that a version needs and that are not there."""
    lacking = _needed(root, uri) - _there(root)
    return {path for path in lacking if not path.startswith("_transactions/")}


def _there(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def _needed(root: Path, uri: str) -> set[str]:
    """Return the files of all versions of all branches, and those that name versions."""
    needed = {str(path.relative_to(root)) for path in root.glob("_refs/*/*.json")}
    tables = [root, *(path.parent for path in root.glob("tree/**/_versions"))]
    for table in tables:
        below = table.relative_to(root)
        hint = below / "_versions" / "latest_version_hint.json"
        needed |= {str(hint)} & _there(root)
        for path in table.glob("_versions/*.manifest"):
            needed.add(str(path.relative_to(root)))
            manifest = open_manifest(LocalSource(str(path)), Context(path.name))
            for base, name in _named(manifest, root, uri):
                home = table if base is None else base
                if home.is_relative_to(root):
                    needed |= _at(root, home / name)
    return needed


def _at(root: Path, path: Path) -> set[str]:
    """Return a file, or all files of a folder."""
    found = path.rglob("*") if path.is_dir() else [path]
    return {str(one.relative_to(root)) for one in found if not one.is_dir()}


def _named(manifest: Manifest, root: Path, uri: str) -> Iterator[tuple[Path | None, str]]:
    """Yield the files and folders that a version names, and the roots of their bases."""
    message = manifest.message
    bases = {
        one.id: Path(one.path.replace(uri, f"{root}") if uri else one.path)
        for one in message.base_paths
    }
    if message.transaction_file:
        yield None, f"_transactions/{message.transaction_file}"
    for fragment in message.fragments:
        for file in fragment.files:
            yield bases.get(file.base_id) if file.HasField("base_id") else None, f"data/{file.path}"
        if fragment.HasField("deletion_file"):
            gone = fragment.deletion_file
            name = f"{fragment.id}-{gone.read_version}-{gone.id}.{SUFFIXES[gone.file_type]}"
            base = bases.get(gone.base_id) if gone.HasField("base_id") else None
            yield base, f"_deletions/{name}"
    for index in manifest.indices:
        yield None, f"_indices/{UUID(bytes=bytes(index.uuid.uuid))}"

"""Referenced and orphan files: every object that a version needs, and those that nothing needs.

A data file may have a folder of blobs beside it, and an index is a folder: both are named by the
beginning of the paths below them. An interrupted write leaves orphans: temporary and staged names
beside manifests and references, and the tables of branches that are not in the list of branches.

Clauses: L.table.cleanup.stray, L.table.files.exist, L.table.base.folder
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from uuid import UUID

from lanceref.storage import Entry, Store
from lanceref.storage.manifests.manifest_names import FOLDER as VERSIONS
from lanceref.storage.manifests.manifest_names import HINT, parse_name
from lanceref.table.bases import DATA_FOLDER, Bases
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.deletions import deletion_path
from lanceref.table.file_entries import base_of
from lanceref.table.manifest import Manifest
from lanceref.table.refs import BRANCHES, TAGS, TREE

INDICES = "_indices"
TRANSACTIONS = "_transactions"

OF_A_TABLE = (DATA_FOLDER, DELETIONS, INDICES, TRANSACTIONS, VERSIONS)
"""Folders directly below the root of a table or of a branch."""


@dataclass(frozen=True, slots=True)
class Needed:
    """An object, or with a slash at its end a folder, below a base (None: the table's own root)."""

    kind: str
    path: str
    base_id: int | None


def needed_by(manifest: Manifest, bases: Bases) -> Iterator[Needed]:
    """Yield what a version needs besides its manifest; blob folders whether they exist or not."""
    name = manifest.message.transaction_file
    if name:
        yield Needed("transaction file", f"{TRANSACTIONS}/{name}", None)
    for fragment in manifest.fragments:
        for file in (*fragment.files, *(overlay.file for overlay in fragment.overlays)):
            path = bases.data_path(file.path, file.base_id)
            yield Needed("data file", path, file.base_id)
            yield Needed("data file", f"{PurePosixPath(path).with_suffix('')}/", file.base_id)
        entry = fragment.deletion_file
        if entry is not None:
            path = deletion_path(fragment.id, entry, fragment.place)
            yield Needed("deletion file", path, base_of(entry))
    for index in manifest.indices:
        folder = f"{INDICES}/{UUID(bytes=bytes(index.uuid.uuid))}/"
        yield Needed("index file", folder, base_of(index))


def orphans(store: Store, branches: Container[str]) -> Iterator[Entry]:
    """Yield the orphans of a table, those below `tree` for its main branch; `branches` are listed.

    Any of them may also belong to a write that is not finished.
    """
    for entry in _below(store, VERSIONS):
        name = PurePosixPath(entry.path).name
        if name != HINT and parse_name(name) is None:
            yield entry
    for folder in (TAGS, BRANCHES):
        for entry in _below(store, folder):
            if not entry.path.endswith(".json"):
                yield entry
    for entry in _below(store, TREE):
        if branch_of(entry.path) not in branches:
            yield entry


def _below(store: Store, folder: str) -> Iterator[Entry]:
    """Yield the files of a folder; none of one that a link places outside the table."""
    return store.walk(folder) if store.owns(folder) else iter(())


def branch_of(path: str) -> str:
    """Return the branch that a file below the tree belongs to."""
    parts = PurePosixPath(path).parts
    end = next((n for n, part in enumerate(parts) if part in OF_A_TABLE), len(parts) - 1)
    return "/".join(parts[1:end])

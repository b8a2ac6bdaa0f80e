"""Strays: files that an interrupted write left where no reader ever looks.

Temporary and staged names beside manifests and references, and the tables of branches that are in
no list of branches: their creation or their removal did not come to its end.

Clauses: L.table.cleanup.stray
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import PurePosixPath

from lanceref.storage import Entry, Store
from lanceref.storage.manifests.manifest_names import FOLDER as VERSIONS
from lanceref.storage.manifests.manifest_names import HINT, parse_name
from lanceref.table.bases import DATA_FOLDER
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.ref_names import BRANCHES, TAGS, TREE
from lanceref.table.referenced_files import INDICES, TRANSACTIONS

OF_A_TABLE = (DATA_FOLDER, DELETIONS, INDICES, TRANSACTIONS, VERSIONS)
"""Folders directly below the root of a table or of a branch."""


def strays(store: Store, branches: Container[str]) -> Iterator[Entry]:
    """Yield the strays of a table, those below `tree` for its main branch; `branches` are listed.

    Any of them may also belong to a write that is still on its way.
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

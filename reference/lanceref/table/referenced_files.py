"""Inventory: every object that a version needs, by its place.

A data file may have a folder of blobs beside it, and an index is a folder: both are named by the
beginning of the paths below them.

Clauses: L.table.files.exist, L.table.base.folder
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from uuid import UUID

from lanceref.table.bases import Bases
from lanceref.table.deletions import deletion_path
from lanceref.table.manifest import Manifest

INDICES = "_indices"
TRANSACTIONS = "_transactions"


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
            base = entry.base_id if entry.HasField("base_id") else None
            yield Needed("deletion file", deletion_path(fragment.id, entry, fragment.place), base)
    for index in manifest.indices:
        base = index.base_id if index.HasField("base_id") else None
        folder = f"{INDICES}/{UUID(bytes=bytes(index.uuid.uuid))}/"
        yield Needed("index file", folder, base)

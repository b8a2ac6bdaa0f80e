"""Record of a manifest store: where the manifest of a version stands.

A manifest store keeps one record for each version of a table, under the table's key. The path of a
record is that of the manifest, or of a staged copy of it that is still to be put in its place; a
staged copy has the manifest's name with a hyphen and a UUID behind it.

Layout: `{key}/_versions/{name of the manifest}` or the same with `-{uuid}` at its end.

Clauses: L.txn.store.path
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol
from uuid import uuid4

from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.storage.manifests.manifest_names import FOLDER, SUFFIX, VersionName, parse_name


@dataclass(frozen=True, slots=True)
class Record:
    """Where the manifest of a version stands, from the table's root; its size where known."""

    version: int
    path: str
    size: int | None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def staged(self) -> bool:
        """Whether the path is that of a staged copy."""
        return parse_name(self.name) is None

    def placed(self) -> Record:
        """Return the record of the manifest in its place."""
        head, _, _ = self.name.partition(f"{SUFFIX}-")
        return replace(self, path=f"{FOLDER}/{head}{SUFFIX}") if self.staged else self


class ManifestStore(Protocol):
    """Records by table and version. Raises StoreFailed for what it cannot do.

    Paths are kept as `{key}/{path}`; a record is put in one step, and who asks next sees it.
    """

    def get(self, key: str, version: int) -> Record | None:
        """Return the record of a version."""

    def latest(self, key: str) -> Record | None:
        """Return the record of the greatest version that is attached."""

    def put_if_absent(self, key: str, record: Record) -> bool:
        """Put a record only if its version has none; atomic. Return False when it has one."""

    def put_if_present(self, key: str, record: Record) -> bool:
        """Put a record in place of the one its version has. Return False when it has none."""

    def forget(self, key: str) -> None:
        """Remove all records of a table."""


def staged_record(name: VersionName, size: int) -> Record:
    """Return the record of a copy that nobody else stages."""
    return Record(name.version, f"{name.path}-{uuid4()}", size)


def parse_record(key: str, version: int, path: str, size: int | None) -> Record:
    """Return a record as it is kept. Raises FormatError for a path that cannot be its manifest."""
    below = path.removeprefix(f"{key}/")
    record = Record(version, below, size)
    name = parse_name(record.placed().name)
    if path == below or below.count("/") != 1 or not below.startswith(f"{FOLDER}/"):
        name = None
    if name is None or name.version != version:
        raise FormatError(
            "L.txn.store.path",
            Context(key).at(0),
            found=f"path {path!r:.200} of version {version}",
            wanted=f"a manifest of that version below {key}/{FOLDER}",
        )
    return record

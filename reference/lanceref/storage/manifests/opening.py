"""Opening a table: the store of its URI, with the manifest store that its commits go through.

`s3+ddb://bucket/path?ddbTableName=T` names a DynamoDB table; the storage option `manifest_store`
names an SQLite file (`sqlite:///path`) for a table anywhere else: records in a file that all
writers of a machine share. Without either, the object store itself decides who commits.

Layout of the SQLite table manifests: base_uri, version, path, size, committer; base_uri and version
are its key.

Clauses: L.txn.store.key, L.txn.store.reserve
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from lanceref.core.errors import DataRefused, StoreFailed
from lanceref.storage import NO_OPTIONS, Store, StoreOptions, is_local, make_folder, open_store
from lanceref.storage.manifests.manifest_names import COMMITTER, ManifestStore, Record, parse_record
from lanceref.storage.manifests.store import ManifestedStore
from lanceref.storage.uri import Location, parse_uri

BUSY_SECONDS = 60.0
"""How long one writer waits for the others."""

SYNCHRONOUS = "PRAGMA synchronous = EXTRA"
"""A commit flushes the file and its folder: a power cut takes no record away."""

TABLE = """
CREATE TABLE IF NOT EXISTS manifests (
    base_uri TEXT NOT NULL, version INTEGER NOT NULL, path TEXT NOT NULL, size INTEGER,
    committer TEXT NOT NULL, PRIMARY KEY (base_uri, version)
)
"""


class SqliteManifests:
    """A `ManifestStore` in an SQLite file; every call opens it, so any process may come and go."""

    def __init__(self, path: str) -> None:
        self._path = path

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        try:
            make_folder(Path(self._path).parent)
            os.close(os.open(self._path, os.O_RDONLY | os.O_CREAT, 0o666))  # SQLite's own is 0644
            connection = sqlite3.connect(self._path, BUSY_SECONDS, isolation_level=None)
            with closing(connection):
                connection.execute(SYNCHRONOUS)
                connection.execute(TABLE)
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise StoreFailed(f"{self._path}: {error}") from error

    def _one(self, key: str, condition: str, values: Sequence[object]) -> Record | None:
        query = f"SELECT version, path, size FROM manifests WHERE base_uri = ? {condition}"
        with self._database() as database:
            row = database.execute(query, (key, *values)).fetchone()
        return None if row is None else parse_record(key, *row)

    def get(self, key: str, version: int) -> Record | None:
        return self._one(key, "AND version = ?", (version,))

    def latest(self, key: str) -> Record | None:
        return self._one(key, "ORDER BY version DESC LIMIT 1", ())

    def put_if_absent(self, key: str, record: Record) -> bool:
        row = (key, record.version, f"{key}/{record.path}", record.size, COMMITTER)
        with self._database() as database:
            made = database.execute("INSERT OR IGNORE INTO manifests VALUES (?, ?, ?, ?, ?)", row)
            return made.rowcount == 1

    def put_if_present(self, key: str, record: Record) -> bool:
        update = "UPDATE manifests SET path = ?, size = ? WHERE base_uri = ? AND version = ?"
        with self._database() as database:
            values = (f"{key}/{record.path}", record.size, key, record.version)
            return database.execute(update, values).rowcount == 1

    def forget(self, key: str) -> None:
        with self._database() as database:
            database.execute("DELETE FROM manifests WHERE base_uri = ?", (key,))


if TYPE_CHECKING:
    import sqlite3

OPTION = "manifest_store"
"""Storage option that names a manifest store."""

SQLITE = "sqlite://"
"""How the name of an SQLite file begins."""

_wraps: list[Callable[[ManifestStore], ManifestStore]] = []
"""What is put around every manifest store that is opened, the first innermost."""


@contextmanager
def wrapped_manifests(wrap: Callable[[ManifestStore], ManifestStore]) -> Iterator[None]:
    """Put `wrap` around every manifest store that is opened until the context ends."""
    _wraps.append(wrap)
    try:
        yield
    finally:
        _wraps.remove(wrap)


def open_table(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Store:
    """Return the store of a table. Raises NotFound, StoreFailed, ExtraMissing, and DataRefused."""
    store = open_store(uri, options)
    location = None if is_local(uri) else parse_uri(os.fspath(uri))
    named = options.own.get(OPTION)
    manifests: ManifestStore
    if location is not None and location.scheme == "s3+ddb":
        if options.commit_lock is not None or named is not None:
            raise DataRefused("`s3+ddb://` scheme and custom commit handler are mutually exclusive")
        from lanceref.storage.manifests.dynamodb import DynamoManifests

        manifests, key = DynamoManifests(_dynamodb_table(location), options.own), location.path
    elif named is not None:
        if not named.startswith(SQLITE):
            raise DataRefused(f"{OPTION}: {named!r} does not begin with {SQLITE}")
        manifests, key = SqliteManifests(named.removeprefix(SQLITE)), store.root.rstrip("/")
    else:
        return store
    for wrap in _wraps:
        manifests = wrap(manifests)
    return ManifestedStore(store, manifests, key)


def _dynamodb_table(location: Location) -> str:
    query = parse_qsl(location.query, keep_blank_values=True)
    if [name for name, _ in query] != ["ddbTableName"]:
        raise DataRefused("`s3+ddb://` scheme expects exactly one query `ddbTableName`")
    if not query[0][1]:
        raise DataRefused("`s3+ddb://` scheme requires non empty dynamodb table name")
    return query[0][1]

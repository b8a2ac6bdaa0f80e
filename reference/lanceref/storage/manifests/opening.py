"""Opening a table: the store of its URI, with the manifest store that its commits go through.

`s3+ddb://bucket/path?ddbTableName=T` names a DynamoDB table; the storage option `manifest_store`
names an SQLite file (`sqlite:///path`) for a table anywhere else: records in a file that all
writers of a machine share. Without either, the object store itself decides who commits.

Layout of the SQLite table manifests: base_uri, version, path, size, committer; base_uri and version
are its key.

A commit through a manifest store has a store of objects, and one of records. A manifest is staged
under a name that nobody else uses, then its record is put if the version has none: who puts it has
the version. Only then the bytes are put in the manifest's place, the record is made to name that
place, and the staged copy removed. Whoever finds a record that names a staged copy, because its
writer ended in between, takes the remaining steps before anything else.

Clauses: L.txn.store.key, L.txn.store.reserve, L.txn.store.stage, L.txn.store.place,
L.txn.store.synchronise, L.txn.store.size, L.txn.store.latest, L.txn.store.known,
L.txn.store.detached
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes, IOStats
from lanceref.core.errors import DataRefused, FormatError, NotFound, StoreFailed
from lanceref.storage import Source, Store, StoreOptions, is_local, open_store
from lanceref.storage.local import make_folder
from lanceref.storage.manifests.manifest_names import (
    COMMITTER,
    FOLDER,
    ManifestStore,
    Record,
    VersionName,
    parse_name,
    parse_record,
    staged_record,
)
from lanceref.storage.protocol import NO_OPTIONS
from lanceref.storage.uri import Location, above, joined, parse_uri

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


class ManifestedStore:
    """A `Store` whose manifests are committed through records under `key`."""

    def __init__(self, inner: Store, manifests: ManifestStore, key: str) -> None:
        self._inner, self._manifests, self._key = inner, manifests, key
        self.root, self.options = inner.root, inner.options
        self.lists_in_order = inner.lists_in_order
        # a version that is gone keeps its record, so that it is not used again
        self.create, self.put, self.delete = inner.create, inner.put, inner.delete
        self.exists, self.owns, self.walk = inner.exists, inner.owns, inner.walk

    @property
    def stats(self) -> IOStats:
        return self._inner.stats

    @stats.setter
    def stats(self, stats: IOStats) -> None:
        self._inner.stats = stats

    def at(self, root: str) -> ManifestedStore:
        """Return the store of a branch, or of the table a branch belongs to."""
        inner, key = self._inner.at(root), self._key
        head, own = root.partition("?")[0].rstrip("/"), self.root.partition("?")[0].rstrip("/")
        if head.startswith(f"{own}/"):
            key = joined(key, head.removeprefix(f"{own}/"))
        else:
            key = above(key, own.removeprefix(f"{head}/")) or key
        return ManifestedStore(inner, self._manifests, key)

    def open(self, path: str) -> Source:
        """Open an object for reading; a manifest once it is in its place, and of its size.

        Raises NotFound, FormatError.
        """
        name = _manifest(path)
        record = None if name is None else self._manifests.get(self._key, name.version)
        if record is not None and record.staged:
            self._place(record)
        source = self._inner.open(path)
        if record is not None and record.size not in (None, source.size):
            raise self._broken("L.txn.store.size", record, f"{source.size} bytes in its place")
        return source

    def list(self, prefix: str) -> Iterator[str]:
        """Yield names directly below `prefix`; a reserved version is put in its place before."""
        if prefix != FOLDER:
            yield from self._inner.list(prefix)
            return
        latest = self._manifests.latest(self._key)
        if latest is not None and latest.staged:  # L.txn.store.synchronise
            self._place(latest)
        names = list(self._inner.list(prefix))
        parsed = filter(None, (_manifest(f"{FOLDER}/{name}") for name in names))
        newest = max(parsed, key=lambda name: name.version, default=None)
        if newest is not None:
            self._compare(newest, latest)
        yield from names

    def _compare(self, newest: VersionName, latest: Record | None) -> None:
        """Record the newest manifest if nobody has. Raises FormatError when a newer one is gone."""
        if latest is None or latest.version < newest.version:  # L.txn.store.known
            with suppress(StoreFailed):  # who may only read leaves it to the next
                size = self._inner.open(newest.path).size
                record = Record(newest.version, newest.path, size)
                self._manifests.put_if_absent(self._key, record)
        elif latest.version > newest.version:
            raise self._broken("L.txn.store.latest", latest, "no manifest in its place")

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if none is there; a manifest only if its version has no record."""
        name = _manifest(path)
        if name is None:  # L.txn.store.detached
            return self._inner.put_if_absent(path, data)
        record = staged_record(name, len(data))
        self._inner.put(record.path, data)  # L.txn.store.stage
        if not self._reserve(record):
            self._inner.delete(record.path)
            return False
        self._place(record, data)
        return True

    def _reserve(self, record: Record) -> bool:
        """Put our record; also when the store's answer was lost. Raises StoreFailed."""
        # L.txn.store.reserve
        try:
            if self._manifests.put_if_absent(self._key, record):
                return True
        except StoreFailed:
            if self._manifests.get(self._key, record.version) is None:
                raise
        held = self._manifests.get(self._key, record.version)
        return held is not None and held.path == record.path

    def _place(self, record: Record, data: bytes | None = None) -> None:
        """Take the steps after the reservation: put in place, record, remove the staged copy."""
        placed = record.placed()
        data = self._staged(record, placed) if data is None else data
        if data is not None:
            self._inner.put(placed.path, data)  # L.txn.store.place
            placed = Record(placed.version, placed.path, len(data))
        with suppress(OSError):  # who finds the old record takes these steps again
            if self._manifests.put_if_present(self._key, placed):
                self._inner.delete(record.path)

    def _staged(self, record: Record, placed: Record) -> bytes | None:
        """Return a staged manifest; None when another has put it in its place meanwhile."""
        try:
            file = FileBytes(self._inner.open(record.path), Context(record.path))
            data = bytes(file.whole("manifest", "L.txn.store.place").data)
        except NotFound:  # at either of the two: another may be at work
            if not self._inner.exists(placed.path):
                raise self._broken("L.txn.store.place", record, "nothing there") from None
            return None
        if record.size not in (None, len(data)):
            raise self._broken("L.txn.store.size", record, f"{len(data)} bytes")
        return data

    def _broken(self, clause: str, record: Record, found: str) -> FormatError:
        place = Context(record.name).at(0)
        wanted = f"version {record.version} of {record.size} bytes at {record.path}"
        return FormatError(clause, place, found=found, wanted=wanted)

    def rename(self, path: str, to: str) -> None:
        """Give an object another path, and its record too."""
        self._inner.rename(path, to)
        name = _manifest(to)
        if name is not None:
            size = self._inner.open(to).size
            self._manifests.put_if_present(self._key, Record(name.version, to, size))

    def prune(self, prefix: str) -> None:
        """Forget the records of what is gone: of the table itself, or of a branch."""
        self._inner.prune(prefix)
        self._manifests.forget(joined(self._key, prefix) if prefix else self._key)


def _manifest(path: str) -> VersionName | None:
    """Return what the path of an attached version's manifest says; None for other paths."""
    folder, _, name = path.rpartition("/")
    parsed = parse_name(name) if folder == FOLDER else None
    return parsed if parsed is not None and parsed.scheme != "detached" else None

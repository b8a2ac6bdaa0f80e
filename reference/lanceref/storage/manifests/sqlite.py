"""SQLite manifest store: records in a file that all writers of a machine share.

Layout (table manifests): base_uri, version, path, size, committer; base_uri and version are its
key.

Clauses: L.txn.store.reserve
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from lanceref.core.errors import StoreFailed
from lanceref.storage import make_folder
from lanceref.storage.manifests.record import Record, parse_record

COMMITTER = "lanceref"
"""Who put a record, for who looks at it."""

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
    """Records in an SQLite file; every call opens it, so any process may come and go."""

    def __init__(self, path: str) -> None:
        self._path = path

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
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
        """Return the record of a version."""
        return self._one(key, "AND version = ?", (version,))

    def latest(self, key: str) -> Record | None:
        """Return the record of the greatest version."""
        return self._one(key, "ORDER BY version DESC LIMIT 1", ())

    def put_if_absent(self, key: str, record: Record) -> bool:
        """Insert a record. Return False when its version has one."""
        row = (key, record.version, f"{key}/{record.path}", record.size, COMMITTER)
        with self._database() as database:
            made = database.execute("INSERT OR IGNORE INTO manifests VALUES (?, ?, ?, ?, ?)", row)
            return made.rowcount == 1

    def put_if_present(self, key: str, record: Record) -> bool:
        """Update a record. Return False when its version has none."""
        update = "UPDATE manifests SET path = ?, size = ? WHERE base_uri = ? AND version = ?"
        with self._database() as database:
            values = (f"{key}/{record.path}", record.size, key, record.version)
            return database.execute(update, values).rowcount == 1

    def forget(self, key: str) -> None:
        """Remove all records of a table."""
        with self._database() as database:
            database.execute("DELETE FROM manifests WHERE base_uri = ?", (key,))

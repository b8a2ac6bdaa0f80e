"""Session: what tables that are opened together have in common (face).

Has the names and arguments of pylance's `lance.Session`. This implementation keeps nothing beyond a
table that is open: a session knows which tables were opened with it, and the size of their
manifests and of the metadata of their files. A table that is opened with a session without room for
metadata drops the latter after each call. Other capacities change nothing.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

from lanceref.core.integers import unsigned


class Holder(Protocol):
    """An open table, as far as a session looks at it."""

    @property
    def held_bytes(self) -> int:
        """Size of what it holds in memory besides rows."""


class Session:
    """Tables that are opened together, and the memory they hold."""

    def __init__(
        self,
        index_cache_size_bytes: int | None = None,
        metadata_cache_size_bytes: int | None = None,
    ) -> None:
        """Begin without any table. Raises OverflowError for a negative size."""
        for size in (index_cache_size_bytes, metadata_cache_size_bytes):
            unsigned(size or 0)
        self._keeps_metadata = metadata_cache_size_bytes != 0
        self._open: WeakSet[Holder] = WeakSet()

    def take_in(self, table: Holder) -> None:
        """Count a table among those that are opened together."""
        self._open.add(table)

    @property
    def keeps_metadata(self) -> bool:
        """Whether it has room for the metadata of files."""
        return self._keeps_metadata

    def is_same_as(self, other: Session) -> bool:
        """Whether it is the same session, not one with the same capacities."""
        return self is other

    def size_bytes(self) -> int:
        """Return the bytes that the tables hold."""
        return sum(table.held_bytes for table in self._open)

    def index_cache_size_bytes(self) -> int:
        """Return the bytes of indices that are kept beyond their tables: none."""
        return 0

    def __repr__(self) -> str:
        return f"Session(index_cache_size_bytes=0, metadata_cache_size_bytes={self.size_bytes()})"


def session_of(session: object, metadata_size_bytes: int | None = None) -> Session | None:
    """Return the session to open a table with: the one given, or one without room for metadata.

    None where there is neither. Raises TypeError for something else.
    """
    if session is None:
        return Session(metadata_cache_size_bytes=0) if metadata_size_bytes == 0 else None
    if isinstance(session, Session):
        return session
    kind = type(session).__name__
    raise TypeError(f"argument 'session': {kind!r} object is not an instance of '_Session'")

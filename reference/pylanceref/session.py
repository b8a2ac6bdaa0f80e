"""Session: what tables that are opened together have in common (face).

Has the names and arguments of pylance's `lance.Session`. This implementation keeps nothing beyond a
table that is open: a session knows which tables were opened with it, and the size of their
manifests and of the metadata of their files. A table that is opened with a session without room for
metadata drops the latter after each call. Other capacities change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol
from weakref import WeakSet

from lanceref.core.integers import unsigned

Backend = str | Mapping[str, object] | None
"""A kind of cache with its options, as a URI or as `kind` and `options`: `moka` with a capacity."""


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
        index_cache_backend: Backend = None,
        metadata_cache_backend: Backend = None,
        store_registry: None = None,
    ) -> None:
        """Begin without any. Raises ValueError for an unknown backend."""
        _capacity("index_cache", index_cache_size_bytes, index_cache_backend)
        room = _capacity("metadata_cache", metadata_cache_size_bytes, metadata_cache_backend)
        self._keeps_metadata = room != 0
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


def _capacity(name: str, size: int | None, backend: Backend) -> int | None:
    """Return a capacity in bytes. Raises ValueError for an unknown backend, and beside a size."""
    if backend is None:
        return None if size is None else unsigned(size)
    if size is not None:
        raise ValueError(f"{name}_size_bytes and {name}_backend are mutually exclusive")
    uri = backend
    if isinstance(backend, Mapping) and backend.keys() == {"kind", "options"}:
        options = backend["options"]
        given = options.items() if isinstance(options, Mapping) else ()
        texts = [f"{key}={value}" for key, value in given if isinstance(value, str)]
        uri = f"{backend['kind']}://?{'&'.join(texts)}"
    match = re.fullmatch(r"(?i:moka):(?://)?\?capacity=(\d+)", str(uri))
    if match is None:
        raise ValueError(f"{name}_backend: {backend!r} is not of the form moka://?capacity=<bytes>")
    return int(match[1])

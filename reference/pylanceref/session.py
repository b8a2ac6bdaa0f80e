"""Session: what tables have in common that are opened together (face).

Has the names, arguments and errors of pylance's `lance.Session`. This implementation keeps nothing
beyond a table that is open: a session knows which ones were opened with it, and the size of what
they hold in memory besides rows, their manifests and the metadata of their files. A table
that is opened with a session without room for metadata lets the latter go after each call. Other
capacities and backends of caches are checked and change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qsl
from weakref import WeakSet

from lanceref.core.integers import unsigned

CAPACITY = "capacity"
"""The one option of the one kind of cache, `moka`."""


class Holder(Protocol):
    """What is open."""

    @property
    def held_bytes(self) -> int:
        """Size of what it holds in memory besides rows."""


class Session:
    """Tables that are opened together."""

    def __init__(
        self,
        index_cache_size_bytes: int | None = None,
        metadata_cache_size_bytes: int | None = None,
        index_cache_backend: str | Mapping[str, object] | None = None,
        metadata_cache_backend: str | Mapping[str, object] | None = None,
        store_registry: None = None,
    ) -> None:
        """Begin without any. Raises ValueError for a backend that is none."""
        _check("index_cache", index_cache_size_bytes, index_cache_backend)
        metadata = _check("metadata_cache", metadata_cache_size_bytes, metadata_cache_backend)
        self._keeps_metadata = metadata != 0
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


def checked_session(session: object) -> Session | None:
    """Return a session, or None. Raises TypeError for something else."""
    if session is None or isinstance(session, Session):
        return session
    kind = type(session).__name__
    raise TypeError(f"argument 'session': {kind!r} object is not an instance of '_Session'")


def session_of(session: object, metadata_size_bytes: int | None) -> Session | None:
    """Return the session to open a table with: the one given, or one without room for metadata.

    None where there is neither. Raises TypeError for something else.
    """
    given = checked_session(session)
    if given is None and metadata_size_bytes == 0:
        return Session(metadata_cache_size_bytes=0)
    return given


def _check(name: str, size: int | None, backend: str | Mapping[str, object] | None) -> int | None:
    """Return the capacity. Raises ValueError for a backend that is none, and beside a size."""
    if size is not None:
        unsigned(size)
    if backend is None:
        return size
    if size is not None:
        raise ValueError(
            f"{name}_size_bytes and {name}_backend are mutually exclusive; set one or the other"
        )
    kind, options = _parsed(f"{name}_backend", backend)
    return _capacity(f"{name}_backend: Invalid user input:", kind, options)


def _parsed(name: str, backend: object) -> tuple[str, dict[str, str]]:
    """Return the kind and the options of a backend. Raises ValueError."""
    if isinstance(backend, str):
        kind, found, rest = backend.partition(":")
        if not found:
            raise ValueError(
                f"{name}: Invalid user input: cache backend uri \"{backend}\" is missing ':'"
            )
        path, _, query = rest.removeprefix("//").partition("?")
        return kind.lower(), {
            **({"path": path} if path else {}),
            **dict(parse_qsl(query, keep_blank_values=True)),
        }
    if not isinstance(backend, Mapping):
        raise ValueError(
            f"{name}: expected str (URI) or dict with 'kind'/'options' keys, "
            f"got {type(backend).__name__}"
        )
    for key in backend:
        if key not in ("kind", "options"):
            raise ValueError(f"{name}: unknown dict key \"{key}\"; expected 'kind' or 'options'")
    if "kind" not in backend:
        raise ValueError(f"{name}: dict must contain a 'kind' key")
    options = backend.get("options") or {}
    if not isinstance(options, Mapping):
        raise ValueError(f"{name}: 'options' must be a dict")
    if not all(isinstance(one, str) for one in options.values()):
        raise ValueError(f"{name}: 'options' values must be strings")
    return str(backend["kind"]).lower(), dict(options)


def _capacity(told: str, kind: str, options: Mapping[str, str]) -> int:
    """Return its bytes. Raises ValueError for an unknown kind and for options other than them."""
    if kind != "moka":
        raise ValueError(f'{told} unknown cache backend kind: "{kind}"')
    told = f"{told} moka cache backend:"
    for key in options:
        if key != CAPACITY:
            raise ValueError(f'{told} unknown option "{key}"')
    if CAPACITY not in options:
        raise ValueError(f"{told} capacity is required; use moka://?capacity=<bytes>")
    text = options[CAPACITY]
    if not text:
        raise ValueError(f"{told} capacity must not be empty")
    if not text.isdecimal():
        raise ValueError(f'{told} cannot parse capacity "{text}": invalid digit found in string')
    return int(text)

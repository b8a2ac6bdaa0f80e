"""Opened table: one version of a table, what it is, and how a commit moves on from it (face).

What a dataset does is spread over modules by topic, as functions whose first argument is such a
table. An edit that conflicts with another commit is made again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import Self, TypeVar, cast
from weakref import WeakSet

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.errors import CommitConflictError, NotFound
from lanceref.core.file_versions import FileVersion, version_named
from lanceref.core.integers import unsigned
from lanceref.operations.cleanup import clean_after_commit
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import Snapshot, open_snapshot
from lanceref.storage import Store, name_of_uri
from lanceref.table.refs import main_root
from lanceref.table.rows import FragmentRows
from lanceref.transactions.commit import CommitPolicy, commit
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.transaction import new_transaction

from pylanceref.scan_arguments import ScanArguments, system_columns
from pylanceref.schema import LanceSchema


def root_of(snapshot: Snapshot) -> Store:
    """Return the store of the main branch: a branch is a table below it."""
    store = snapshot.store
    root = main_root(store.root, snapshot.manifest.message.branch)
    return store if root == store.root else store.at(root)


class Session:
    """Tables that are opened together, and the memory they hold: their manifests and metadata.

    Without room for metadata a table drops these after each call; other capacities change nothing.
    """

    def __init__(
        self,
        index_cache_size_bytes: int | None = None,
        metadata_cache_size_bytes: int | None = None,
    ) -> None:
        """Begin without any table. Raises OverflowError for a negative size."""
        for size in (index_cache_size_bytes, metadata_cache_size_bytes):
            unsigned(size or 0)
        self.keeps_metadata = metadata_cache_size_bytes != 0
        self._open: WeakSet[OpenTable] = WeakSet()

    def is_same_as(self, other: Session) -> bool:
        """Whether it is the same session, not one with the same capacities."""
        return self is other

    def size_bytes(self) -> int:
        """Return the bytes that the tables hold."""
        return sum(table.retained_bytes for table in self._open)


def session_of(session: object, metadata_size_bytes: int | None = None) -> Session | None:
    """Return the session given, or one without room for metadata if so asked. Raises TypeError."""
    if session is None:
        return Session(metadata_cache_size_bytes=0) if metadata_size_bytes == 0 else None
    if isinstance(session, Session):
        return session
    raise TypeError(f"argument 'session' is a {type(session).__name__}, not a Session")


class OpenTable:
    """One version of a table that is open, and its store."""

    uri: str
    _snapshot: Snapshot
    _root: Store

    @classmethod
    def of(cls, uri: str, snapshot: Snapshot, root: Store) -> Self:
        """Return a version that is open: `root` is the store of its main branch."""
        made = cls.__new__(cls)
        made.uri, made._snapshot, made._root = uri, snapshot, root
        return made

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        vars(made).update(vars(self), _session=None)
        return made

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return copy(self)  # what is shared never changes

    def __getstate__(self) -> dict[str, object]:
        own = self._snapshot
        state = {**vars(self), "_snapshot": (own.store, own.manifest.version, own.ctx)}
        return {name: value for name, value in state.items() if name != "_session"}

    def __setstate__(self, state: dict[str, object]) -> None:
        store, version, ctx = cast("tuple[Store, int, Context]", state.pop("_snapshot"))
        vars(self).update(state)  # in another process: files are opened anew
        ctx = replace(ctx, file=name_of_uri(store.root))
        self._snapshot = open_snapshot(store, version, ctx)

    _scan_options: ScanArguments = {}  # noqa: RUF012
    """Arguments of every scan that does not say otherwise; replaced, never changed."""

    _session: Session | None = None
    """The session it was opened with, once it is asked for or given."""

    def session(self) -> Session:
        """Return the session it was opened with; one of its own when none was given."""
        if self._session is None:
            self.within(Session())
        assert self._session is not None
        return self._session

    def within(self, session: Session | None) -> Self:
        """Let it be of a session; None for one of its own."""
        self._session = session
        if session is not None:
            session._open.add(self)
        return self

    @property
    def retained_bytes(self) -> int:
        """Bytes of the manifest, and of the metadata of the files that are open."""
        files = sum(rows.columns.retained_bytes for rows in self._snapshot.fragments)
        return self._snapshot.manifest.message.ByteSize() + files

    @property
    def version(self) -> int:
        """The number of the version that is open."""
        return self._snapshot.manifest.version

    def config(self) -> dict[str, str]:
        """Return the config of the table, text by text."""
        return dict(self._snapshot.manifest.message.config)

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the table, text by text."""
        return dict(self._snapshot.manifest.message.table_metadata)

    @property
    def schema_metadata(self) -> dict[str, str]:
        """The metadata of the table's schema, text by text."""
        return dict(self._snapshot.manifest.schema.metadata)

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the table, and the system columns that every scan returns."""
        own, added = self._snapshot.arrow_schema, system_columns(self._scan_options)
        if not added:
            return own
        return pa.schema([*own, *(pa.field(name, pa.uint64()) for name in added)], own.metadata)

    @property
    def lance_schema(self) -> LanceSchema:
        """Schema of the table with field ids."""
        return LanceSchema(self._snapshot.manifest.schema)

    @property
    def has_stable_row_ids(self) -> bool:
        """Whether rows keep their ids when they move."""
        return self._snapshot.stable_row_ids

    @property
    def data_storage_version(self) -> str:
        """Name of the file version that new data files get."""
        manifest = self._snapshot.manifest
        return manifest.storage_version or str(storage_version_of(manifest.message))

    @property
    def has_index(self) -> bool:
        """Whether the version has an index of any type."""
        return bool(self._snapshot.manifest.indices)

    @property
    def _branch(self) -> str | None:
        """Name of the branch that is open, None for the main one."""
        return self._snapshot.manifest.message.branch or None

    @property
    def _ctx(self) -> Context:
        """Names the table in errors."""
        ctx = self._snapshot.ctx
        return Context(name_of_uri(self._root.root), limits=ctx.limits, keeps=ctx.keeps)

    def fragment_rows(self, ids: Iterable[int] | None) -> Sequence[FragmentRows]:
        """Return fragments by their ids, all for None. Raises NotFound for an unknown id."""
        by_id = {rows.fragment.id: rows for rows in self._snapshot.fragments}
        chosen = list(by_id if ids is None else ids)
        missing = set(chosen) - by_id.keys()
        if missing:
            raise NotFound(f"Fragment id does not exist: {min(missing)}")
        return self._snapshot.fragments if ids is None else [by_id[number] for number in chosen]

    def _new_transaction(self) -> Transaction:
        return new_transaction(self.version)

    def _commit(self, staged: Staged) -> None:
        """Commit, and open what came out. Raises CommitConflict."""
        read = self.version
        self._move_to(commit(self._snapshot.store, staged, CommitPolicy(), self._ctx))
        clean_after_commit(self._snapshot, self._root, read)

    def at_version(self, version: int) -> Snapshot:
        """Return another version of the branch. Raises VersionNotFound."""
        return open_snapshot(self._snapshot.store, version, self._ctx)

    def _move_to(self, version: int | None) -> None:
        """Open another version of the branch in place of this one; None for the latest."""
        self._snapshot = open_snapshot(self._snapshot.store, version, self._ctx)


T = TypeVar("T", bound=OpenTable)
"""A class of tables: what makes a table of another returns one of its class."""


CONFLICT_RETRIES = 10
RETRY_TIMEOUT = timedelta(seconds=30)
PAUSE_SECONDS = 0.05

R = TypeVar("R")


def file_version_of(table: OpenTable, named: str | None) -> FileVersion:
    """Return the file version that is named, else the table's at first. Raises ValueError."""
    if named is None:
        return storage_version_of(table._snapshot.manifest.message)
    return version_named(named)


def retried(
    table: OpenTable, attempt: Callable[[], R], conflict_retries: int, retry_timeout: timedelta
) -> R:
    """Run an edit, again from the latest version where a conflict asks for it.

    A table whose edit failed is at the version it was.
    """
    end, number = time.monotonic() + retry_timeout.total_seconds(), 0
    with ExitStack() as on_failure:
        on_failure.callback(setattr, table, "_snapshot", table._snapshot)
        while True:
            try:
                result = attempt()
            except CommitConflictError as conflict:
                is_late = number >= conflict_retries or time.monotonic() > end
                if not conflict.retryable or is_late:
                    raise
            else:
                on_failure.pop_all()
                return result
            time.sleep(random.uniform(0, PAUSE_SECONDS * 2 ** min(number, 5)))
            table._move_to(None)
            number += 1

"""A store that fails at a call of one's choice."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from lanceref.storage import LocalSource, LocalStore
from lanceref.storage.local_file import LocalSink


class FaultySink:
    """A sink of a `FaultyStore`."""

    def __init__(self, inner: LocalSink, store: FaultyStore) -> None:
        self._inner, self._store = inner, store

    @property
    def position(self) -> int:
        """Bytes written so far."""
        return self._inner.position

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes, or fail."""
        self._store.count()
        self._inner.write(data)

    def close(self) -> None:
        """Make the object visible, or fail."""
        self._store.count()
        self._inner.close()

    def abort(self) -> None:
        """Leave no object behind."""
        self._inner.abort()


class FaultyStore(LocalStore):
    """Fails at call number `fail_at` (from 0), before it does anything."""

    def __init__(self, root: str, fail_at: int) -> None:
        super().__init__(root)
        self.calls, self._fail_at = 0, fail_at

    def count(self) -> None:
        """Count a call, and fail if it is the one."""
        self.calls += 1
        if self.calls == self._fail_at + 1:
            raise OSError(errno.EIO, "the disk is gone")

    def open(self, path: str) -> LocalSource:
        """As the local store."""
        self.count()
        return super().open(path)

    def create(self, path: str) -> FaultySink:  # type: ignore[override]
        """As the local store."""
        self.count()
        return FaultySink(super().create(path), self)

    def list(self, prefix: str) -> Iterator[str]:
        """As the local store."""
        self.count()
        return super().list(prefix)

    def put(self, path: str, data: bytes) -> None:
        """As the local store."""
        self.count()
        super().put(path, data)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """As the local store."""
        self.count()
        return super().put_if_absent(path, data)

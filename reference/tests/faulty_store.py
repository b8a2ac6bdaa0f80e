"""A store that fails at a call of one's choice."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from lanceref.storage import LocalStore

CALLS = ("open", "create", "list", "put", "put_if_absent", "write", "close")
"""Methods of a store and of its sinks that count and may fail."""


class _Counted:
    """A store or a sink whose calls are counted before they are done."""

    def __init__(self, inner: Any, count: Callable[[], None]) -> None:
        self._inner, self._count = inner, count

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in CALLS:
            return found

        def call(*arguments: Any) -> Any:
            self._count()
            made = found(*arguments)
            return _Counted(made, self._count) if name == "create" else made

        return call


class FaultyStore(_Counted):
    """Fails at call number `fail_at` (from 0), before it does anything."""

    def __init__(self, root: str, fail_at: int) -> None:
        super().__init__(LocalStore(root), self.count)
        self.calls, self._fail_at = 0, fail_at

    def count(self) -> None:
        """Count a call, and fail if it is the one."""
        self.calls += 1
        if self.calls == self._fail_at + 1:
            raise OSError(errno.EIO, "the disk is gone")

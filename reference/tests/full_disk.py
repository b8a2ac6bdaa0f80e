"""A full disk: local files fail at a call of one's choice, and at all that need space after it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest


class _File:
    """A file that may be full."""

    def __init__(self, inner: BinaryIO, disk: FullDisk) -> None:
        self._inner, self._disk = inner, disk

    def write(self, data: bytes) -> int:
        self._disk.count()
        return self._inner.write(data)

    def flush(self) -> None:
        self._disk.count()
        self._inner.flush()

    def close(self) -> None:
        self._inner.close()

    def fileno(self) -> int:
        return self._inner.fileno()


class FullDisk:
    """Fails from call `at` (from 0) on with `code`; `once` fails at that call alone."""

    def __init__(self, at: int, code: int = errno.ENOSPC, *, once: bool = False) -> None:
        self.calls, self._at, self._code, self._once = 0, at, code, once

    @property
    def struck(self) -> bool:
        """Whether a call failed."""
        return self.calls > self._at

    def count(self) -> None:
        """Count a call, and fail when it is one that fails."""
        self.calls += 1
        if self.calls == self._at + 1 or (self.struck and not self._once):
            raise OSError(self._code, os.strerror(self._code))

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Every file that is written until the block ends lies on this disk."""
        fdopen = os.fdopen
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fdopen", lambda *args, **named: _File(fdopen(*args, **named), self))
            for name in ("fsync", "rename", "link", "mkdir"):
                patch.setattr(os, name, self._counted(getattr(os, name)))
            yield

    def _counted(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            self.count()
            return real(*arguments, **named)

        return call

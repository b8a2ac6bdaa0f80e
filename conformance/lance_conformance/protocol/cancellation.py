"""Cancellation of a run, by a signal or by a worker that cannot continue.

The token is a pipe, so that a worker that waits for its adapter is woken at once.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that cancel a run; the exit code is then 128 plus the number of the signal."""


class Cancelled(Exception):
    """The run is cancelled: the request has no response."""


class CancelToken:
    """State of a cancellation: its `reason`, empty at first, and its `signal`, 0 without one."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.reason = ""
        self.signal = 0

    def __enter__(self) -> CancelToken:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        """Return the file descriptor that becomes readable on cancellation."""
        return self._read

    def cancel(self, reason: str) -> None:
        """Cancel the run; the first reason counts."""
        if not self.reason:
            self.reason = reason
            os.write(self._write, b"!")

    def __bool__(self) -> bool:
        return bool(self.reason)


@contextmanager
def cancel_on_signals() -> Iterator[CancelToken]:
    """Provide a token that SIGINT, SIGTERM and SIGHUP cancel while the block runs."""
    with CancelToken() as stop:

        def handle(number: int, _frame: FrameType | None) -> None:
            stop.signal = stop.signal or number
            stop.cancel(signal.Signals(number).name)

        before = {number: signal.signal(number, handle) for number in SIGNALS}
        try:
            yield stop
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

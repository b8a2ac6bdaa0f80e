"""Stop: a request to end a run, made by a signal or by a worker that cannot go on.

It is a pipe, so that a worker that waits for its adapter notices at once.
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
"""Signals that end a run early; the exit code is then 128 and the number of the signal."""


class Stopped(Exception):
    """The run is to end: the request was not answered."""


class Stop:
    """A request to end a run; `reason` says why, `signal` is 0 without one."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.reason = ""
        self.signal = 0

    def __enter__(self) -> Stop:
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
        """Return the descriptor that is readable once the stop was asked for."""
        return self._read

    def ask(self, reason: str) -> None:
        """Ask for the end; the first reason counts."""
        if not self.reason:
            self.reason = reason
            os.write(self._write, b"!")

    def __bool__(self) -> bool:
        return bool(self.reason)


@contextmanager
def on_signals() -> Iterator[Stop]:
    """Give a Stop that SIGINT, SIGTERM and SIGHUP ask for while the block runs."""
    with Stop() as stop:

        def ask(number: int, _frame: FrameType | None) -> None:
            stop.signal = stop.signal or number
            stop.ask(signal.Signals(number).name)

        before = {number: signal.signal(number, ask) for number in SIGNALS}
        try:
            yield stop
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

"""Adapter process: started once, asked line by line, killed when it breaks.

The process gets its own session (process group), and killing it takes all that it started along.
Its standard error is a pipe that is emptied whenever the process is waited for; the end of what it
wrote during one request is kept. The memory limit is set on the live process above what it held
when it had answered `hello`, because a runtime may map gigabytes before it does anything.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from lance_conformance import descendants
from lance_conformance.outcomes import Outcome
from lance_conformance.outside_text import clean
from lance_conformance.protocol import MAX_LINE_BYTES, ProtocolError
from lance_conformance.stop import Stop, Stopped

STDERR_TAIL_BYTES = 64 * 1024
"""How much of the standard error of one request is kept."""

DRAIN_BYTES = 2**20
"""How much standard error is read at a time when nothing else is waited for."""

GRACE_SECONDS = 2.0
"""How long a process may take to end after `bye`, or after it closed its output."""

_OUT_OF_MEMORY = re.compile(
    r"memory allocation of \d+ bytes failed|MemoryError|bad_alloc|[Oo]ut of memory|OutOfMemory"
    r"|heap limit|[Cc]annot allocate memory|ArrowMemoryError|ENOMEM|malloc of size \d+ failed"
)
"""What runtimes write when an allocation was refused."""


class Death(Exception):
    """The process did not answer: it died (crash, memory) or was too slow (timeout)."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        self.outcome = outcome
        self.detail = detail
        super().__init__(f"{outcome}: {detail}")


class AdapterProcess:
    """A running adapter. `exchange` raises Death or ProtocolError; after either, `kill` it."""

    def __init__(self, command: Sequence[str], cwd: Path, stop: Stop | None = None) -> None:
        descendants.adopt_orphans()
        self._mark = uuid.uuid4().hex
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=_environment(os.environ, self._mark),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._stderr = self._process.stderr
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stderr.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        if stop is not None:
            self._selector.register(stop, selectors.EVENT_READ)
        self._stop = stop
        self._pending = b""
        self._tail = b""
        self._base_bytes = 0
        self._limit_bytes = 0

    def exchange(self, line: bytes, seconds: float) -> bytes:
        """Send one line and return the line that answers it. Raises Stopped when that is asked."""
        deadline = time.monotonic() + seconds
        if self._pending or self._readable(0):
            self._pending += self._read()
            if self._pending:
                raise ProtocolError(f"output before the request: {_shown(self._pending)}")
        self._drain()
        self._tail = b""
        self._write(line, deadline, seconds)
        answer = self._line(deadline, seconds)
        self._drain()
        if self._pending:
            told = f"{_shown(answer)}, and {_shown(self._pending)} after it"
            raise ProtocolError(f"more than one line in answer: {told}")
        return answer

    def note_base_memory(self) -> None:
        """Take what the process holds now as the base of later memory limits."""
        self._base_bytes = _held_bytes(self._process.pid)

    def limit_memory(self, memory_mb: int) -> None:
        """Let the process hold `memory_mb` MiB more than the base (where the system can).

        A hard limit that this process has itself stays, and the limit is never above it.
        """
        limit = self._base_bytes + memory_mb * 2**20
        if sys.platform == "linux" and self._base_bytes and limit != self._limit_bytes:
            import resource

            pid = self._process.pid
            try:
                _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
                soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
                resource.prlimit(pid, resource.RLIMIT_AS, (soft, hard))
            except ProcessLookupError:
                return  # it is dead already: the next exchange says so
            self._limit_bytes = limit

    def stderr_tail(self) -> str:
        """Return the end of what was written to standard error since the last request was sent."""
        return clean(self._tail.decode("utf-8", "replace"))

    def end(self, line: bytes) -> bool:
        """Say good-bye with `line`; return whether the process then ended by itself with 0."""
        try:
            self._write(line, time.monotonic() + GRACE_SECONDS, GRACE_SECONDS)
            self._stdin.close()
            return self._ended() == 0
        except (Death, Stopped):
            return False
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process and all that it started, and collect it."""
        self._process.kill()
        descendants.kill_all(self._process.pid, self._mark)
        self._process.wait()
        self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()

    def _write(self, line: bytes, deadline: float, seconds: float) -> None:
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._stdin.fileno(), rest) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise self._slow(seconds) from None
                self._drain()
                time.sleep(0.001)
            except BrokenPipeError:
                raise self._death() from None

    def _line(self, deadline: float, seconds: float) -> bytes:
        while b"\n" not in self._pending:
            if len(self._pending) > MAX_LINE_BYTES:
                raise ProtocolError(f"an endless line: {_shown(self._pending)}")
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._slow(seconds)
            if not self._readable(left):
                continue
            data = self._read()
            if not data:
                raise self._death()
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _readable(self, seconds: float) -> bool:
        """Wait for output; whether there is some. Standard error is read on the way."""
        ready = [key.fileobj for key, _ in self._selector.select(seconds)]
        if self._stop is not None and self._stop in ready:
            raise Stopped
        if self._stderr in ready:
            self._drain()
        return self._stdout in ready

    def _read(self) -> bytes:
        return os.read(self._stdout.fileno(), MAX_LINE_BYTES)

    def _drain(self) -> None:
        """Read what waits on standard error, as far as it does not come endlessly."""
        for _ in range(DRAIN_BYTES // STDERR_TAIL_BYTES):
            try:
                data = os.read(self._stderr.fileno(), STDERR_TAIL_BYTES)
            except BlockingIOError:
                return
            if not data:
                if self._stderr.fileno() in self._selector.get_map():
                    self._selector.unregister(self._stderr)
                return
            self._tail = (self._tail + data)[-STDERR_TAIL_BYTES:]

    def _ended(self) -> int | None:
        """Wait a little for the end of the process, whatever it writes; None: it still runs."""
        deadline = time.monotonic() + GRACE_SECONDS
        while (code := self._process.poll()) is None and time.monotonic() < deadline:
            if self._readable(0):
                self._read()
            time.sleep(0.002)
        return code

    def _slow(self, seconds: float) -> Death:
        return Death(Outcome.TIMEOUT, f"no answer in {seconds:g} s")

    def _death(self) -> Death:
        code = self._ended()
        self._drain()
        if code is None:
            return Death(Outcome.CRASH, "closed its standard input or output")
        ended = f"ended with exit code {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
        if _OUT_OF_MEMORY.search(self.stderr_tail()):
            return Death(Outcome.MEMORY, f"{ended} after an allocation was refused")
        return Death(Outcome.CRASH, ended)


def _environment(base: Mapping[str, str], mark: str) -> dict[str, str]:
    return {
        **base,
        descendants.MARK: mark,
        "LANCE_CONFORMANCE": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
    }


def _held_bytes(pid: int) -> int:
    """Return the address space a process holds; 0 where the system does not say."""
    path = Path(f"/proc/{pid}/statm")
    if not path.exists():
        return 0
    return int(path.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shown(data: bytes) -> str:
    return repr(clean(data[:200].decode("utf-8", "replace")))

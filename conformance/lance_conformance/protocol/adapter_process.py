"""Adapter process: started once, sent one request per line, killed when it fails.

The process has its own session (process group), and is killed together with its descendants. Its
standard error is a pipe that is drained while the runner waits for the process; the last bytes
written during one request are kept. The memory limit is set relative to the address space of the
process after `hello`, because a runtime may map gigabytes at its start.
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

from lance_conformance import process_tree
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.cancellation import Cancelled, CancelToken
from lance_conformance.protocol.messages import MAX_LINE_BYTES, ProtocolError
from lance_conformance.untrusted_text import printable

STDERR_TAIL_BYTES = 64 * 1024
"""Bytes of standard error that are kept for one request."""

DRAIN_BYTES = 2**20
"""Bytes of standard error that are read at once at most."""

GRACE_SECONDS = 2.0
"""Time that a process has to exit after `bye`, or after it closed its output."""

_OUT_OF_MEMORY = re.compile(
    r"memory allocation of \d+ bytes failed|MemoryError|bad_alloc|[Oo]ut of memory|OutOfMemory"
    r"|heap limit|[Cc]annot allocate memory|ArrowMemoryError|ENOMEM|malloc of size \d+ failed"
)
"""Messages of runtimes about a failed allocation."""


class AdapterDied(Exception):
    """The process did not respond: it died (crash, memory) or took too long (timeout)."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        self.outcome = outcome
        self.detail = detail
        super().__init__(f"{outcome}: {detail}")


class AdapterProcess:
    """A running adapter. After `exchange` raises AdapterDied or ProtocolError, `kill` it."""

    def __init__(self, command: Sequence[str], cwd: Path, stop: CancelToken | None = None) -> None:
        process_tree.adopt_orphans()
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
        """Send a request line and return the response line. Raises Cancelled when the run is."""
        deadline = time.monotonic() + seconds
        if self._pending or self._readable(0):
            self._pending += self._read()
            if self._pending:
                raise ProtocolError(f"output before the request: {_printable_bytes(self._pending)}")
        self._drain_stderr()
        self._tail = b""
        self._write(line, deadline, seconds)
        answer = self._read_line(deadline, seconds)
        self._drain_stderr()
        if self._pending:
            lines = f"{_printable_bytes(answer)}, and {_printable_bytes(self._pending)} after it"
            raise ProtocolError(f"more than one line in the response: {lines}")
        return answer

    def note_base_memory(self) -> None:
        """Record the current address space as the base of later memory limits."""
        self._base_bytes = _address_space_bytes(self._process.pid)

    def limit_memory(self, memory_mb: int) -> None:
        """Limit the address space to `memory_mb` MiB above the base, where the system supports it.

        The limit never exceeds the hard limit of the process.
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
                return  # the process has died: the next exchange reports it
            self._limit_bytes = limit

    def stderr_tail(self) -> str:
        """Return the last standard error written since the last request was sent."""
        return printable(self._tail.decode("utf-8", "replace"))

    def shut_down(self, line: bytes) -> bool:
        """Send the `bye` line; return whether the process then exited with code 0."""
        try:
            self._write(line, time.monotonic() + GRACE_SECONDS, GRACE_SECONDS)
            self._stdin.close()
            return self._wait_for_exit() == 0
        except (AdapterDied, Cancelled):
            return False
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process and its descendants, and reap it."""
        self._process.kill()
        process_tree.kill_tree(self._process.pid, self._mark)
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
                    raise self._timed_out(seconds) from None
                self._drain_stderr()
                time.sleep(0.001)
            except BrokenPipeError:
                raise self._death() from None

    def _read_line(self, deadline: float, seconds: float) -> bytes:
        while b"\n" not in self._pending:
            if len(self._pending) > MAX_LINE_BYTES:
                raise ProtocolError(f"a line that is too long: {_printable_bytes(self._pending)}")
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise self._timed_out(seconds)
            if not self._readable(remaining):
                continue
            data = self._read()
            if not data:
                raise self._death()
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _readable(self, seconds: float) -> bool:
        """Wait for output and return whether there is some; drain standard error meanwhile."""
        ready = [key.fileobj for key, _ in self._selector.select(seconds)]
        if self._stop is not None and self._stop in ready:
            raise Cancelled
        if self._stderr in ready:
            self._drain_stderr()
        return self._stdout in ready

    def _read(self) -> bytes:
        return os.read(self._stdout.fileno(), MAX_LINE_BYTES)

    def _drain_stderr(self) -> None:
        """Read the pending standard error, up to a bound."""
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

    def _wait_for_exit(self) -> int | None:
        """Wait briefly for the exit code, discarding output; None when the process still runs."""
        deadline = time.monotonic() + GRACE_SECONDS
        while (code := self._process.poll()) is None and time.monotonic() < deadline:
            if self._readable(0):
                self._read()
            time.sleep(0.002)
        return code

    def _timed_out(self, seconds: float) -> AdapterDied:
        return AdapterDied(Outcome.TIMEOUT, f"no answer in {seconds:g} s")

    def _death(self) -> AdapterDied:
        code = self._wait_for_exit()
        self._drain_stderr()
        if code is None:
            return AdapterDied(Outcome.CRASH, "closed its standard input or output")
        ended = f"ended with exit code {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
        if _OUT_OF_MEMORY.search(self.stderr_tail()):
            return AdapterDied(Outcome.MEMORY, f"{ended} after an allocation was refused")
        return AdapterDied(Outcome.CRASH, ended)


def _environment(base: Mapping[str, str], mark: str) -> dict[str, str]:
    return {
        **base,
        process_tree.MARKER: mark,
        "LANCE_CONFORMANCE": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
    }


def _address_space_bytes(pid: int) -> int:
    """Return the address space of a process in bytes; 0 where the system does not report it."""
    path = Path(f"/proc/{pid}/statm")
    if not path.exists():
        return 0
    return int(path.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _printable_bytes(data: bytes) -> str:
    return repr(printable(data[:200].decode("utf-8", "replace")))

"""Adapter process: started once, asked line by line, killed when it breaks.

The process gets its own session (process group), so that killing it takes its children along. Its
standard error goes to a file; the part written during one request is found by offset. The memory
limit is set on the live process above what it held when it had answered `hello`, because a runtime
may map gigabytes before it does anything.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lance_conformance.outcomes import Outcome
from lance_conformance.protocol import MAX_LINE_BYTES, ProtocolError

STDERR_TAIL_BYTES = 64 * 1024
"""How much of the standard error of one request is kept."""

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

    def __init__(self, command: Sequence[str], cwd: Path) -> None:
        self._stderr_path = cwd / "stderr.txt"
        stderr = self._stderr_path.open("wb")
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=_environment(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
        stderr.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._pending = b""
        self._base_bytes = 0
        self._mark = 0

    def exchange(self, line: bytes, seconds: float) -> bytes:
        """Send one line and return the line that answers it."""
        self._mark = self._stderr_path.stat().st_size
        if self._pending or self._readable(0):
            self._pending += self._read()
            if self._pending:
                raise ProtocolError(f"output before the request: {_shown(self._pending)}")
        deadline = time.monotonic() + seconds
        self._write(line, deadline, seconds)
        answer = self._line(deadline, seconds)
        if self._pending:
            raise ProtocolError(f"more than one line in answer: {_shown(self._pending)}")
        return answer

    def note_base_memory(self) -> None:
        """Take what the process holds now as the base of later memory limits."""
        self._base_bytes = _held_bytes(self._process.pid)

    def limit_memory(self, memory_mb: int) -> None:
        """Let the process hold `memory_mb` MiB more than the base (where the system can)."""
        if sys.platform == "linux" and self._base_bytes:
            import resource

            limit = self._base_bytes + memory_mb * 2**20
            try:
                resource.prlimit(self._process.pid, resource.RLIMIT_AS, (limit, -1))
            except ProcessLookupError:
                return  # it is dead already: the next exchange says so

    def stderr_tail(self) -> str:
        """Return what was written to standard error since the last request was sent."""
        data = self._stderr_path.read_bytes()[self._mark :]
        return data[-STDERR_TAIL_BYTES:].decode("utf-8", "replace")

    def end(self, line: bytes) -> bool:
        """Say good-bye with `line`; return whether the process then ended by itself with 0."""
        try:
            self._write(line, time.monotonic() + GRACE_SECONDS, GRACE_SECONDS)
            self._stdin.close()
            return self._process.wait(GRACE_SECONDS) == 0
        except (Death, subprocess.TimeoutExpired):
            return False
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the process group and collect the process."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _write(self, line: bytes, deadline: float, seconds: float) -> None:
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._stdin.fileno(), rest) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise self._slow(seconds) from None
                time.sleep(0.001)
            except BrokenPipeError:
                raise self._death() from None

    def _line(self, deadline: float, seconds: float) -> bytes:
        while b"\n" not in self._pending:
            if len(self._pending) > MAX_LINE_BYTES:
                raise ProtocolError(f"an endless line: {_shown(self._pending)}")
            left = deadline - time.monotonic()
            if left <= 0 or not self._readable(left):
                raise self._slow(seconds)
            data = self._read()
            if not data:
                raise self._death()
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _readable(self, seconds: float) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def _read(self) -> bytes:
        return os.read(self._stdout.fileno(), MAX_LINE_BYTES)

    def _slow(self, seconds: float) -> Death:
        return Death(Outcome.TIMEOUT, f"no answer in {seconds:g} s")

    def _death(self) -> Death:
        try:
            code = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return Death(Outcome.CRASH, "closed its standard output")
        ended = f"ended with exit code {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
        if _OUT_OF_MEMORY.search(self.stderr_tail()):
            return Death(Outcome.MEMORY, f"{ended} after an allocation was refused")
        return Death(Outcome.CRASH, ended)


def _environment(base: Mapping[str, str]) -> dict[str, str]:
    return {
        **base,
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
    return repr(data[:200].decode("utf-8", "replace"))

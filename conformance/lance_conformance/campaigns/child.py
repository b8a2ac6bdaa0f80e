"""Child: runs a function in a forked process, under limits of address space and time.

The parent receives the result of the function, or how the child ended, with its error output, its
processor time and its memory above the baseline at the fork. The parent must not have threads that
hold locks: it imports the oracle but never calls it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pylanceref.sql.filters import bind_filter

ADDRESS_SPACE, ALARM_SECONDS = 6 * 2**30, 60
"""Limits of a child: bytes of its address space, and wall-clock time, for a busy machine."""

MEMORY_BYTES, MEMORY_FACTOR = 64 * 2**20, 16
"""Memory limit of the reference above its baseline: bytes, and bytes per byte of the file."""

SECONDS = 2.0
"""Limit of the processor time of the reference."""

STDERR_BYTES = 4096
"""Bytes of the error output that are kept."""


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a child ended: its result (None: no result), signal, stderr, seconds, bytes."""

    result: list[str] | None
    signal: int
    stderr: str
    seconds: float
    peak_bytes: int

    @property
    def failure(self) -> str:
        """Why it has no result: `hang`, `oom` or `abort`; empty where it has one."""
        if self.result is not None:
            return ""
        if self.signal == signal.SIGALRM:
            return "hang"
        return "oom" if "memory allocation" in self.stderr else "abort"

    @property
    def failure_detail(self) -> str:
        """Its signal, and the end of its error output."""
        name = signal.strsignal(self.signal) if self.signal else "ended without a result"
        return f"{name}: {self.stderr[-300:]}"


def allowed_bytes(file_bytes: int) -> int:
    """Return the memory limit of the reference for a file of that size, in bytes."""
    return MEMORY_BYTES + MEMORY_FACTOR * file_bytes


def warm_up_sql() -> None:
    """Import DataFusion and evaluate a filter, so that its memory belongs to the baseline."""
    batch = pa.record_batch([[1]], names=["a"])
    bind_filter("a = 1", batch.schema).mask(batch)


def run_in_child(
    function: Callable[[], list[str]], prepare: Callable[[], object] = lambda: None
) -> ChildResult:
    """Run `function` in a forked child and wait; `prepare` runs before the memory baseline.

    The traceback of an uncaught exception is written to the error output.
    """
    read_end, write_end = os.pipe()
    with tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            _run_and_exit(function, prepare, write_end, errors.fileno())
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            output = pipe.read()
        _, status, usage = os.wait4(pid, 0)
        errors.seek(0)
        stderr = errors.read(STDERR_BYTES).decode("utf-8", "replace")
    baseline, result = json.loads(output) if output.endswith(b"\n") else (0, None)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    peak = 1024 * usage.ru_maxrss - baseline if baseline else 0
    return ChildResult(result, number, stderr, usage.ru_utime + usage.ru_stime, max(0, peak))


def _run_and_exit(
    function: Callable[[], list[str]], prepare: Callable[[], object], write_end: int, errors: int
) -> None:
    try:
        os.dup2(errors, 2)
        prepare()
        statm = Path("/proc/self/statm").read_text(encoding="ascii").split()
        baseline = int(statm[1]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(ALARM_SECONDS)
        output = json.dumps([baseline, function()]).encode() + b"\n"
        while output:
            output = output[os.write(write_end, output) :]
    except Exception:
        traceback.print_exc()
        raise
    finally:
        os._exit(0)

"""Child: one question in a forked process, under limits of address space and of the clock.

A crash, a hang or a lack of memory is an answer too: the parent learns how the child ended, what it
wrote to its error output, how much processor time it took and how far its memory rose above what it
held when it was forked. The parent must not have started threads that hold locks: the oracle is
imported there, but never asked.
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

ADDRESS_SPACE = 6 * 2**30
"""Limit of the address space of a child, in bytes."""

ALARM_SECONDS = 60
"""Limit of the clock; a busy machine may need it all to write the targets."""

MEMORY_BYTES, MEMORY_FACTOR = 64 * 2**20, 16
"""What the reference may hold beyond its baseline: bytes, and bytes for each byte of the file."""

SECONDS = 2.0
"""Processor time the reference may take."""

TOLD_BYTES = 4096
"""How much of an error output is kept."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its answer (None: it gave none), its signal, stderr, seconds, bytes."""

    answer: list[str] | None
    signal: int
    told: str
    seconds: float
    peak_bytes: int

    @property
    def death(self) -> str:
        """How it ended without an answer, `hang`, `oom` or `abort`; nothing where it gave one."""
        if self.answer is not None:
            return ""
        if self.signal == signal.SIGALRM:
            return "hang"
        return "oom" if "memory allocation" in self.told else "abort"

    @property
    def last_words(self) -> str:
        """Its signal, and the end of what it wrote."""
        name = signal.strsignal(self.signal) if self.signal else "ended without an answer"
        return f"{name}: {self.told[-300:]}"


def allowed_bytes(file_bytes: int) -> int:
    """Return how much memory a file of that size may cost the reference."""
    return MEMORY_BYTES + MEMORY_FACTOR * file_bytes


def start_sql() -> None:
    """Import DataFusion and evaluate a filter: what the library takes is no cost of a table."""
    batch = pa.record_batch([[1]], names=["a"])
    bind_filter("a = 1", batch.schema).mask(batch)


def ask(question: Callable[[], list[str]], prepare: Callable[[], object] = lambda: None) -> Ended:
    """Run `question` in a forked child and wait for it; `prepare` runs before memory counts.

    A traceback of an exception that nothing catches goes to the error output.
    """
    read_end, write_end = os.pipe()
    with tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            _answer_and_exit(question, prepare, write_end, errors.fileno())
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            said = pipe.read()
        _, status, usage = os.wait4(pid, 0)
        errors.seek(0)
        told = errors.read(TOLD_BYTES).decode("utf-8", "replace")
    baseline, answer = json.loads(said) if said.endswith(b"\n") else (0, None)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    peak = 1024 * usage.ru_maxrss - baseline if baseline else 0
    return Ended(answer, number, told, usage.ru_utime + usage.ru_stime, max(0, peak))


def _answer_and_exit(
    question: Callable[[], list[str]], prepare: Callable[[], object], write_end: int, errors: int
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
        said = json.dumps([baseline, question()]).encode() + b"\n"
        while said:
            said = said[os.write(write_end, said) :]
    except Exception:
        traceback.print_exc()
        raise
    finally:
        os._exit(0)

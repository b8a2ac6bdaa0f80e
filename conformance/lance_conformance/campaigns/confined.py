"""Confinement: one question to the reference in a forked child, under limits of time and memory.

The child's address space may grow by `MEMORY_BYTES` plus `MEMORY_FACTOR` times the size of the
damaged file; it may work for `SECONDS`, and an alarm ends it if it waits longer than a busy machine
makes it. What it answers comes back through a pipe, so that a crash, a hang or a lack of memory is
an answer too.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SECONDS = 2
"""Limit of processor time per case (goal R4)."""

PATIENCE = 5
"""Seconds of the clock for each of processor time: other work may go on beside."""

SLOW = (signal.SIGALRM, signal.SIGXCPU)
"""What ends a child that takes too long."""

MEMORY_BYTES = 64 * 2**20
"""Limit of memory per case above the baseline, beside `MEMORY_FACTOR` times the file (goal R3)."""

MEMORY_FACTOR = 16
"""Bytes of memory allowed per byte of the damaged file."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a case came to: its class, and a line that says more."""

    kind: str
    detail: str = ""


def ask(question: Callable[[], Answer], file_bytes: int) -> Answer:
    """Run `question` in a child under the limits; return its answer, or how the child ended."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _answer_and_exit(question, file_bytes, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return Answer("too slow" if number in SLOW else "died", signal.strsignal(number) or "")
    if os.WEXITSTATUS(status) or not said:
        return Answer("died", f"exit {os.WEXITSTATUS(status)}")
    return Answer(*json.loads(said))


def _answer_and_exit(question: Callable[[], Answer], file_bytes: int, write_end: int) -> None:
    status = 1
    try:
        _limit(file_bytes)
        answer = question()
        os.write(write_end, json.dumps([answer.kind, answer.detail[:300]]).encode())
        status = 0
    finally:
        os._exit(status)


def _limit(file_bytes: int) -> None:
    with Path("/proc/self/statm").open(encoding="ascii") as statm:
        held = int(statm.read().split()[0]) * resource.getpagesize()
    most = held + MEMORY_BYTES + MEMORY_FACTOR * file_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    signal.alarm(PATIENCE * SECONDS)

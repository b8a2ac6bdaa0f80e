"""Descendants: the processes that an adapter started, wherever they went, and their end.

On Linux this process becomes the one to which orphans of its descendants fall (a subreaper), so
that a child that left its parent, its process group and its session is still found. Descendants
are found by their parents, by their session, and by a mark in the environment that they inherit.
Elsewhere only the process group is killed: a child that left it survives.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MARK = "LANCE_CONFORMANCE_PROCESS"
"""Environment variable of an adapter and of all it starts."""

ROUNDS = 200
"""How often it is looked for processes that are left before they are given up."""

PAUSE_SECONDS = 0.005

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Process:
    """What the system says of a process."""

    pid: int
    state: str
    parent: int
    session: int


@cache
def adopt_orphans() -> bool:
    """Let orphans among the descendants of this process fall to it; return whether they do."""
    if sys.platform != "linux":
        return False
    return int(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0


def kill_all(root: int, mark: str) -> None:
    """Kill the group of `root`, and on Linux all that it started, until none is left.

    `root` itself is killed and left to its owner to collect.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(root, signal.SIGKILL)
    if sys.platform != "linux":
        return
    for _ in range(ROUNDS):
        left = [one for one in _descendants(root, mark) if one.pid != root]
        for one in left:
            _kill(one)
        if all(one.state == "Z" and one.parent != os.getpid() for one in left):
            return
        time.sleep(PAUSE_SECONDS)


def kill_orphans() -> None:
    """Kill every child that this process still has, if it adopts any: the last act of a command."""
    if not adopt_orphans.cache_info().currsize:
        return
    for _ in range(ROUNDS):
        left = [one for one in _processes() if one.parent == os.getpid()]
        for one in left:
            _kill(one)
        if not left:
            return
        time.sleep(PAUSE_SECONDS)


def _kill(one: Process) -> None:
    """Kill a process, and collect it when it is a child of this one."""
    with suppress(ProcessLookupError, PermissionError, ChildProcessError):
        if one.state != "Z":
            os.kill(one.pid, signal.SIGKILL)
        if one.parent == os.getpid():
            os.waitpid(one.pid, os.WNOHANG)


def _descendants(root: int, mark: str) -> list[Process]:
    """Return what descends from `root`, is of its session, or carries its mark."""
    every = list(_processes())
    found = {root}
    while True:
        more = {one.pid for one in every if one.parent in found or one.session == root} - found
        if not more:
            break
        found |= more
    adopted = [one for one in every if one.parent == os.getpid() and one.pid not in found]
    marked = f"{MARK}={mark}".encode()
    found |= {one.pid for one in adopted if marked in _environment(one.pid)}
    while more := {one.pid for one in every if one.parent in found} - found:
        found |= more
    return [one for one in every if one.pid in found]


def _processes() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text("utf-8", "replace")
        except OSError:
            continue  # it ended meanwhile
        state, parent, _, session = text.rpartition(")")[2].split()[:4]
        yield Process(int(folder.name), state, int(parent), int(session))


def _environment(pid: int) -> list[bytes]:
    try:
        return Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return []

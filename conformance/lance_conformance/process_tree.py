"""The process tree of an adapter, and how all of it is killed.

On Linux this process becomes a subreaper: orphaned descendants become its children, so that a child
that left its parent, its process group and its session is still found. Descendants are found by
their parents, by their session, and by a marker in the environment that they inherit. On other
systems only the process group is killed: a child that left it survives.
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

MARKER = "LANCE_CONFORMANCE_PROCESS"
"""Environment variable of an adapter and its descendants."""

MAX_ROUNDS = 200
"""Maximum number of rounds in which remaining processes are killed."""

PAUSE_SECONDS = 0.005

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Process:
    """State of a process as the system reports it."""

    pid: int
    state: str
    parent: int
    session: int


@cache
def adopt_orphans() -> bool:
    """Make this process a subreaper of its descendants; return whether it is one."""
    if sys.platform != "linux":
        return False
    return int(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0


def kill_tree(root: int, mark: str) -> None:
    """Kill the group of `root`, and on Linux all its descendants, until none remains.

    `root` itself is killed, and reaped by its owner.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(root, signal.SIGKILL)
    if sys.platform != "linux":
        return
    for _ in range(MAX_ROUNDS):
        remaining = [one for one in _descendants(root, mark) if one.pid != root]
        for one in remaining:
            _kill(one)
        if all(one.state == "Z" and one.parent != os.getpid() for one in remaining):
            return
        time.sleep(PAUSE_SECONDS)


def kill_orphans() -> None:
    """Kill every remaining child of this process at the end of a command, if it is a subreaper."""
    if not adopt_orphans.cache_info().currsize:
        return
    for _ in range(MAX_ROUNDS):
        remaining = [one for one in _processes() if one.parent == os.getpid()]
        for one in remaining:
            _kill(one)
        if not remaining:
            return
        time.sleep(PAUSE_SECONDS)


def _kill(one: Process) -> None:
    """Kill a process, and reap it when it is a child of this one."""
    with suppress(ProcessLookupError, PermissionError, ChildProcessError):
        if one.state != "Z":
            os.kill(one.pid, signal.SIGKILL)
        if one.parent == os.getpid():
            os.waitpid(one.pid, os.WNOHANG)


def _descendants(root: int, mark: str) -> list[Process]:
    """Return the descendants of `root`, its session, and processes with its marker."""
    processes = list(_processes())
    pids = {root}
    while True:
        more = {one.pid for one in processes if one.parent in pids or one.session == root} - pids
        if not more:
            break
        pids |= more
    orphans = [one for one in processes if one.parent == os.getpid() and one.pid not in pids]
    marked = f"{MARKER}={mark}".encode()
    pids |= {one.pid for one in orphans if marked in _environment(one.pid)}
    while more := {one.pid for one in processes if one.parent in pids} - pids:
        pids |= more
    return [one for one in processes if one.pid in pids]


def _processes() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text("utf-8", "replace")
        except OSError:
            continue  # the process has ended
        state, parent, _, session = text.rpartition(")")[2].split()[:4]
        yield Process(int(folder.name), state, int(parent), int(session))


def _environment(pid: int) -> list[bytes]:
    try:
        return Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return []

"""Faults: stores that crash or fail at a chosen step.

A step is a call that changes a store: create, close, put, put_if_absent, rename, delete, prune, and
for a manifest store to put or forget a record. All stores that are opened inside `faulty` share one
sequence of steps, so that a campaign runs an operation once to list its steps, and then once with a
crash at every step:

    with faulty(Fault()) as fault:
        write_dataset(table, uri)
    for at in range(1, len(fault.steps) + 1):
        with suppress(Crash), faulty(Fault(at)):
            write_dataset(table, other_uri)

A dataset has the stores that it was opened with, so open it inside. One step of a local store is
several system calls; `watch_calls` makes each of them a step.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeVar, cast

from lanceref.core.errors import StoreFailed
from lanceref.storage import Sink, Store, wrapped_stores
from lanceref.storage.manifests.manifest_names import ManifestStore, Record
from lanceref.storage.manifests.opening import wrapped_manifests

T = TypeVar("T")

CALLS = frozenset({"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"})
"""Audit events of calls that change a file system, besides opening a file for writing."""


class Crash(BaseException):
    """A simulated end of the process, which no handler of `Exception` catches."""


@dataclass(slots=True)
class Fault:
    """A fault before step `at` (from 1; 0: never), or `after` it.

    "crash" simulates the end of the process: no later step is done. "kill" kills the process.
    "error" raises StoreFailed, an OSError, at this step alone.
    """

    at: int = 0
    how: Literal["crash", "kill", "error"] = "crash"
    after: bool = False
    steps: list[str] = field(default_factory=list)

    @property
    def dead(self) -> bool:
        """Whether a crash was simulated."""
        return self.how == "crash" and 0 < self.at <= len(self.steps)

    def step(self, name: str, act: Callable[[], T]) -> T:
        """Run a step, and return its result. Raises Crash or StoreFailed at step `at`."""
        if self.dead:
            raise Crash(f"after step {self.at}, {self.steps[-1]}")
        self.steps.append(name)
        if len(self.steps) != self.at:
            return act()
        if self.after:
            act()
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "error":
            raise StoreFailed(f"step {self.at}, {name}: failed on purpose")
        raise Crash(f"step {self.at}, {name}")


@dataclass(slots=True)
class Interleaved(Fault):
    """A fault that also calls `other` once, before step `before` (from 1).

    The steps of stores that `other` opens inside `faulty` count too: open them outside.
    """

    before: int = 0
    other: Callable[[], object] | None = None

    def step(self, name: str, act: Callable[[], T]) -> T:
        """Run a step, after `other` at step `before`."""
        if len(self.steps) + 1 == self.before and self.other is not None:
            other, self.other = self.other, None
            other()
        return Fault.step(self, name, act)


class FaultySink:
    """A sink of a `FaultyStore`: closing is a step, aborting does nothing after a crash."""

    def __init__(self, inner: Sink, path: str, fault: Fault) -> None:
        self._inner, self._path, self._fault = inner, path, fault
        self._open = True

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def close(self) -> None:
        """Make the object visible; a second call does nothing."""
        if self._open:
            self._open = False
            self._fault.step(f"close {self._path}", self._inner.close)

    def abort(self) -> None:
        """Remove the object, unless a crash was simulated."""
        if not self._fault.dead:
            self._inner.abort()


STEPS = {name: name for name in ("put", "put_if_absent", "rename", "delete", "prune")}
"""Methods of a store that are steps, with the names of the steps."""

RECORD_STEPS = {
    "put_if_absent": "record_if_absent",
    "put_if_present": "record_if_present",
    "forget": "forget",
}
"""Methods of a manifest store that are steps, with the names of the steps."""


def _counted(inner: object, name: str, steps: Mapping[str, str], fault: Fault) -> object:
    """Return an attribute of a store; a method that is a step is counted, with its paths."""
    attribute = getattr(inner, name)
    if name not in steps:
        return attribute

    def step(*arguments: object) -> object:
        records = [one.path for one in arguments if isinstance(one, Record)]
        paths = records or [one for one in arguments if isinstance(one, str)]
        return fault.step(" ".join([steps[name], *paths]), lambda: attribute(*arguments))

    return step


class FaultyStore:
    """A store whose steps are counted by a `Fault`; other methods are those of the store."""

    def __init__(self, inner: Store, fault: Fault) -> None:
        self.inner, self.fault = inner, fault

    def __getattr__(self, name: str) -> object:
        return _counted(self.inner, name, STEPS, self.fault)

    def __setattr__(self, name: str, value: object) -> None:
        owner = self.inner if name == "stats" else self
        object.__setattr__(owner, name, value)

    def at(self, root: str) -> FaultyStore:
        """Return a store of another root with the same sequence of steps."""
        return FaultyStore(self.inner.at(root), self.fault)

    def create(self, path: str) -> FaultySink:
        """Start an object, which is a step."""
        sink = self.fault.step(f"create {path}", lambda: self.inner.create(path))
        return FaultySink(sink, path, self.fault)


class FaultyManifests:
    """A manifest store whose records are steps of a `Fault`."""

    def __init__(self, inner: ManifestStore, fault: Fault) -> None:
        self.inner, self.fault = inner, fault

    def __getattr__(self, name: str) -> object:
        return _counted(self.inner, name, RECORD_STEPS, self.fault)


@contextmanager
def faulty(fault: Fault) -> Iterator[Fault]:
    """Count the steps of all stores that are opened inside, with a fault."""
    stores = wrapped_stores(lambda store: cast("Store", FaultyStore(store, fault)))
    manifests = wrapped_manifests(lambda one: cast("ManifestStore", FaultyManifests(one, fault)))
    with stores, manifests:
        yield fault


def watch_calls(fault: Fault, below: str = "") -> None:
    """Make each system call that changes files below a folder a step, until this process ends.

    Faults occur before the call, also with `after`.
    """

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        opens = event == "open" and isinstance(arguments[2], int)
        if not (event in CALLS or (opens and arguments[2] & (os.O_WRONLY | os.O_RDWR))):  # type: ignore[operator]
            return
        if str(arguments[0]).startswith(below):
            fault.step(f"{event} {arguments[0]}", lambda: None)

    sys.addaudithook(hook)

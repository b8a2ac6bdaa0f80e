"""Faults: a store that ends or fails at a step of one's choice.

A step is a call that changes what a store holds: create, close, put, put_if_absent, rename, delete,
prune, and of a manifest store to put or to forget a record; reading is none. All stores that are
opened inside `faulty` count in one row, so that a campaign runs something once to learn its steps,
and then once for every step to end there:

    with faulty(Fault()) as fault:
        write_dataset(table, uri)
    for at in range(1, len(fault.steps) + 1):
        with suppress(Crash), faulty(Fault(at)):
            write_dataset(table, other_uri)

An opened dataset keeps the stores it was opened with: open it inside. One step of a local store is
several calls of the operating system; `watch_calls` makes a step of each of those.
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
"""Audit events of calls that change a file system; so does opening a file for writing."""


class Crash(BaseException):
    """What a process that ended never lives to see: no handler of errors takes it."""


@dataclass(slots=True)
class Fault:
    """What happens at step `at` (from 1; 0: never), before the step is done or `after` it.

    "crash" ends the process as far as its stores can tell: no later step is done either. "kill"
    ends it in earnest. "error" is a StoreFailed, an OSError, at this step alone.
    """

    at: int = 0
    how: Literal["crash", "kill", "error"] = "crash"
    after: bool = False
    steps: list[str] = field(default_factory=list)

    @property
    def dead(self) -> bool:
        """Whether the process has ended as far as its stores can tell."""
        return self.how == "crash" and 0 < self.at <= len(self.steps)

    def step(self, name: str, act: Callable[[], T]) -> T:
        """Do a step and return what it returns. Raises Crash or StoreFailed when it is the one."""
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
class Meanwhile(Fault):
    """A fault that also lets something else happen, once, before step `before` (from 1).

    What the other opens itself, inside of `faulty`, counts here too: open it outside.
    """

    before: int = 0
    other: Callable[[], object] | None = None

    def step(self, name: str, act: Callable[[], T]) -> T:
        """Do a step, after the other when it is the one."""
        if len(self.steps) + 1 == self.before and self.other is not None:
            other, self.other = self.other, None
            other()
        return Fault.step(self, name, act)


class FaultySink:
    """A sink of a `FaultyStore`: to close it is a step, to abort it does nothing once dead."""

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
        """Leave no object behind, unless the process has ended."""
        if not self._fault.dead:
            self._inner.abort()


STEPS = {name: name for name in ("put", "put_if_absent", "rename", "delete", "prune")}
"""Methods of a store that are steps, and how a step of each is named."""

RECORD_STEPS = {
    "put_if_absent": "record_if_absent",
    "put_if_present": "record_if_present",
    "forget": "forget",
}
"""The same of a manifest store."""


def _counted(inner: object, name: str, steps: Mapping[str, str], fault: Fault) -> object:
    """Return an attribute of a store; a method that is a step is counted with its paths."""
    found = getattr(inner, name)
    if name not in steps:
        return found

    def step(*given: object) -> object:
        records = [one.path for one in given if isinstance(one, Record)]
        paths = records or [one for one in given if isinstance(one, str)]
        return fault.step(" ".join([steps[name], *paths]), lambda: found(*given))

    return step


class FaultyStore:
    """A store whose steps are counted by a `Fault`; all else is what the store itself does."""

    def __init__(self, inner: Store, fault: Fault) -> None:
        self.inner, self.fault = inner, fault

    def __getattr__(self, name: str) -> object:
        return _counted(self.inner, name, STEPS, self.fault)

    def __setattr__(self, name: str, value: object) -> None:
        owner = self.inner if name == "stats" else self
        object.__setattr__(owner, name, value)

    def at(self, root: str) -> FaultyStore:
        """Return a store of another root that counts in the same row."""
        return FaultyStore(self.inner.at(root), self.fault)

    def create(self, path: str) -> FaultySink:
        """Begin an object: a step."""
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
    """Count the steps of all stores that are opened inside, and fail where `fault` says."""
    stores = wrapped_stores(lambda store: cast("Store", FaultyStore(store, fault)))
    manifests = wrapped_manifests(lambda held: cast("ManifestStore", FaultyManifests(held, fault)))
    with stores, manifests:
        yield fault


def watch_calls(fault: Fault, below: str = "") -> None:
    """Make a step of each call that changes files below a folder, until this process ends.

    A step comes before its call, whatever `after` says.
    """

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        opens = event == "open" and isinstance(arguments[2], int)
        if not (event in CALLS or (opens and arguments[2] & (os.O_WRONLY | os.O_RDWR))):  # type: ignore[operator]
            return
        if str(arguments[0]).startswith(below):
            fault.step(f"{event} {arguments[0]}", lambda: None)

    sys.addaudithook(hook)

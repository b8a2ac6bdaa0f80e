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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from lanceref.core.errors import StoreFailed
from lanceref.storage import Entry, IOStats, Sink, Source, Store, StoreOptions, wrapped_stores
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

    @property
    def position(self) -> int:
        """Bytes written so far."""
        return self._inner.position

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
        self._inner.write(data)

    def close(self) -> None:
        """Make the object visible; a second call does nothing."""
        if self._open:
            self._open = False
            self._fault.step(f"close {self._path}", self._inner.close)

    def abort(self) -> None:
        """Leave no object behind, unless the process has ended."""
        if not self._fault.dead:
            self._inner.abort()


class FaultyStore:
    """A store whose steps are counted by a `Fault`."""

    def __init__(self, inner: Store, fault: Fault) -> None:
        self.inner, self.fault = inner, fault

    @property
    def root(self) -> str:
        """Root of the store."""
        return self.inner.root

    @property
    def options(self) -> StoreOptions:
        """What the store was opened with."""
        return self.inner.options

    @property
    def lists_in_order(self) -> bool:
        """As the store does."""
        return self.inner.lists_in_order

    def at(self, root: str) -> FaultyStore:
        """Return a store of another root that counts in the same row."""
        return FaultyStore(self.inner.at(root), self.fault)

    @property
    def stats(self) -> IOStats:
        """What was counted."""
        return self.inner.stats

    @stats.setter
    def stats(self, stats: IOStats) -> None:
        self.inner.stats = stats

    def open(self, path: str) -> Source:
        """Open an object for reading."""
        return self.inner.open(path)

    def create(self, path: str) -> FaultySink:
        """Begin an object: a step."""
        sink = self.fault.step(f"create {path}", lambda: self.inner.create(path))
        return FaultySink(sink, path, self.fault)

    def owns(self, folder: str) -> bool:
        """Whether a folder lies below the root."""
        return self.inner.owns(folder)

    def list(self, prefix: str) -> Iterator[str]:
        """Yield names directly below `prefix`."""
        return self.inner.list(prefix)

    def walk(self, prefix: str) -> Iterator[Entry]:
        """Yield the objects below `prefix`."""
        return self.inner.walk(prefix)

    def exists(self, path: str) -> bool:
        """Whether an object exists at `path`."""
        return self.inner.exists(path)

    def put(self, path: str, data: bytes) -> None:
        """Write an object: a step."""
        self.fault.step(f"put {path}", lambda: self.inner.put(path, data))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if none is there: a step."""
        return self.fault.step(
            f"put_if_absent {path}", lambda: self.inner.put_if_absent(path, data)
        )

    def rename(self, path: str, to: str) -> None:
        """Give an object another path: a step."""
        self.fault.step(f"rename {path} {to}", lambda: self.inner.rename(path, to))

    def delete(self, path: str) -> None:
        """Remove an object: a step."""
        self.fault.step(f"delete {path}", lambda: self.inner.delete(path))

    def prune(self, prefix: str) -> None:
        """Remove empty folders: a step."""
        self.fault.step(f"prune {prefix}", lambda: self.inner.prune(prefix))


class FaultyManifests:
    """A manifest store whose records are steps of a `Fault`."""

    def __init__(self, inner: ManifestStore, fault: Fault) -> None:
        self._inner, self._fault = inner, fault

    def get(self, key: str, version: int) -> Record | None:
        """Return the record of a version."""
        return self._inner.get(key, version)

    def latest(self, key: str) -> Record | None:
        """Return the record of the greatest version."""
        return self._inner.latest(key)

    def put_if_absent(self, key: str, record: Record) -> bool:
        """Put a record if its version has none: a step."""
        return self._fault.step(
            f"record_if_absent {record.path}", lambda: self._inner.put_if_absent(key, record)
        )

    def put_if_present(self, key: str, record: Record) -> bool:
        """Put a record if its version has one: a step."""
        return self._fault.step(
            f"record_if_present {record.path}", lambda: self._inner.put_if_present(key, record)
        )

    def forget(self, key: str) -> None:
        """Remove all records of a table: a step."""
        self._fault.step(f"forget {key}", lambda: self._inner.forget(key))


@contextmanager
def faulty(fault: Fault) -> Iterator[Fault]:
    """Count the steps of all stores that are opened inside, and fail where `fault` says."""
    stores = wrapped_stores(lambda store: FaultyStore(store, fault))
    with stores, wrapped_manifests(lambda manifests: FaultyManifests(manifests, fault)):
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

"""Writers: processes that do deeds to one table at the same time, and can be killed.

Each is forked from a process that has both implementations in memory and has never asked them
anything: neither the oracle nor a client of an object store can be forked once it runs. It says
which deed it begins and which is done; what it had begun when it was killed is in doubt. A deed
that met a conflict is begun again.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from types import ModuleType

import pylanceref

from lance_conformance import oracle
from lance_conformance.campaigns.faults.deeds import Deed, do

CONFLICT_WORDS = ("conflict", "concurrent", "retry")
"""Of these is one in the message of every conflict of the oracle."""

PATIENCE = 120.0
"""Seconds in which some writer must say something."""


@dataclass(slots=True)
class Ledger:
    """What the writers said: deeds done, in doubt, and errors that are no conflicts."""

    done: list[Deed] = field(default_factory=list)
    doubtful: list[Deed] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    conflicts: int = 0
    kills: int = 0


@dataclass(slots=True)
class Writer:
    """A process, the deeds it has still to begin, and the one it is at."""

    engine: str
    left: list[Deed]
    process: BaseProcess
    pipe: Connection
    at: Deed | None = None


class Team:
    """Writers of one table. `options` are those of its storage."""

    def __init__(self, uri: str, options: dict[str, str]) -> None:
        self.uri, self.options = uri, options
        self._heard = time.monotonic()
        self.writers: list[Writer] = []
        self.ledger = Ledger()

    def add(self, engine: str, deeds: Sequence[Deed]) -> None:
        """Begin a writer."""
        context = clean_processes()
        ours, theirs = context.Pipe()
        arguments = (theirs, engine, self.uri, list(deeds), self.options)
        process = context.Process(target=_write, args=arguments, daemon=True)
        process.start()
        theirs.close()
        self.writers.append(Writer(engine, list(deeds), process, ours))

    def kill(self, writer: Writer) -> None:
        """Kill a writer as `kill -9` does, and begin another one for what it had not begun."""
        writer.process.kill()
        writer.process.join()
        while writer.pipe.poll():
            if not self._hear(writer):
                break
        if writer.at is not None:
            self.ledger.doubtful.append(writer.at)
        self.ledger.kills += 1
        self._remove(writer)
        if writer.left:
            self.add(writer.engine, writer.left)

    def run(self, seconds: float = PATIENCE) -> bool:
        """Hear what is said until somebody falls silent or `seconds` are over; false at the end."""
        if not self.writers:
            return False
        ready = wait([writer.pipe for writer in self.writers], seconds)
        if ready:
            self._heard = time.monotonic()
        elif time.monotonic() - self._heard > PATIENCE:
            self.ledger.errors.append(f"silent: {[one.at for one in self.writers]}")
            for writer in list(self.writers):
                writer.process.kill()
                self._remove(writer)
        for writer in [one for one in self.writers if one.pipe in ready]:
            if not self._hear(writer):
                writer.process.join()
                if writer.left or writer.at is not None:
                    self.ledger.errors.append(f"a writer ended at {writer.at}")
                self._remove(writer)
        return bool(self.writers)

    def _remove(self, writer: Writer) -> None:
        self.writers.remove(writer)
        writer.pipe.close()

    def _hear(self, writer: Writer) -> bool:
        """Take in one message; false when there will be none."""
        try:
            word, deed, text = writer.pipe.recv()
        except (EOFError, ConnectionResetError):
            return False
        if word == "begin":
            writer.at = deed
            writer.left.remove(deed)
        elif word == "done":
            writer.at = None
            self.ledger.done.append(deed)
        elif word == "conflict":
            self.ledger.conflicts += 1
        else:
            writer.at = None
            self.ledger.errors.append(f"{writer.engine}, {deed}: {text}")
        return True


def clean_processes() -> ForkServerContext:
    """Return the way to start processes that share nothing with what runs in this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pylanceref", "lance", __name__])
    return context


def engine_named(name: str) -> ModuleType:
    """Return an implementation."""
    return pylanceref if name == "lanceref" else oracle.lance()


def _write(
    pipe: Connection, engine: str, uri: str, deeds: list[Deed], options: dict[str, str]
) -> None:
    for deed in deeds:
        pipe.send(("begin", deed, ""))
        for word, text in _attempts(engine_named(engine), uri, deed, options):
            pipe.send((word, deed, text))
    pipe.close()


def _attempts(
    engine: ModuleType, uri: str, deed: Deed, options: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Do a deed, again after each conflict; yield what happened."""
    while True:
        try:
            do(engine, uri, deed, options)
        except (OSError, ValueError, RuntimeError) as error:
            text = f"{type(error).__name__}: {error}"
            if not any(word in text.lower() for word in CONFLICT_WORDS):
                yield "error", text
                return
            yield "conflict", text
            continue
        yield "done", ""
        return

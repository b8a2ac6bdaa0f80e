"""Deeds: what a writer does to a table that others write too, and how to tell that it was done.

A deed is a kind and a number, from which the rows it touches follow, so that no two deeds but
increments and inserts touch the same rows; an insert is done when somebody has done it. The effect
of each shows in the rows of the table alone.

Writers are processes that do deeds to one table at the same time, and can be killed. Each is forked
from a process that has both implementations in memory and has never asked them anything: neither
the oracle nor a client of an object store can be forked once it runs. Its log says which deed it
begins and which is done; what it had begun when it was killed is in doubt. A deed that met a
conflict is done again. In the end the table is read by both implementations, validated, cleaned up.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import ParamSpec, TypeVar

import lanceref
import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance import oracle
from lance_conformance.guarded_call import guarded

Deed = tuple[str, int]
"""Kind and number."""

PLAIN = pa.schema([pa.field("id", pa.int64(), nullable=False), ("n", pa.int64())])

KEYED = pa.schema(
    [PLAIN.field("id").with_metadata({"lance-schema:unenforced-primary-key": "true"}), PLAIN[1]]
)
"""The schema of the table."""

DELETED, UPSERTED, INSERTED, NEW, APPENDED = 1000, 2000, 3000, 4000, 20_000
"""Ids of the first row that deeds of a kind take out, change, put in."""

FRAGMENT_ROWS = 10
"""Rows of a fragment at the beginning."""

APPENDED_ROWS = 3
"""Rows of one append."""

COUNTER = 0
"""Id of the row that increments add to."""


def begin(uri: str, numbers: int, options: dict[str, str], *, stable: bool, v2_names: bool) -> None:
    """Make a table on which deeds of every kind with numbers below `numbers` can be done.

    Its ids are a primary key, which nobody enforces.
    """
    ids = [COUNTER, *range(DELETED, DELETED + numbers), *range(UPSERTED, UPSERTED + numbers)]
    pylanceref.write_dataset(
        _rows(ids, 0).cast(KEYED),
        uri,
        max_rows_per_file=FRAGMENT_ROWS,
        enable_stable_row_ids=stable,
        enable_v2_manifest_paths=v2_names,
        storage_options=options or None,
    )


def do(engine: ModuleType, uri: str, deed: Deed, options: dict[str, str]) -> None:
    """Do a deed, by either implementation, on the latest version."""
    kind, number = deed
    storage = {"storage_options": options or None}
    if kind == "append":
        first = APPENDED + number * APPENDED_ROWS
        rows = _rows(range(first, first + APPENDED_ROWS), 0)
        engine.write_dataset(rows, uri, mode="append", **storage)
        return
    table = engine.dataset(uri, **storage)
    if kind == "delete":
        table.delete(f"id = {DELETED + number}")
    elif kind == "increment":
        table.update({"n": "n + 1"}, f"id = {COUNTER}")
    elif kind == "insert":
        merge = table.merge_insert("id").when_not_matched_insert_all()
        merge.execute(_rows([INSERTED + number], 2))
    elif kind == "upsert":
        merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(_rows([UPSERTED + number, NEW + number], 1))
    else:
        table.optimize.compact_files(target_rows_per_fragment=4 * FRAGMENT_ROWS)


def _rows(ids: Iterable[int], n: int) -> pa.Table:
    held = pa.array(ids, pa.int64())
    return pa.table([held, pa.array([n] * len(held), pa.int64())], schema=PLAIN)


def faults(
    rows: pa.Table, done: Iterable[Deed], doubtful: Iterable[Deed], numbers: int
) -> Iterator[str]:
    """Yield what rows do not show of the deeds that were done, or show of others.

    A doubtful deed was begun, and nobody knows whether it was done: all of it or nothing.
    """
    held = list(zip(rows["id"].to_pylist(), rows["n"].to_pylist(), strict=True))
    found, sure, open_ = Counter(held), Counter(done), Counter(doubtful)
    least = sure["increment", 0]
    most = least + open_["increment", 0]
    counters = [n for (row, n), times in found.items() if row == COUNTER for _ in range(times)]
    if len(counters) != 1 or not least <= counters[0] <= most:
        yield f"the counter is {counters}, after {least} to {most} increments"
    known = {(COUNTER, n) for n in counters}
    for number in range(numbers):
        for kind, states in _states(number).items():
            deed = kind, number
            before, after = states
            allowed = [after] if sure[deed] else [before, after] if open_[deed] else [before]
            seen = {pair for pair in before | after if found[pair]}
            if seen not in allowed or any(found[pair] > 1 for pair in seen):
                yield f"{deed} of {'done' if sure[deed] else 'not done'}: the table has {seen}"
            known |= before | after
    if strange := found.keys() - known:
        yield f"rows that nobody wrote: {sorted(strange)[:5]}"


Pairs = set[tuple[int, int]]


def _states(number: int) -> dict[str, tuple[Pairs, Pairs]]:
    """Return by kind the rows that lie before and after a deed."""
    first = APPENDED + number * APPENDED_ROWS
    return {
        "append": (set(), {(first + row, 0) for row in range(APPENDED_ROWS)}),
        "delete": ({(DELETED + number, 0)}, set()),
        "upsert": ({(UPSERTED + number, 0)}, {(UPSERTED + number, 1), (NEW + number, 1)}),
        "insert": (set(), {(INSERTED + number, 2)}),
    }


CONFLICT_WORDS = ("conflict", "concurrent", "retry")
"""Of these is one in the message of every conflict of the oracle."""

PATIENCE = 120.0
"""Seconds in which some writer must say something."""


@dataclass(slots=True)
class Writer:
    """A process, the deeds it was given, and the file in which it says what it does."""

    engine: str
    deeds: list[Deed]
    process: BaseProcess
    log: Path
    killed: bool = False

    @property
    def said(self) -> list[tuple[str, Deed, str]]:
        """What it said: `begin`, `conflict`, `done` or `error`, a deed, and the text of an error.

        A killed writer may have left half a line.
        """
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        lines = map(json.loads, text[: text.rfind("\n") + 1].splitlines())
        return [(word, (kind, number), told) for word, kind, number, told in lines]

    def deeds_of(self, *words: str) -> list[Deed]:
        """Return the deeds of which it said one of the words."""
        return [deed for word, deed, _ in self.said if word in words]

    @property
    def at(self) -> Deed | None:
        """The deed that it is at, or was when it was killed."""
        last = self.said[-1:]
        return last[0][1] if last and last[0][0] in ("begin", "conflict") else None

    @property
    def left(self) -> list[Deed]:
        """The deeds it has not begun."""
        return self.deeds[len(self.deeds_of("begin")) :]


class Team:
    """Writers of one table, whose logs lie in `folder`. `options` are those of its storage."""

    def __init__(self, uri: str, options: dict[str, str], folder: Path) -> None:
        self.uri, self.options, self._folder = uri, options, folder
        self.writers: list[Writer] = []
        self.errors: list[str] = []
        self._heard = time.monotonic(), 0

    def add(self, engine: str, deeds: Sequence[Deed]) -> None:
        """Begin a writer."""
        log = self._folder / f"writer-{len(self.writers)}"
        arguments = (str(log), engine, self.uri, list(deeds), self.options)
        process = clean_processes().Process(target=_write, args=arguments, daemon=True)
        process.start()
        self.writers.append(Writer(engine, list(deeds), process, log))

    def kill(self, writer: Writer) -> None:
        """Kill a writer as `kill -9` does, and begin another one for what it had not begun."""
        writer.process.kill()
        writer.process.join()
        writer.killed = True
        if writer.left:
            self.add(writer.engine, writer.left)

    @property
    def running(self) -> list[Writer]:
        """The writers that have not ended."""
        return [one for one in self.writers if one.process.is_alive()]

    def run(self, seconds: float = 1.0) -> bool:
        """Wait until a writer ends or `seconds` are over; return whether any still runs."""
        wait([one.process.sentinel for one in self.running], seconds)
        said = sum(one.log.stat().st_size for one in self.writers if one.log.exists())
        if said != self._heard[1]:
            self._heard = time.monotonic(), said
        elif time.monotonic() - self._heard[0] > PATIENCE:
            self.errors.append(f"silent: {[one.at for one in self.running]}")
            for writer in self.running:
                writer.process.kill()
                writer.process.join()
        return bool(self.running)

    @property
    def counts(self) -> dict[str, float]:
        """Numbers of kills, of deeds done and in doubt, and of conflicts."""
        conflicts = sum(len(one.deeds_of("conflict")) for one in self.writers)
        counts = {"kills": sum(one.killed for one in self.writers), "done": len(self.done)}
        return {**counts, "in doubt": len(self.doubtful), "conflicts": conflicts}

    @property
    def done(self) -> list[Deed]:
        """The deeds that were done."""
        return [deed for one in self.writers for deed in one.deeds_of("done")]

    @property
    def doubtful(self) -> list[Deed]:
        """The deeds at which a writer was killed."""
        return [one.at for one in self.writers if one.killed and one.at is not None]

    def faults(self) -> Iterator[str]:
        """Yield the errors of writers, and those that ended early."""
        yield from self.errors
        for writer in self.writers:
            for word, deed, text in writer.said:
                if word == "error":
                    yield f"{writer.engine}, {deed}: {text}"
            if not writer.killed and (writer.left or writer.at is not None):
                yield f"a writer ended at {writer.at}"


def clean_processes() -> ForkServerContext:
    """Return the way to start processes that share nothing with what runs in this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pylanceref", "lance", __name__])
    return context


def engine_named(name: str) -> ModuleType:
    """Return an implementation."""
    return pylanceref if name == "lanceref" else oracle.lance()


def _write(log: str, engine: str, uri: str, deeds: list[Deed], options: dict[str, str]) -> None:
    """Do deeds, each again after a conflict, and tell what happens."""
    with Path(log).open("a", encoding="utf-8") as out:
        for deed in deeds:
            word, text = "begin", ""
            print(json.dumps([word, *deed, text]), file=out, flush=True)
            while word in ("begin", "conflict"):
                text = guarded(partial(do, engine_named(engine), uri, deed, options)).error
                is_conflict = any(one in text.lower() for one in CONFLICT_WORDS)
                word = "conflict" if is_conflict else "error" if text else "done"
                print(json.dumps([word, *deed, text]), file=out, flush=True)


def verdict(team: Team, numbers: int, first: int | None = 1) -> Iterator[str]:
    """Yield what is wrong with a table after the deeds of a team.

    Its versions begin with `first`; None where a cleanup was.
    """
    yield from team.faults()
    readings = []
    for engine in ("lanceref", "oracle"):
        reading = apart(_reading, engine, team.uri, team.options)
        if isinstance(reading, list):
            yield f"{engine}: {reading[0]}"
            return
        readings.append(reading)
    (own, versions), (theirs, others) = readings
    if not own.equals(theirs):
        yield "the two implementations read different rows"
    start = versions[0] if first is None else first
    if versions != others or versions != list(range(start, start + len(versions))):
        yield f"versions {versions}, to the oracle {others}"
    ids = own["_rowid"].to_pylist()
    if len(set(ids)) != len(ids):
        yield "a row id occurs twice"
    yield from faults(own, team.done, team.doubtful, numbers)


def unwell(team: Team) -> list[str]:
    """Return the findings of a validation of the latest version, files and all."""
    return apart(_findings, team.uri, team.options)


def _findings(uri: str, options: dict[str, str]) -> list[str]:
    found = lanceref.validate(uri, deep=True, storage_options=options or None)
    return [f"validation: {finding}" for finding in found]


def _reading(engine: str, uri: str, options: dict[str, str]) -> tuple[pa.Table, list[int]]:
    """Read every version; return the rows of the latest, by id, and the versions."""
    table = engine_named(engine).dataset(uri, storage_options=options or None)
    versions = [one["version"] for one in table.versions()]
    for version in versions:
        table.checkout_version(version).count_rows("n >= 0")
    return table.to_table(with_row_id=True).sort_by("_rowid"), versions


R = TypeVar("R")
P = ParamSpec("P")


def apart(act: Callable[P, R], *given: P.args, **named: P.kwargs) -> R | list[str]:
    """Do something in a process of its own; return its result, or its error as a list of one."""
    with ProcessPoolExecutor(1, mp_context=clean_processes()) as pool:
        try:
            return pool.submit(act, *given, **named).result()
        except BrokenProcessPool:
            return ["the process died"]
        except (OSError, ValueError, RuntimeError, LanceError) as error:
            return [f"{type(error).__name__}: {error}"]

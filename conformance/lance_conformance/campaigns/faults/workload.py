"""Workload: operations of concurrent writers on one table, and the check that each took effect.

An operation is a kind and a number, which determine the rows that it writes; no two operations but
increments and inserts write the same rows, and all inserts of a number have the same effect. The
rows of the table alone show whether an operation took effect.

Writers are processes that can be killed. Each is forked from a process that has imported both
implementations without calling them: neither the oracle nor a client of an object store can be
forked once it runs. The log of a writer has an entry when an operation begins and when it ends; one
that was running when its writer was killed is uncertain. An operation is repeated after a conflict.
Finally both implementations read the table, and it is validated and cleaned up.
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

Operation = tuple[str, int]
Options = dict[str, str]
"""Kind and number of an operation; options of a storage."""

PLAIN = pa.schema([pa.field("id", pa.int64(), nullable=False), ("n", pa.int64())])

KEYED = pa.schema(
    [PLAIN.field("id").with_metadata({"lance-schema:unenforced-primary-key": "true"}), PLAIN[1]]
)
"""The schema of the table."""

DELETED, UPSERTED, INSERTED, NEW, APPENDED = 1000, 2000, 3000, 4000, 20_000
"""First ids of the rows that each kind of operation deletes, updates or inserts."""

FRAGMENT_ROWS, APPENDED_ROWS, COUNTER = 10, 3, 0
"""Rows of a fragment of the new table and of an append; id of the row that increments update."""


def create_table(uri: str, numbers: int, options: Options, *, stable: bool, v2_names: bool) -> None:
    """Create a table for operations with numbers below `numbers`; ids are an unenforced key."""
    ids = [COUNTER, *range(DELETED, DELETED + numbers), *range(UPSERTED, UPSERTED + numbers)]
    pylanceref.write_dataset(
        _rows(ids, 0).cast(KEYED),
        uri,
        max_rows_per_file=FRAGMENT_ROWS,
        enable_stable_row_ids=stable,
        enable_v2_manifest_paths=v2_names,
        storage_options=options or None,
    )


def run_operation(module: ModuleType, uri: str, operation: Operation, options: Options) -> None:
    """Run an operation on the latest version, by either implementation."""
    kind, number = operation
    storage = {"storage_options": options or None}
    if kind == "append":
        first = APPENDED + number * APPENDED_ROWS
        rows = _rows(range(first, first + APPENDED_ROWS), 0)
        module.write_dataset(rows, uri, mode="append", **storage)
        return
    table = module.dataset(uri, **storage)
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
    column = pa.array(ids, pa.int64())
    return pa.table([column, pa.array([n] * len(column), pa.int64())], schema=PLAIN)


def row_errors(
    rows: pa.Table, done: Iterable[Operation], uncertain: Iterable[Operation], numbers: int
) -> Iterator[str]:
    """Yield missing effects of operations that were done, and unexpected rows.

    An uncertain operation must have its full effect or none.
    """
    pairs = Counter(zip(rows["id"].to_pylist(), rows["n"].to_pylist(), strict=True))
    completed, possible = Counter(done), Counter(uncertain)
    least = completed["increment", 0]
    most = least + possible["increment", 0]
    counters = [n for (row, n), times in pairs.items() if row == COUNTER for _ in range(times)]
    if len(counters) != 1 or not least <= counters[0] <= most:
        yield f"the counter is {counters}, after {least} to {most} increments"
    known = {(COUNTER, n) for n in counters}
    for number in range(numbers):
        for kind, (before, after) in _expected_pairs(number).items():
            name, state = (kind, number), "done" if completed[kind, number] else "not done"
            undone = [before, after] if possible[name] else [before]
            present = {pair for pair in before | after if pairs[pair]}
            is_allowed = present in ([after] if completed[name] else undone)
            if not is_allowed or any(pairs[pair] > 1 for pair in present):
                yield f"{name}, {state}: the table has {present}"
            known |= before | after
    if unexpected := pairs.keys() - known:
        yield f"unexpected rows: {sorted(unexpected)[:5]}"


Pairs = set[tuple[int, int]]


def _expected_pairs(number: int) -> dict[str, tuple[Pairs, Pairs]]:
    """Return by kind the rows before and after an operation, as pairs of `id` and `n`."""
    first = APPENDED + number * APPENDED_ROWS
    return {
        "append": (set(), {(first + row, 0) for row in range(APPENDED_ROWS)}),
        "delete": ({(DELETED + number, 0)}, set()),
        "upsert": ({(UPSERTED + number, 0)}, {(UPSERTED + number, 1), (NEW + number, 1)}),
        "insert": (set(), {(INSERTED + number, 2)}),
    }


CONFLICT_WORDS = ("conflict", "concurrent", "retry")
"""Each message of a conflict of the oracle contains one of these."""

TIMEOUT_SECONDS = 120.0
"""Seconds without a log entry of any writer after which all are killed."""


@dataclass(slots=True)
class Writer:
    """A process, its operations, and its log."""

    engine: str
    operations: list[Operation]
    process: BaseProcess
    log: Path
    killed: bool = False

    @property
    def log_entries(self) -> list[tuple[str, Operation, str]]:
        """Entries of the log: `begin`, `conflict`, `done` or `error`, operation, error text.

        The log of a killed writer may end with a partial line.
        """
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        lines = map(json.loads, text[: text.rfind("\n") + 1].splitlines())
        return [(event, (kind, number), error) for event, kind, number, error in lines]

    def logged(self, event: str) -> list[Operation]:
        """Return the operations that have a log entry of an event."""
        return [operation for one, operation, _ in self.log_entries if one == event]

    @property
    def current(self) -> Operation | None:
        """The operation that runs, or ran when the writer was killed."""
        last = self.log_entries[-1:]
        return last[0][1] if last and last[0][0] in ("begin", "conflict") else None

    @property
    def remaining(self) -> list[Operation]:
        """The operations that have not begun."""
        return self.operations[len(self.logged("begin")) :]


class WriterGroup:
    """The writers of one table, with logs in `folder`; `options` are those of its storage."""

    def __init__(self, uri: str, options: Options, folder: Path) -> None:
        self.uri, self.options, self._folder = uri, options, folder
        self.writers: list[Writer] = []
        self.errors: list[str] = []
        self._progress = time.monotonic(), 0

    def add(self, engine: str, operations: Sequence[Operation]) -> None:
        """Start a writer."""
        log = self._folder / f"writer-{len(self.writers)}"
        arguments = (str(log), engine, self.uri, list(operations), self.options)
        process = forkserver().Process(target=_write, args=arguments, daemon=True)
        process.start()
        self.writers.append(Writer(engine, list(operations), process, log))

    def kill(self, writer: Writer) -> None:
        """Kill a writer as `kill -9` does, and start another one for its remaining operations."""
        writer.process.kill()
        writer.process.join()
        writer.killed = True
        if writer.remaining:
            self.add(writer.engine, writer.remaining)

    @property
    def running(self) -> list[Writer]:
        """The writers that have not ended."""
        return [one for one in self.writers if one.process.is_alive()]

    def run(self, seconds: float = 1.0) -> bool:
        """Wait until a writer ends or for `seconds`; return whether any writer still runs."""
        wait([one.process.sentinel for one in self.running], seconds)
        log_bytes = sum(one.log.stat().st_size for one in self.writers if one.log.exists())
        if log_bytes != self._progress[1]:
            self._progress = time.monotonic(), log_bytes
        elif time.monotonic() - self._progress[0] > TIMEOUT_SECONDS:
            self.errors.append(f"timeout: {[one.current for one in self.running]}")
            for writer in self.running:
                writer.process.kill()
                writer.process.join()
        return bool(self.running)

    @property
    def counts(self) -> dict[str, float]:
        """Numbers of kills, of operations done and uncertain, and of conflicts."""
        conflicts = sum(len(one.logged("conflict")) for one in self.writers)
        counts = {"kills": sum(one.killed for one in self.writers), "done": len(self.done)}
        return {**counts, "uncertain": len(self.uncertain), "conflicts": conflicts}

    @property
    def done(self) -> list[Operation]:
        """The operations that were done."""
        return [operation for one in self.writers for operation in one.logged("done")]

    @property
    def uncertain(self) -> list[Operation]:
        """The operations that ran when their writers were killed."""
        return [one.current for one in self.writers if one.killed and one.current is not None]

    def writer_errors(self) -> Iterator[str]:
        """Yield the errors of writers, and writers that ended early."""
        yield from self.errors
        for writer in self.writers:
            for event, operation, text in writer.log_entries:
                if event == "error":
                    yield f"{writer.engine}, {operation}: {text}"
            if not writer.killed and (writer.remaining or writer.current is not None):
                yield f"a writer ended during {writer.current}"


def forkserver() -> ForkServerContext:
    """Return a context whose processes share no state with this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pylanceref", "lance", __name__])
    return context


def implementation(name: str) -> ModuleType:
    """Return the module of an implementation, `lanceref` or `oracle`."""
    return pylanceref if name == "lanceref" else oracle.lance()


def _write(log: str, engine: str, uri: str, operations: list[Operation], options: Options) -> None:
    """Run operations, repeat each after a conflict, and log their events."""
    with Path(log).open("a", encoding="utf-8") as out:
        for operation in operations:
            run, event = partial(run_operation, implementation(engine), uri, operation), "begin"
            print(json.dumps([event, *operation, ""]), file=out, flush=True)
            while event in ("begin", "conflict"):
                error = guarded(partial(run, options)).error
                is_conflict = any(word in error.lower() for word in CONFLICT_WORDS)
                event = "conflict" if is_conflict else "error" if error else "done"
                print(json.dumps([event, *operation, error]), file=out, flush=True)


def table_errors(group: WriterGroup, numbers: int, first: int | None = 1) -> Iterator[str]:
    """Yield the errors of a table after the operations of its writers.

    Its versions begin with `first`, or with any version after a cleanup (None).
    """
    yield from group.writer_errors()
    readings = []
    for engine in ("lanceref", "oracle"):
        reading = in_subprocess(_read_table, engine, group.uri, group.options)
        if isinstance(reading, list):
            yield f"{engine}: {reading[0]}"
            return
        readings.append(reading)
    (rows, versions), (oracle_rows, oracle_versions) = readings
    if not rows.equals(oracle_rows):
        yield "the two implementations read different rows"
    start = versions[0] if first is None else first
    if versions != oracle_versions or versions != list(range(start, start + len(versions))):
        yield f"the reference lists versions {versions}, the oracle {oracle_versions}"
    ids = rows["_rowid"].to_pylist()
    if len(set(ids)) != len(ids):
        yield "a row id occurs twice"
    yield from row_errors(rows, group.done, group.uncertain, numbers)


def validation_findings(uri: str, options: Options) -> list[str]:
    """Return the findings of a deep validation of the latest version."""
    findings = lanceref.validate(uri, deep=True, storage_options=options or None)
    return [f"validation: {finding}" for finding in findings]


def _read_table(engine: str, uri: str, options: Options) -> tuple[pa.Table, list[int]]:
    """Read every version; return the rows of the latest, by row id, and the versions."""
    table = implementation(engine).dataset(uri, storage_options=options or None)
    versions = [one["version"] for one in table.versions()]
    for version in versions:
        table.checkout_version(version).count_rows("n >= 0")
    return table.to_table(with_row_id=True).sort_by("_rowid"), versions


R = TypeVar("R")
P = ParamSpec("P")


def in_subprocess(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R | list[str]:
    """Call a function in a process of its own; return its result, or its error as a list of one."""
    with ProcessPoolExecutor(1, mp_context=forkserver()) as pool:
        try:
            return pool.submit(function, *arguments, **named).result()
        except BrokenProcessPool:
            return ["the process died"]
        except (OSError, ValueError, RuntimeError, LanceError) as error:
            return [f"{type(error).__name__}: {error}"]

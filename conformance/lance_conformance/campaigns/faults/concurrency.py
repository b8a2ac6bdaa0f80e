"""Concurrency: many writers of both implementations on one table, without lost updates.

Eight processes, half of them of the oracle, each run eight appends, five deletes of their own rows,
five increments of one row, five upserts, five inserts of the same keys, or compactions beside
appends and deletes. Finally both implementations see each operation exactly once, and consecutive
versions.

Kills: some writers are ended as by `kill -9` and replaced, after which the table must open. At the
end both implementations see each acknowledged operation exactly once and any other one entirely or
not at all, and a cleanup leaves exactly the referenced files.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pylanceref
from lanceref_testing.object_server import running
from lanceref_testing.table_operations import cleanup

from lance_conformance.campaigns.faults import workload
from lance_conformance.campaigns.faults.crash_points import SCHEMES
from lance_conformance.campaigns.faults.referenced_files import missing_files, unreferenced_files
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, outcome_of

WRITERS, MAX_OPERATIONS = 8, 8
"""Writers of a race, and the most operations of a writer."""

NUMBERS = WRITERS * MAX_OPERATIONS
"""Numbers of the operations of a race."""

TIMES = {"append": 8, "delete": 5, "increment": 5, "upsert": 5, "insert": 5, "compact": 3}
"""Operations of a writer, by kind."""

RACES: dict[str, tuple[str, ...]] = {
    "appends": ("append",),
    "deletes": ("delete",),
    "increments": ("increment",),
    "upserts": ("upsert",),
    "inserts": ("insert",),
    "compaction": ("append", "delete", "append", "compact"),
    "everything": ("append", "delete", "increment", "upsert", "insert"),
}
"""Kinds of the operations of the writers of a race, in turn."""

ENGINES: dict[str, tuple[str, ...]] = {"lanceref": ("lanceref",), "mixed": ("lanceref", "oracle")}
"""Implementations of the writers, in turn."""


def operations_of(kinds: Sequence[str], writer: int) -> list[workload.Operation]:
    """Return the operations of a writer; increments have the number 0, inserts the same numbers."""
    kind = kinds[writer % len(kinds)]
    first = 0 if kind == "insert" else writer * MAX_OPERATIONS
    numbers = range(first, first + TIMES[kind])
    return [(kind, 0 if kind == "increment" else number) for number in numbers]


@contextmanager
def writer_group(storage: str) -> Iterator[workload.WriterGroup]:
    """Yield a group without writers for a new table, on `local` files or on a cloud scheme."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        uri, options = f"{folder}/table", dict[str, str]()
        if storage in SCHEMES:
            server = stack.enter_context(running())
            options = {**server.options, "client_max_retries": "10"}  # for concurrent requests
            uri = server.uri(storage)
        yield workload.WriterGroup(uri, options, Path(folder))


def start(
    group: workload.WriterGroup,
    kinds: Sequence[str],
    engines: Sequence[str],
    *,
    stable: bool,
    v2_names: bool,
) -> None:
    """Create the table of a group and start its writers, by each engine for each kind.

    Subprocesses create and validate the table: clients of a cloud cannot be forked. No writer
    starts if the table cannot be created.
    """
    errors = workload.in_subprocess(
        workload.create_table, group.uri, NUMBERS, group.options, stable=stable, v2_names=v2_names
    )
    group.errors += errors or []
    for writer in () if group.errors else range(WRITERS):
        engine = engines[(writer + writer // len(kinds)) % len(engines)]
        group.add(engine, operations_of(kinds, writer))


TABLES = {
    "addresses, V1 names": (False, False),
    "addresses, V2 names": (False, True),
    "stable ids, V2 names": (True, True),
}
"""By table: whether row ids are stable, and whether manifests have V2 names."""


def concurrency(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of races, evenly spread over all kinds."""
    names = [
        f"{storage}/{table}/{race}, {engines}"
        for storage in ("local", *SCHEMES)
        for table, (_, v2_names) in TABLES.items()
        if storage == "local" or v2_names
        for race in RACES
        for engines in ENGINES
    ]
    yield Session(plan.spread(names), run_race)


def run_race(case: str) -> Outcome:
    """Run the race of a case on a new table until all writers end."""
    storage, table, writers = case.split("/")
    name, _, engines = writers.partition(", ")
    stable, v2_names = TABLES[table]
    with writer_group(storage) as group:
        start(group, RACES[name], ENGINES[engines], stable=stable, v2_names=v2_names)
        return outcome_of([*run_and_check(group)], group.counts)


def run_and_check(group: workload.WriterGroup, rng: random.Random | None = None) -> Iterator[str]:
    """Run writers until all end, and kill random ones if there is an `rng`; yield errors.

    A cleanup must leave exactly the referenced files, and the same rows.
    """
    if not group.writers:
        yield from group.errors
        return
    yield from run_writers(group, rng)
    yield from workload.table_errors(group, NUMBERS)
    yield from workload.in_subprocess(workload.validation_findings, group.uri, group.options)
    yield from workload.in_subprocess(_clean_up, group.uri, group.options) or ()
    if not group.options:
        root = Path(group.uri)
        yield from (
            f"not removed by the cleanup: {one}" for one in sorted(unreferenced_files(root))
        )
        yield from (f"removed by the cleanup: {one}" for one in sorted(missing_files(root)))
    yield from workload.table_errors(group, NUMBERS, first=None)


MAX_KILLS = 25
"""Most writers that are killed in a round."""

PAUSE_SECONDS, CLOUD_PAUSE_SECONDS = 0.04, 0.4
"""Longest time between two kills, on local files and in a cloud."""

KINDS = ("append", "delete", "increment", "upsert", "append", "delete", "increment", "compact")
"""Kinds of the operations of the writers of a round."""


def _clean_up(uri: str, options: dict[str, str]) -> None:
    cleanup(pylanceref, uri, options)


def run_writers(group: workload.WriterGroup, rng: random.Random | None) -> Iterator[str]:
    """Run writers until all end, and kill random ones; yield errors of opening after a kill."""
    pause = CLOUD_PAUSE_SECONDS if group.options else PAUSE_SECONDS
    while group.run(1.0 if rng is None else rng.uniform(0, pause)):
        if rng is None:
            continue
        busy = [writer for writer in group.running if writer.current is not None]
        kills = sum(writer.killed for writer in group.writers)
        if kills < MAX_KILLS and busy and rng.random() < 0.8:
            group.kill(rng.choice(busy))
            count = workload.in_subprocess(_count_rows, group.uri, group.options)
            if isinstance(count, list):
                yield f"after kill {kills + 1}: {count}"


def _count_rows(uri: str, options: dict[str, str]) -> int:
    return pylanceref.dataset(uri, storage_options=options).count_rows()


def kills(plan: Plan) -> Iterator[Session]:
    """Open the part: rounds on local tables, and every fourth in a cloud."""
    storage = ("local", "local", "local", SCHEMES[0], "local", "local", "local", SCHEMES[1])
    yield Session([f"{storage[seed % len(storage)]}/{seed}" for seed in plan.seeds], run_round)


def run_round(case: str) -> Outcome:
    """Run the race of a case on a new table, and kill some of its writers."""
    storage, _, seed = case.partition("/")
    stable = bool(int(seed) % 2)
    with writer_group(storage) as group:
        start(group, KINDS, ENGINES["mixed"], stable=stable, v2_names=bool(group.options) or stable)
        return outcome_of([*run_and_check(group, random.Random(int(seed)))], group.counts)


PARTS = (Part("concurrency", 98, concurrency), Part("kills", 8, kills))

"""Concurrency: many writers of both implementations on one table, and nothing is lost.

Eight processes do eight appends each, five deletes of rows of their own, five increments of one
row, five upserts, five inserts of keys that all insert, or compact while others append and delete;
half of them by the oracle. In the end every deed shows exactly once, for both, and the versions are
without a gap.

Kills: now and then one of the writers is ended as by `kill -9`, another takes its place, and the
table must open. At the end of a round every acknowledged deed shows exactly once and every other
one wholly or not at all, for both implementations, and a cleanup leaves exactly the files that are
needed.
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

from lance_conformance.campaigns.faults.crash_points import SCHEMES
from lance_conformance.campaigns.faults.deeds import Deed, Team, apart, begin, unwell, verdict
from lance_conformance.campaigns.faults.needed_files import missing, residue
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged

WRITERS, MOST = 8, 8
"""Writers of a race, and the most times that one does a thing."""

NUMBERS = WRITERS * MOST
"""How many numbers the deeds of a race have."""

TIMES = {"append": 8, "delete": 5, "increment": 5, "upsert": 5, "insert": 5, "compact": 3}
"""How often each writer does a deed."""

RACES: dict[str, tuple[str, ...]] = {
    "appends": ("append",),
    "deletes": ("delete",),
    "increments": ("increment",),
    "upserts": ("upsert",),
    "inserts": ("insert",),
    "compaction": ("append", "delete", "append", "compact"),
    "everything": ("append", "delete", "increment", "upsert", "insert"),
}
"""What the writers of a race do, in turn."""

ENGINES: dict[str, tuple[str, ...]] = {"lanceref": ("lanceref",), "mixed": ("lanceref", "oracle")}
"""Who the writers are, in turn."""


def deeds(kinds: Sequence[str], writer: int) -> list[Deed]:
    """Return what a writer does; increments have the number 0, all insert the same."""
    kind = kinds[writer % len(kinds)]
    first = 0 if kind == "insert" else writer * MOST
    numbers = range(first, first + TIMES[kind])
    return [(kind, 0 if kind == "increment" else number) for number in numbers]


@contextmanager
def team(name: str) -> Iterator[Team]:
    """Yield a team without writers for a new table on a place, `local` or a scheme of the cloud."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        where, options = f"{folder}/table", dict[str, str]()
        if name in SCHEMES:
            server = stack.enter_context(running())
            options = {**server.options, "client_max_retries": "10"}  # there are many at once
            where = server.uri(name)
        yield Team(where, options, Path(folder))


def start(
    team: Team, kinds: Sequence[str], engines: Sequence[str], *, stable: bool, v2_names: bool
) -> None:
    """Make the table of a team and let its writers go, of each kind some by every engine.

    The table is made and validated in processes of their own: a client of a cloud cannot be forked.
    There are no writers where it cannot be made.
    """
    wrong = apart(begin, team.uri, NUMBERS, team.options, stable=stable, v2_names=v2_names)
    team.errors += wrong or []
    for writer in () if team.errors else range(WRITERS):
        engine = engines[(writer + writer // len(kinds)) % len(engines)]
        team.add(engine, deeds(kinds, writer))


TABLES = {
    "addresses, V1 names": (False, False),
    "addresses, V2 names": (False, True),
    "stable ids, V2 names": (True, True),
}
"""Tables by whether their row ids are stable, and manifests named the new way."""


def concurrency(plan: Plan) -> Iterator[Session]:
    """Open the part: races of as many kinds as are planned, evenly spread."""
    names = [
        f"{where}/{table}/{race}, {engines}"
        for where in ("local", *SCHEMES)
        for table, (_, v2_names) in TABLES.items()
        if where == "local" or v2_names
        for race in RACES
        for engines in ENGINES
    ]
    yield Session(plan.spread(names), run_race)


def run_race(case: str) -> Outcome:
    """Hold the race of a case on a new table, until all is done."""
    on, table, told = case.split("/")
    name, _, engines = told.partition(", ")
    stable, v2_names = TABLES[table]
    with team(on) as own:
        start(own, RACES[name], ENGINES[engines], stable=stable, v2_names=v2_names)
        return judged([*left_by(own)], counts=own.counts)


def left_by(team: Team, luck: random.Random | None = None) -> Iterator[str]:
    """Let writers go until all is done, some killed by `luck`; yield what is wrong then.

    A cleanup leaves exactly the files that are needed, and the rows as they were.
    """
    if not team.writers:
        yield from team.errors
        return
    yield from storm(team, luck)
    yield from verdict(team, NUMBERS)
    yield from unwell(team)
    yield from apart(_clean_up, team.uri, team.options) or ()
    if not team.options:
        yield from (f"the cleanup leaves {one}" for one in sorted(residue(Path(team.uri))))
        yield from (f"the cleanup took {one}" for one in sorted(missing(Path(team.uri))))
    yield from verdict(team, NUMBERS, first=None)


KILLS_OF_A_ROUND = 25

PAUSE_SECONDS = 0.04
CLOUD_PAUSE_SECONDS = 0.4
"""Longest time between two looks for somebody to kill, on local files and in a cloud."""

KINDS = ("append", "delete", "increment", "upsert", "append", "delete", "increment", "compact")
"""What the writers of a round do."""


def _clean_up(uri: str, options: dict[str, str]) -> None:
    cleanup(pylanceref, uri, options)


def storm(team: Team, luck: random.Random | None) -> Iterator[str]:
    """Let writers go until all is done, and kill some; yield what is wrong after a kill."""
    pause = CLOUD_PAUSE_SECONDS if team.options else PAUSE_SECONDS
    while team.run(1.0 if luck is None else luck.uniform(0, pause)):
        if luck is None:
            continue
        busy = [writer for writer in team.running if writer.at is not None]
        kills = sum(writer.killed for writer in team.writers)
        if kills < KILLS_OF_A_ROUND and busy and luck.random() < 0.8:
            team.kill(luck.choice(busy))
            opened = apart(_count, team.uri, team.options)
            if isinstance(opened, list):
                yield f"after kill {kills + 1}: {opened}"


def _count(uri: str, options: dict[str, str]) -> int:
    return pylanceref.dataset(uri, storage_options=options).count_rows()


def kills(plan: Plan) -> Iterator[Session]:
    """Open the part: rounds on local tables, and every fourth in a cloud."""
    places = ("local", "local", "local", SCHEMES[0], "local", "local", "local", SCHEMES[1])
    yield Session([f"{places[seed % len(places)]}/{seed}" for seed in plan.seeds], run_round)


def run_round(case: str) -> Outcome:
    """Hold the race of a case on a new table and kill some of its writers."""
    on, _, seed = case.partition("/")
    stable = bool(int(seed) % 2)
    with team(on) as own:
        start(own, KINDS, ENGINES["mixed"], stable=stable, v2_names=bool(own.options) or stable)
        return judged([*left_by(own, random.Random(int(seed)))], counts=own.counts)


PARTS = (Part("concurrency", 98, concurrency), Part("kills", 8, kills))

"""Concurrency: many writers of both implementations on one table, and nothing is lost.

Eight processes do eight appends each, five deletes of rows of their own, five increments of one
row, five upserts, five inserts of keys that all insert, or compact while others append and delete;
half of them by the oracle. In the end every deed shows exactly once, for both, and the versions are
without a gap.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lance_conformance.campaigns.faults.cloud import SCHEMES, cloud
from lance_conformance.campaigns.faults.deeds import Deed, begin
from lance_conformance.campaigns.faults.verdict import apart, unwell, verdict
from lance_conformance.campaigns.faults.writers import Ledger, Team, engine_named
from lance_conformance.campaigns.runner import Outcome, Plan, Session, judged

WRITERS = 8

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

ENGINES: dict[str, tuple[str, ...]] = {
    "lanceref": ("lanceref",),
    "mixed": ("lanceref", "oracle"),
}
"""Who the writers are, in turn."""


@dataclass(frozen=True, slots=True)
class Race:
    """Writers of one table; none does a thing more than `most` times."""

    kinds: tuple[str, ...]
    engines: tuple[str, ...]
    writers: int = WRITERS
    most: int = max(TIMES.values())

    def deeds(self, writer: int) -> list[Deed]:
        """Return what a writer does; increments have the number 0, all insert the same."""
        kind = self.kinds[writer % len(self.kinds)]
        times = min(TIMES[kind], self.most)
        if kind == "increment":
            return [(kind, 0)] * times
        first = 0 if kind == "insert" else writer * self.most
        return [(kind, first + number) for number in range(times)]

    @property
    def numbers(self) -> int:
        """How many numbers there are."""
        return self.writers * self.most


def start(race: Race, uri: str, options: dict[str, str]) -> Team:
    """Let the writers of a race go, on a table that is there; of each kind some by every engine."""
    team = Team(uri, options)
    for writer in range(race.writers):
        engine = race.engines[(writer + writer // len(race.kinds)) % len(race.engines)]
        team.add(engine, race.deeds(writer))
    return team


def run(race: Race, uri: str, options: dict[str, str]) -> Ledger:
    """Let the writers of a race go until all is done."""
    team = start(race, uri, options)
    while team.run():
        pass
    return team.ledger


@dataclass(frozen=True, slots=True)
class Place:
    """Where tables are made: how to name a new one, and the options of its storage."""

    new_uri: Callable[[], str]
    options: dict[str, str]


@contextmanager
def place(name: str) -> Iterator[Place]:
    """Open a place: `local`, or a scheme of the cloud."""
    if name in SCHEMES:
        with cloud() as server:
            yield Place(lambda: server.uri(name), server.options)
        return
    with tempfile.TemporaryDirectory() as folder:
        numbers = itertools.count()
        yield Place(lambda: f"{folder}/table{next(numbers)}", {})


def make(
    uri: str, numbers: int, stable: bool, v2_names: bool, options: dict[str, str]
) -> list[str]:
    """Make the table of a race."""
    engine = engine_named("lanceref")
    begin(engine, uri, numbers, stable=stable, v2_names=v2_names, options=options)
    return []


def held(
    race: Race, where: Place, *, stable: bool, v2_names: bool = True
) -> tuple[Ledger, Sequence[str]]:
    """Hold a race on a new table; return what was said and what is wrong.

    The table is made and validated in processes of their own: a client of a cloud cannot be forked.
    """
    uri, options = where.new_uri(), where.options

    made = apart(make, uri, race.numbers, stable, v2_names, options)
    if made:
        return Ledger(), made
    ledger = run(race, uri, options)
    wrong = [*verdict(uri, ledger, race.numbers, options), *unwell(uri, options)]
    return ledger, wrong


TABLES = {
    "addresses, V1 names": (False, False),
    "addresses, V2 names": (False, True),
    "stable ids, V2 names": (True, True),
}
"""Tables by whether their row ids are stable, and manifests named the new way."""


@contextmanager
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
    yield Session(names[:: max(1, len(names) // plan.count)], run_race)


def run_race(case: str) -> Outcome:
    """Hold the race of a case on a new table."""
    on, table, told = case.split("/")
    name, _, engines = told.partition(", ")
    stable, v2_names = TABLES[table]
    with place(on) as where:
        race = Race(RACES[name], ENGINES[engines])
        ledger, wrong = held(race, where, stable=stable, v2_names=v2_names)
    return judged(wrong, counts={"done": len(ledger.done), "conflicts": ledger.conflicts})

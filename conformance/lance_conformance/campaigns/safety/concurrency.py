"""Concurrency: many writers of both implementations on one table, and nothing is lost.

Eight processes do eight appends each, five deletes of rows of their own, five increments of one
row, five upserts, five inserts of keys that all insert, or compact while others append and delete;
half of them by the oracle. In the end every deed shows exactly once, for both, and the versions are
without a gap.

Run as `python -m lance_conformance.campaigns.safety.concurrency`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lance_conformance.campaigns.safety.deeds import Deed, begin
from lance_conformance.campaigns.safety.verdict import unwell, verdict
from lance_conformance.campaigns.safety.writers import Ledger, Team, engine_named

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


def held(race: Race, *, stable: bool, v2_names: bool) -> tuple[Ledger, Sequence[str]]:
    """Hold a race on a local table; return what was said and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "table"))
        begin(
            engine_named("lanceref"),
            path,
            race.numbers,
            stable=stable,
            v2_names=v2_names,
            options={},
        )
        ledger = run(race, path, {})
        wrong = [*verdict(path, ledger, race.numbers, {}), *unwell(path)]
    return ledger, wrong


def main() -> int:
    """Hold every race with every kind of table; 1 when something was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("races", nargs="*", metavar="RACE", help=", ".join(RACES))
    names = parser.parse_args().races or list(RACES)
    failed = False
    for stable, v2_names in ((False, False), (False, True), (True, True)):
        print(f"{'stable row ids' if stable else 'addresses'}, {'V2' if v2_names else 'V1'} names")
        for name in names:
            for who, engines in ENGINES.items():
                start = time.monotonic()
                ledger, wrong = held(Race(RACES[name], engines), stable=stable, v2_names=v2_names)
                print(
                    f"  {name}, {who}: {len(ledger.done)} done, {ledger.conflicts} conflicts, "
                    f"{len(wrong)} wrong, {time.monotonic() - start:.0f} s",
                    flush=True,
                )
                for one in wrong:
                    print(f"    {one}")
                failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

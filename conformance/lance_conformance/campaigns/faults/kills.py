"""Kills: writers of one table ended at random moments as by `kill -9`, and others in their place.

Writers of both implementations append, delete, add up, upsert and compact; now and then one of them
is killed, and the table must open. At the end of a round every acknowledged deed shows exactly
once and every other one wholly or not at all, for both implementations, and a cleanup leaves
exactly the files that are needed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pylanceref

from lance_conformance.campaigns.faults.cloud import SCHEMES
from lance_conformance.campaigns.faults.concurrency import Place, Race, make, place, start
from lance_conformance.campaigns.faults.operations import cleanup
from lance_conformance.campaigns.faults.residue import missing, residue
from lance_conformance.campaigns.faults.verdict import apart, unwell, verdict
from lance_conformance.campaigns.faults.writers import Ledger, Team
from lance_conformance.campaigns.runner import Outcome, Plan, Session, judged

KILLS_OF_A_ROUND = 25

PAUSE_SECONDS = 0.4
CLOUD_PAUSE_SECONDS = 4.0
"""Longest time between two looks for somebody to kill, on local files and in a cloud."""

KINDS = ("append", "delete", "increment", "upsert", "append", "delete", "increment", "compact")
"""What the writers do."""


def storm(team: Team, kills: int, luck: random.Random, pause: float) -> Iterator[str]:
    """Let writers go until all is done, and kill some; yield what is wrong after a kill."""
    while team.run(luck.uniform(0, pause)):
        busy = [writer for writer in team.writers if writer.at is not None]
        if team.ledger.kills < kills and busy and luck.random() < 0.5:
            team.kill(luck.choice(busy))
            opened = apart(_count, team.uri, team.options)
            if isinstance(opened, list):
                yield f"after kill {team.ledger.kills}: {opened}"


def _count(uri: str, options: dict[str, str]) -> int:
    return pylanceref.dataset(uri, storage_options=options).count_rows()


def round_of(race: Race, kills: int, seed: int, where: Place) -> tuple[Ledger, list[str]]:
    """Hold a race on a new table and kill some of its writers; return what is wrong."""
    stable, uri, options = bool(seed % 2), where.new_uri(), where.options
    made = apart(make, uri, race.numbers, stable, bool(options) or stable, options)
    if made:
        return Ledger(), made
    team = start(race, uri, options)
    pause = CLOUD_PAUSE_SECONDS if options else PAUSE_SECONDS
    wrong = list(storm(team, kills, random.Random(seed), pause))
    wrong += [*verdict(uri, team.ledger, race.numbers, options), *unwell(uri, options)]
    refused: list[str] | None = apart(cleanup, uri, options)
    wrong += refused or []
    if not options:
        wrong += [f"the cleanup leaves {one}" for one in sorted(residue(Path(uri)))]
        wrong += [f"the cleanup took {one}" for one in sorted(missing(Path(uri)))]
    wrong += verdict(uri, team.ledger, race.numbers, options, first=None)
    return team.ledger, wrong


@contextmanager
def kills(plan: Plan) -> Iterator[Session]:
    """Open the part: rounds on local tables, and every fourth in a cloud."""
    places = ("local", "local", "local", SCHEMES[0], "local", "local", "local", SCHEMES[1])
    seeds = range(plan.seed, plan.seed + plan.count)
    yield Session([f"{places[seed % len(places)]}/{seed}" for seed in seeds], run_round)


def run_round(case: str) -> Outcome:
    """Hold the round of a case, in which so many writers are killed."""
    on, _, seed = case.partition("/")
    with place(on) as where:
        race = Race(KINDS, ("lanceref", "oracle"))
        ledger, wrong = round_of(race, KILLS_OF_A_ROUND, int(seed), where)
    counts = {"kills": ledger.kills, "done": len(ledger.done), "in doubt": len(ledger.doubtful)}
    return judged(wrong, counts={**counts, "conflicts": ledger.conflicts})

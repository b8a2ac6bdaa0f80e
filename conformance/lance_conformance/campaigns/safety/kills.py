"""Kills: writers of one table ended at random moments as by `kill -9`, and others in their place.

Writers of both implementations append, delete, add up, upsert and compact; now and then one of them
is killed, and the table must open. At the end of a round every acknowledged deed shows exactly
once and every other one wholly or not at all, for both implementations, and a cleanup leaves
exactly the files that are needed.

Run as `python -m lance_conformance.campaigns.safety.kills`; `--on s3` or `--on s3+ddb` for tables
in a cloud, whose objects are not counted after the cleanup.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pylanceref

from lance_conformance.campaigns.safety.cloud import SCHEMES
from lance_conformance.campaigns.safety.concurrency import Place, Race, make, place, start
from lance_conformance.campaigns.safety.operations import cleanup
from lance_conformance.campaigns.safety.residue import missing, residue
from lance_conformance.campaigns.safety.verdict import apart, unwell, verdict
from lance_conformance.campaigns.safety.writers import Ledger, Team

KILLS = 200
"""How many writers are killed."""

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


def main() -> int:
    """Kill writers in rounds; 1 when something was lost or left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--on", default="local", choices=("local", *SCHEMES))
    arguments = parser.parse_args()
    kills, seed, failed = 0, arguments.seed, False
    race = Race(KINDS, ("lanceref", "oracle"))
    while kills < arguments.kills:
        since, most = time.monotonic(), min(KILLS_OF_A_ROUND, arguments.kills - kills)
        with place(arguments.on) as where:
            ledger, wrong = round_of(race, most, seed, where)
        kills, seed = kills + ledger.kills, seed + 1
        print(
            f"seed {seed - 1}: {ledger.kills} kills, {len(ledger.done)} done, "
            f"{len(ledger.doubtful)} in doubt, {ledger.conflicts} conflicts, "
            f"{len(wrong)} wrong, {time.monotonic() - since:.0f} s",
            flush=True,
        )
        for one in wrong:
            print(f"  {one}")
        failed |= bool(wrong)
    print(f"{kills} kills")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

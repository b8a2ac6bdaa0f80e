"""Kills: writers of one table ended at random moments as by `kill -9`, and others in their place.

Writers of both implementations append, delete, add up, upsert and compact; now and then one of them
is killed, and the table must open. At the end of a round every acknowledged deed shows exactly
once and every other one wholly or not at all, for both implementations, and a cleanup leaves
exactly the files that are needed.

Run as `python -m lance_conformance.campaigns.safety.kills`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import lanceref
from lanceref.errors import LanceError

from lance_conformance.campaigns.safety.concurrency import Race, start
from lance_conformance.campaigns.safety.deeds import begin
from lance_conformance.campaigns.safety.operations import cleanup
from lance_conformance.campaigns.safety.residue import missing, residue
from lance_conformance.campaigns.safety.verdict import unwell, verdict
from lance_conformance.campaigns.safety.writers import Ledger, Team, engine_named

KILLS = 200
"""How many writers are killed."""

KILLS_OF_A_ROUND = 25

PAUSE_SECONDS = 0.4
"""Longest time between two kills."""

KINDS = ("append", "delete", "increment", "upsert", "append", "delete", "increment", "compact")
"""What the writers do."""


def storm(team: Team, kills: int, luck: random.Random, path: str) -> Iterator[str]:
    """Let writers go until all is done, and kill some; yield what is wrong after a kill."""
    while team.run(luck.uniform(0, PAUSE_SECONDS)):
        busy = [writer for writer in team.writers if writer.at is not None]
        if team.ledger.kills < kills and busy and luck.random() < 0.5:
            team.kill(luck.choice(busy))
            try:
                lanceref.dataset(path).count_rows()
            except LanceError as error:
                yield f"after kill {team.ledger.kills}: {error}"


def round_of(race: Race, kills: int, seed: int) -> tuple[Ledger, list[str]]:
    """Hold a race on a local table and kill some of its writers; return what is wrong."""
    stable = bool(seed % 2)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "table"))
        engine = engine_named("lanceref")
        begin(engine, path, race.numbers, stable=stable, v2_names=stable, options={})
        team = start(race, path, {})
        wrong = list(storm(team, kills, random.Random(seed), path))
        wrong += [*verdict(path, team.ledger, race.numbers, {}), *unwell(path, {})]
        cleanup(path)
        wrong += [f"the cleanup leaves {one}" for one in sorted(residue(Path(path)))]
        wrong += [f"the cleanup took {one}" for one in sorted(missing(Path(path)))]
        wrong += verdict(path, team.ledger, race.numbers, {}, first=None)
    return team.ledger, wrong


def main() -> int:
    """Kill writers in rounds; 1 when something was lost or left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    arguments = parser.parse_args()
    kills, seed, failed = 0, arguments.seed, False
    while kills < arguments.kills:
        since = time.monotonic()
        race = Race(KINDS, ("lanceref", "oracle"))
        ledger, wrong = round_of(race, min(KILLS_OF_A_ROUND, arguments.kills - kills), seed)
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

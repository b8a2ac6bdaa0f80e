"""Histories campaign: random operations in lockstep, each going on with what the other wrote.

Run as `python -m lance_conformance.campaigns.histories`; progress is kept in a file and resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from lance_conformance.campaigns.histories.history import Outcome, run_history

PROCESSES = 2
"""Histories that run at the same time."""


def run(seeds: range, steps: int, out: Path | None, *, indexed: bool = False) -> list[Outcome]:
    """Run every seed; outcomes already in `out` are kept."""
    done: dict[int, Outcome] = {}
    if out is not None and out.exists():
        kept = [Outcome(**json.loads(line)) for line in out.read_text("utf-8").splitlines()]
        done = {one.seed: one for one in kept}
    waiting = [seed for seed in seeds if seed not in done]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        started = [pool.submit(run_history, seed, steps, indexed=indexed) for seed in waiting]
        for future in as_completed(started):
            outcome = future.result()
            done[outcome.seed] = outcome
            if out is not None:
                with out.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(asdict(outcome)) + "\n")
            if sys.stderr.isatty():
                print(f"\r{len(done)} histories", end="", file=sys.stderr)
    return [done[seed] for seed in seeds]


def report(outcomes: list[Outcome]) -> int:
    """Print how often each operation came up, and every difference; 1 when there is one."""
    done, refused = Counter[str](), Counter[str]()
    for outcome in outcomes:
        done.update(outcome.done)
        refused.update(outcome.refused)
    for name in sorted({*done, *refused}):
        print(f"{name:24} {done[name]:6} done, {refused[name]:5} refused by both")
    failed = [outcome for outcome in outcomes if outcome.differences]
    for outcome in failed:
        print(f"DIFFERENCE seed {outcome.seed}")
        for text, crossed in outcome.lines:
            print(f"  {'crossed' if crossed else 'straight'}: {text}")
        for told in outcome.differences[:8]:
            print(f"    {told}")
    steps = sum(outcome.steps for outcome in outcomes)
    print(f"{len(outcomes)} histories, {steps} steps, {len(failed)} with differences")
    return 1 if failed else 0


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sequences", type=int, default=500, help="histories")
    parser.add_argument("--steps", type=int, default=30, help="operations of each")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, help="progress file (JSON lines), resumed")
    parser.add_argument("--indexed", action="store_true", help="with indices of every type")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.sequences)
    return report(run(seeds, options.steps, options.out, indexed=options.indexed))


if __name__ == "__main__":
    sys.exit(main())

"""Command of the campaigns: one of six tools, with the same four options.

    python -m lance_conformance.campaigns files --seed 7 --count 200 --only 'written/2.1/*'

`--only` selects a part (`written`) or cases of it (`written/2.1/*`). With `--resume DIR` outcomes
are kept, and those kept before are not run again. The exit code is 1 where a case differs or a
count of a full run stays at zero, 2 where `--only` selects nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from lance_conformance.campaigns.runner import Campaign, NothingSelectedError, Options, report, run

TOOLS: dict[str, tuple[str, ...]] = {
    "files": ("random_tables", "odd"),
    "damage": ("files", "whole.trial"),
    "queries": ("filters", "full_text", "nearest.running", "answers"),
    "histories": ("history", "conflicts", "releases"),
    "faults": ("concurrency", "crash_points", "spark"),
    "recall": ("vector_recall", "rabitq_bound"),
}
"""By the name of a tool, which is a folder that says what it does, its modules with `PARTS`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one campaign and print its report; return the exit code."""
    parser = argparse.ArgumentParser(prog="campaigns", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=TOOLS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="cases of each part; a long run unless given")
    parser.add_argument("--only", default="*", metavar="GLOB", help="a part, or cases PART/...")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="folder that keeps outcomes")
    given = parser.parse_args(arguments)
    campaign = load(given.name)
    options = Options(given.seed, given.count, given.only, given.resume)
    try:
        results = run(campaign, options)
    except NothingSelectedError as error:
        parser.error(f"{error}; parts: {', '.join(part.name for part in campaign.parts)}")
    text, code = report(campaign, options, results)
    print(text)
    return code


def load(name: str) -> Campaign:
    """Return a campaign by its name."""
    opened = [import_module(f"lance_conformance.campaigns.{name}.{one}") for one in TOOLS[name]]
    return Campaign(name, [part for module in opened for part in module.PARTS])


if __name__ == "__main__":
    sys.exit(main())

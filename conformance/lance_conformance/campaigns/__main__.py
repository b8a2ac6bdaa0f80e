"""Command of the campaigns: one of six tools, with the same four options.

    python -m lance_conformance.campaigns files --seed 7 --count 200 --only 'written/2.1/*'

`--only` selects a part (`written`) or cases of it (`written/2.1/*`). `--resume DIR` saves outcomes
and skips cases that have a saved outcome. The exit code is 1 if a case differs or a required count
of a full run stays at zero, 2 if `--only` selects nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from lance_conformance.campaigns.runner import Campaign, NothingSelectedError, Options, report, run

CAMPAIGNS: dict[str, tuple[str, ...]] = {
    "files": ("random_tables", "noncanonical"),
    "damage": ("files", "tables.trial"),
    "queries": ("filters", "full_text", "nearest.running", "answers"),
    "histories": ("history", "conflicts", "releases"),
    "faults": ("concurrency", "crash_points", "spark"),
    "recall": ("vector_recall", "rabitq_bound"),
}
"""Modules with `PARTS`, by campaign; each campaign is a folder of this package."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one campaign and print its report; return the exit code."""
    parser = argparse.ArgumentParser(prog="campaigns", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=CAMPAIGNS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="cases of each part; default: a long run")
    parser.add_argument("--only", default="*", metavar="GLOB", help="a part, or cases PART/...")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="folder with saved outcomes")
    parsed = parser.parse_args(arguments)
    campaign = load(parsed.name)
    options = Options(parsed.seed, parsed.count, parsed.only, parsed.resume)
    try:
        results = run(campaign, options)
    except NothingSelectedError as error:
        parser.error(f"{error}; parts: {', '.join(part.name for part in campaign.parts)}")
    text, code = report(campaign, options, results)
    print(text)
    return code


def load(name: str) -> Campaign:
    """Return a campaign by its name."""
    package = f"lance_conformance.campaigns.{name}"
    modules = [import_module(f"{package}.{module}") for module in CAMPAIGNS[name]]
    return Campaign(name, [part for module in modules for part in module.PARTS])


if __name__ == "__main__":
    sys.exit(main())

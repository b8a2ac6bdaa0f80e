"""The damage campaign: the reference and the oracle read a corpus of broken files.

Run as `python -m lance_conformance.campaigns.damage`. The exit code is 0 when the reference keeps
every rule of `rules`; each failure prints the command that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from lance_conformance.campaigns.child import ask
from lance_conformance.campaigns.damage.outcomes import Log, Outcome, ask_all, cases_of
from lance_conformance.campaigns.damage.readers import ORACLE, REFERENCE, Side
from lance_conformance.campaigns.damage.report import report
from lance_conformance.campaigns.damage.targets import find_targets, make_targets
from lance_conformance.oracle import is_installed, lance


def run(
    sides: Sequence[Side], seed: int, sample: int | None, only: str, folder: Path
) -> list[Outcome]:
    """Damage the targets of `folder` and return what every side made of every case."""
    if not (folder / "targets").exists():
        _make(folder / "targets", seed)
    if ORACLE in sides:
        lance()  # so that no child has to import it
    log, terminal = Log(folder / "outcomes.jsonl"), Console(stderr=True)
    outcomes: list[Outcome] = []
    target_id, _, case_name = only.partition(":")
    targets = [t for t in find_targets(folder / "targets") if target_id in t.id]
    share = None if sample is None else -(-sample // len(targets))
    shown = track(targets, "targets", console=terminal, disable=not terminal.is_terminal)
    with tempfile.TemporaryDirectory() as scratch:
        for target in shown:
            cases = [case for case in cases_of(target, seed, share) if case_name in case.name]
            outcomes += ask_all(cases, sides, log, Path(scratch))
    return outcomes


def _make(folder: Path, seed: int) -> None:
    def question() -> list[str]:
        make_targets(folder, seed, by_oracle=is_installed())
        return ["made"]

    made = ask(question)
    if made.answer is None:
        raise RuntimeError(f"the targets could not be written: {made.told}")


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, help="cases in all; every one when not given")
    parser.add_argument("--only", default="", help="part of a target's id, or target:case")
    parser.add_argument("--folder", type=Path, help="keeps targets and outcomes, to resume from")
    parser.add_argument("--without-oracle", action="store_true", help="the reference alone")
    options = parser.parse_args()
    sides = [REFERENCE]
    if is_installed() and not options.without_oracle:
        sides.append(ORACLE)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        outcomes = run(sides, options.seed, options.sample, options.only, folder)
    return report(outcomes, options.seed, Console(soft_wrap=True, highlight=False, emoji=False))


if __name__ == "__main__":
    sys.exit(main())

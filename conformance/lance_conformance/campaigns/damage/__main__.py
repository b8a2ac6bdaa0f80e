"""The damage campaign: a corpus of broken files, and one of hostile tables.

The family `files` puts damaged files to the reference and the oracle; `whole-tables` puts hostile
tables to every operation of the reference, writers too. Run as
`python -m lance_conformance.campaigns.damage`. The exit code is 0 when the reference keeps every
rule of `rules` and of `whole.report`; each failure prints the command that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.progress import track

from lance_conformance.campaigns.child import ask
from lance_conformance.campaigns.damage.outcomes import Log, Outcome, ask_all, cases_of
from lance_conformance.campaigns.damage.readers import ORACLE, REFERENCE, Side
from lance_conformance.campaigns.damage.report import report
from lance_conformance.campaigns.damage.targets import find_targets, make_targets
from lance_conformance.campaigns.damage.whole.cases import CASES, cases_named
from lance_conformance.campaigns.damage.whole.cases import Log as TableLog
from lance_conformance.campaigns.damage.whole.cases import Outcome as TableOutcome
from lance_conformance.campaigns.damage.whole.cases import ask_all as ask_tables
from lance_conformance.campaigns.damage.whole.report import report as report_tables
from lance_conformance.oracle import is_installed, lance


def run(
    sides: Sequence[Side], seed: int, sample: int | None, only: str, folder: Path
) -> list[Outcome]:
    """Damage the targets of `folder` and return what every side made of every case."""
    if not (folder / "targets").exists():
        _make(folder / "targets", seed)
    pa.array([0])  # pyarrow imports pandas here, where it is installed: no child has to
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


def run_tables(seed: int, sample: int | None, only: str, folder: Path) -> list[TableOutcome]:
    """Return what the reference made of hostile tables; the bases are kept in `folder`."""
    cases = cases_named(seed, CASES if sample is None else sample, only)
    terminal = Console(stderr=True)
    log = TableLog(folder / f"tables-{seed}.jsonl")
    outcomes = ask_tables(cases, folder, log)
    quiet = not terminal.is_terminal
    shown = track(outcomes, "tables", total=len(cases), console=terminal, disable=quiet)
    return list(shown)


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
    parser.add_argument("--family", choices=("files", "whole-tables", "all"), default="all")
    parser.add_argument("--sample", type=int, help="cases of a family; all when not given")
    parser.add_argument(
        "--only", default="", help="part of a target's id, target:case, part of a kind, kind:number"
    )
    parser.add_argument("--folder", type=Path, help="keeps targets and outcomes, to resume from")
    parser.add_argument("--without-oracle", action="store_true", help="the reference alone")
    options = parser.parse_args()
    out, code = Console(soft_wrap=True, highlight=False, emoji=False), 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        if options.family in ("whole-tables", "all"):
            tables = run_tables(options.seed, options.sample, options.only, folder)
            code = report_tables(tables, options.seed, out)
        if options.family in ("files", "all"):
            outcomes = run(_sides(options), options.seed, options.sample, options.only, folder)
            code = max(code, report(outcomes, options.seed, out))
    return code


def _sides(options: argparse.Namespace) -> list[Side]:
    sides = [REFERENCE]
    if is_installed() and not options.without_oracle:
        sides.append(ORACLE)
    return sides


if __name__ == "__main__":
    sys.exit(main())

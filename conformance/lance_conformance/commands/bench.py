"""`lance-conformance bench`: ratios of the reference to the oracle."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lance_conformance.bench import scan
from lance_conformance.bench.scan import ScanResult
from lance_conformance.bench.tables import TABLES

FLOOR = 1.5
"""Below this geometric mean over the tables of `FLOOR_VERSION`, `--strict` fails (goal P1: 1.8)."""

FLOOR_VERSION = "2.1"


def bench(
    versions: Annotated[str, typer.Option(help="File versions, comma separated.")] = "2.0,2.1,2.2",
    tables: Annotated[str, typer.Option(help="Tables, comma separated.")] = ",".join(TABLES),
    mib: Annotated[int, typer.Option(help="Decoded size of a table in MiB.")] = 96,
    rounds: Annotated[int, typer.Option(help="Timed rounds; the median counts.")] = 5,
    strict: Annotated[bool, typer.Option(help="Exit 1 below the floor.")] = False,
) -> None:
    """Scan eleven tables with the reference and the oracle on one core; print GB/s and ratios."""
    unknown = set(tables.split(",")) - TABLES.keys()
    if unknown:
        raise typer.BadParameter(f"no table {', '.join(sorted(unknown))}")
    scan.pin_to_one_core()
    results = []
    typer.echo(f"{'table':<11} version  ours GB/s  oracle GB/s  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for result in scan.run(Path(folder), versions.split(","), tables.split(","), mib, rounds):
            results.append(result)
            typer.echo(
                f"{result.table:<11} {result.version:<7}  {result.ours:9.2f}  "
                f"{result.oracle:11.2f}  {result.ratio:5.2f}"
            )
    Console().print(_by_version(results))
    if strict and _mean(results, FLOOR_VERSION) < FLOOR:
        raise typer.Exit(1)


def _by_version(results: list[ScanResult]) -> Table:
    shown = Table("version", "geometric mean", "worst table", "its ratio", box=None)
    for version in sorted({result.version for result in results}):
        worst = min((r for r in results if r.version == version), key=lambda r: r.ratio)
        mean = f"{_mean(results, version):.2f}"
        shown.add_row(version, mean, worst.table, f"{worst.ratio:.2f}")
    return shown


def _mean(results: list[ScanResult], version: str) -> float:
    """Return the geometric mean of a version's ratios; 0 when it was not measured."""
    ratios = [result.ratio for result in results if result.version == version]
    return statistics.geometric_mean(ratios) if ratios else 0.0

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
from lance_conformance.bench.tables import TABLES

FLOOR_GEOMETRIC_MEAN = 1.5
"""Below this geometric mean over the types of 2.1, `--strict` fails (goal P1: 1.8)."""


def bench(
    versions: Annotated[str, typer.Option(help="File versions, comma separated.")] = "2.0,2.1,2.2",
    tables: Annotated[str, typer.Option(help="Tables, comma separated.")] = ",".join(TABLES),
    mib: Annotated[int, typer.Option(help="Decoded size of a table in MiB.")] = 96,
    rounds: Annotated[int, typer.Option(help="Timed rounds; the median counts.")] = 5,
    strict: Annotated[bool, typer.Option(help="Exit 1 below the floor.")] = False,
) -> None:
    """Scan eleven tables with the reference and the oracle on one core; print GB/s and ratios."""
    scan.pin_to_one_core()
    shown = Table("table", "version", "ours GB/s", "oracle GB/s", "ratio", box=None)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for result in scan.run(Path(folder), versions.split(","), tables.split(","), mib, rounds):
            results.append(result)
            typer.echo(
                f"{result.table:<11} {result.version}  {result.ours:6.2f} {result.oracle:6.2f} "
                f"{result.ratio:6.2f}"
            )
    for version in versions.split(","):
        ratios = [r.ratio for r in results if r.version == version]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            worst = min((r for r in results if r.version == version), key=lambda r: r.ratio)
            shown.add_row("geomean", version, "", f"worst {worst.table}", f"{mean:.2f}")
    Console().print(shown)
    means = [
        statistics.geometric_mean([r.ratio for r in results if r.version == version])
        for version in {r.version for r in results} & {"2.1"}
    ]
    if strict and means and min(means) < FLOOR_GEOMETRIC_MEAN:
        raise typer.Exit(1)

"""The command `lance-conformance`: its subcommands, and the exit codes of what can go wrong."""

from __future__ import annotations

import io
import sys

import typer

from lance_conformance import __version__, descendants
from lance_conformance.cases import CaseError
from lance_conformance.commands.bench import bench
from lance_conformance.commands.check_adapter import check_adapter
from lance_conformance.commands.copy import copy
from lance_conformance.commands.coverage import coverage
from lance_conformance.commands.explain import explain
from lance_conformance.commands.fmt import fmt
from lance_conformance.commands.gate import gate
from lance_conformance.commands.generate import generate
from lance_conformance.commands.known import known
from lance_conformance.commands.list_cases import list_cases
from lance_conformance.commands.matrix import matrix
from lance_conformance.commands.run import run
from lance_conformance.commands.show import show
from lance_conformance.commands.shrink import shrink
from lance_conformance.commands.validate import validate
from lance_conformance.known import KnownError
from lance_conformance.matrix.judged import NoReport
from lance_conformance.outside_text import clean
from lance_conformance.places import NotThere
from lance_conformance.reports.files import ReportFailed
from lance_conformance.reports.journal import CannotResume
from lance_conformance.session import AdapterUnusable

WRONG_USE = 2
ADAPTER_BROKEN = 3
NO_REPORT = 3

app = typer.Typer(
    name="lance-conformance",
    help="Judge Lance implementations, explain and validate Lance files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(run)
app.command()(check_adapter)
app.command("list")(list_cases)
app.command()(show)
app.command()(copy)
app.command()(validate)
app.command()(explain)
app.command()(generate)
app.command()(known)
app.command()(fmt)
app.command()(coverage)
app.command()(bench)
app.command()(gate)
app.command()(matrix)
app.command()(shrink)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _command(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True),
) -> None:
    pass


def main() -> None:
    """Run the command; exit with 2 for wrong use, 3 where nothing can be judged or reported."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except AdapterUnusable as error:
        sys.exit(_told(f"the adapter cannot be judged: {error}", ADAPTER_BROKEN))
    except ReportFailed as error:
        sys.exit(_told(str(error), NO_REPORT))
    except (CannotResume, CaseError, KnownError, NoReport, NotThere) as error:
        sys.exit(_told(str(error), WRONG_USE))
    finally:
        descendants.kill_orphans()


def _told(message: str, code: int) -> int:
    typer.echo(clean(message), err=True)
    return code


if __name__ == "__main__":
    main()

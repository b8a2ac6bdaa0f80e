"""The command `lance-conformance`: its subcommands, each imported when it is run.

So the list of subcommands is shown at once, whatever a subcommand needs.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from lance_conformance import __version__, descendants
from lance_conformance.failures import Failure
from lance_conformance.outside_text import clean

COMMANDS = {
    "run": "Judge the adapter CMD, or the bundled reference, and report clause by clause.",
    "check-adapter": "Talk to an adapter: every message under the schema, small cases, hints.",
    "next": "Say which level comes next after a report, and with which cases to start.",
    "diff": "Compare two reports: newly failing, newly passing, changed outcomes.",
    "list": "List cases by profile, pattern and clause.",
    "show": "Show what a case asks, what a clause says and which cases test it, or a divergence.",
    "copy": "Copy cases and what their expectations are into a folder.",
    "validate": "Check a file or a table against the clauses.",
    "judge-output": "Judge what a writer made, beside the rows that it meant.",
    "explain": "Show every byte of a file under its owner.",
    "generate": "Write cases from their recipes, or a corpus of random files.",
    "known": "Run the cases and rewrite the list of known failures; its comments stay.",
    "fmt": "Write case manifests in their canonical form.",
    "coverage": "Count what of the format the cases show, and name what they do not.",
    "bench": "Measure the reference beside the oracle.",
    "gate": "Say what a change does to the format: bytes, clauses, cases, readers.",
    "matrix": "Judge releases of pylance on every case, and show them side by side.",
    "shrink": "Make a file or table smaller while two adapters disagree about it.",
}
"""What each subcommand does, in a line."""

MODULES = {"list": "list_cases", "next": "next_level"}
"""Module and function of a subcommand, where it is not its name."""

HELP = {"help_option_names": ["-h", "--help"]}
"""Settings of every command."""


class Subcommands(TyperGroup):
    """The subcommands by name: a line of help for each, and the one that is run."""

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
        """Return a command that has its line of help alone."""
        text = COMMANDS.get(cmd_name)
        return None if text is None else TyperCommand(cmd_name, help=text)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and other arguments; the command is imported now."""
        name, stub, rest = super().resolve_command(ctx, args)
        if stub is None or name is None:
            return name, stub, rest
        named = MODULES.get(name, name.replace("-", "_"))
        function = getattr(import_module(f"lance_conformance.commands.{named}"), named)
        one = typer.Typer(
            add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
        )
        one.command(name, context_settings=HELP)(function)
        return name, typer.main.get_command(one), rest


app = typer.Typer(
    cls=Subcommands,
    name="lance-conformance",
    help="Judge Lance implementations, explain and validate Lance files.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
    except Failure as error:
        typer.echo(clean(f"{error.before}{error}"), err=True)
        sys.exit(error.exit_code)
    finally:
        descendants.kill_orphans()


if __name__ == "__main__":
    main()

"""The command `lance-conformance`: its subcommands, each imported when it is run.

The list of subcommands is therefore shown without delay.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from lance_conformance import __version__, process_tree
from lance_conformance.command_error import CommandError
from lance_conformance.untrusted_text import printable

COMMANDS = {
    "run": "Judge the adapter CMD, or the bundled reference, and report clause by clause.",
    "check-adapter": "Check a new adapter: every message against the schema, small cases, hints.",
    "next": "Print the next level after a report, and the cases to start with.",
    "diff": "Compare two reports: newly failing, newly passing, changed outcomes.",
    "list": "List cases by profile, pattern and clause.",
    "show": "Show a case, a clause with its text and the cases that test it, or a divergence.",
    "copy": "Copy cases and their expectations into a folder.",
    "validate": "Check a file or a table against the clauses.",
    "judge-output": "Judge the output of a writer against the rows that it should contain.",
    "explain": "Show the owner of every byte of a file.",
    "generate": "Write cases from their recipes, or a corpus of random files.",
    "known": "Run the cases and rewrite the list of known failures, with its comments.",
    "fmt": "Write case manifests in their canonical form.",
    "coverage": "Count which parts of the format the cases cover, and list the missing ones.",
    "bench": "Compare the speed of the reference with the oracle.",
    "gate": "Report the effects of a change on the format: bytes, clauses, cases, readers.",
    "matrix": "Judge releases of pylance on every case, and compare them in a table.",
    "shrink": "Reduce a file or table while two adapters disagree about it.",
}
"""Help line of each subcommand."""

MODULES = {"list": "list_cases", "next": "next_level"}
"""Module and function of a subcommand, where they differ from its name."""

HELP = {"help_option_names": ["-h", "--help"]}
"""Settings of every command."""


class Subcommands(TyperGroup):
    """The subcommands by name, with their help lines; one is imported when it is run."""

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
        """Return a command that only has its help line."""
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


def _print_version(requested: bool) -> None:
    if requested:
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
    except CommandError as error:
        typer.echo(printable(f"{error.prefix}{error}"), err=True)
        sys.exit(error.exit_code)
    finally:
        process_tree.kill_orphans()


if __name__ == "__main__":
    main()

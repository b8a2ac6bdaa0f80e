"""Options that several subcommands share."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import judging, schemas
from lance_conformance.cases import Case, Selection
from lance_conformance.executors import Choice
from lance_conformance.judging import REFERENCE, Order
from lance_conformance.levels import LADDER

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- CMD ARGS…", help="Adapter command. Without one: the bundled reference."
    ),
]
Fixtures = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        file_okay=False,
        help="Folder of cases. Default: this checkout's, or the wheel's.",
    ),
]
Profile = Annotated[str, typer.Option(help="core, format, unstable or all.")]
Only = Annotated[
    list[str] | None,
    typer.Option(help="Case ids; * stands for one component, ** for any number. Repeatable."),
]
ClauseGlob = Annotated[
    list[str] | None, typer.Option("--clause", help="Clause ids, as in L.file.*. Repeatable.")
]
Level = Annotated[
    list[str] | None,
    typer.Option(help="Levels, as in 2.1-flat or 2.2-*; `list --levels` has them. Repeatable."),
]
Kind = Annotated[list[str] | None, typer.Option(help="Kinds, as in read-file. Repeatable.")]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Case ids left out. Repeatable.")
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Adapters that run side by side.")]

StorageOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--storage-option",
        metavar="KEY=VALUE",
        help="How to reach an object store, as in aws_endpoint=http://...; the environment's "
        "AWS_, AZURE_ and GOOGLE_ variables are read too. Repeatable.",
    ),
]

ExecutorChoice = Annotated[
    Choice | None,
    typer.Option(
        "--executor", help="Who does the work: a loop (default), processes of this machine, Spark."
    ),
]
SparkMaster = Annotated[
    str | None,
    typer.Option("--spark", metavar="MASTER", help="Master of Spark; implies --executor spark."),
]

KINDS = tuple(schemas.load("case")["properties"]["kind"]["enum"])
"""Kinds of cases."""

PROFILES = ("core", "format", "unstable", "all")


def selection(
    profile: str,
    only: list[str] | None,
    clause: list[str] | None,
    shuffle: int | None = None,
    *,
    level: list[str] | None = None,
    kind: list[str] | None = None,
    exclude: list[str] | None = None,
    ids: frozenset[str] | None = None,
) -> Selection:
    """Return the selection that the options describe.

    A level counts in every profile, also where the profile is left at `format`, and so do the ids
    of an earlier report. Raises
    BadParameter for a profile, level or kind that does not exist, with the closest ones.
    """
    known(profile, PROFILES, "profile")
    chosen = [one for name in level or () for one in fnmatch.filter(LADDER, name) or [name]]
    for name in chosen:
        if any(one.startswith(f"{name}-") for one in LADDER):
            raise typer.BadParameter(f"no level {name!r}. Did you mean '{name}-*'?")
        known(name, LADDER, "level")
    for name in kind or ():
        known(name, KINDS, "kind")
    return Selection(
        "all" if (chosen or ids) and profile == "format" else profile,
        tuple(only or ()),
        tuple(clause or ()),
        shuffle,
        tuple(chosen),
        tuple(kind or ()),
        tuple(exclude or ()),
        ids,
    )


def known(name: str, names: Iterable[str], what: str) -> None:
    """Raise BadParameter where a name is none of `names`, with those that are close to it."""
    every = list(names)
    if name in every:
        return
    told = near(name, every) or f"It is one of {', '.join(every)}"
    raise typer.BadParameter(f"no {what} {name!r}. {told}")


def near(name: str, names: Iterable[str]) -> str:
    """Return those of `names` that are close to a name, as a question, or nothing."""
    close = difflib.get_close_matches(name, names, n=3)
    return f"Did you mean {' or '.join(close)}?" if close else ""


def chosen(order: Order) -> list[Case]:
    """Return the cases of an order. Raises BadParameter as `choice` does."""
    return choice(order)[1]


def choice(order: Order) -> judging.Choice:
    """Return the active cases and those of an order.

    What a subset lacks of them goes to standard error. Raises BadParameter when there is none,
    with ids that are close to what was asked for.
    """
    active, found = judging.choose(order)
    told = judging.subset_line(order, active)
    if not found:
        hint = _close(order.selection, active)
        raise typer.BadParameter(
            ". ".join(part for part in ("no case is selected", hint, told) if part)
        )
    if told:
        typer.echo(told, err=True)
    return active, found


def require_oracle(hint: str = "") -> None:
    """Raise BadParameter where pylance, with which the reference is compared, is not installed."""
    if find_spec("lance") is None:
        told = "this needs pylance, the oracle: pip install 'lance-conformance[oracle]'"
        raise typer.BadParameter("; ".join(part for part in (told, hint) if part))


def _close(selection: Selection, active: list[Case]) -> str:
    """Return the ids closest to the patterns, as a question, or nothing."""
    ids = [case.id for case in active]
    for pattern in selection.only:
        below = pattern.rstrip("/")
        if "*" not in pattern and any(name.startswith(f"{below}/") for name in ids):
            return f"Did you mean {below}/**?"
        if told := near(pattern, ids):
            return told
    clauses = sorted({clause for case in active for clause in case.clauses})
    for pattern in selection.clauses:
        if not fnmatch.filter(clauses, pattern):
            return near(pattern, clauses) or f"no case tests {pattern}"
    some = "** stands for any number of folders, as in file/2.1/**"
    return some if selection.only else ""


def storage_options(pairs: list[str] | None) -> dict[str, str]:
    """Return storage options from KEY=VALUE. Raises BadParameter for something else."""
    split = [pair.partition("=") for pair in pairs or []]
    for key, mark, _ in split:
        if not (key and mark):
            raise typer.BadParameter(f"{key!r} is not KEY=VALUE", param_hint="--storage-option")
    return {key: value for key, _, value in split}


def adapter(command: list[str] | None) -> tuple[str, ...]:
    """Return the adapter command, the reference's when none is given.

    An adapter runs in a scratch folder: arguments that name files of the working directory become
    absolute. The program itself does only when it is written with a slash.
    """
    if not command:
        return REFERENCE
    program, *arguments = command
    program = _absolute(program) if "/" in program else program
    return (program, *(_absolute(argument) for argument in arguments))


def _absolute(argument: str) -> str:
    return str(Path(argument).absolute()) if Path(argument).is_file() else argument


def made(folder: Path | None) -> Path | None:
    """Make the folder of an option now, before work that would be lost. Raises BadParameter."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise typer.BadParameter(f"no such folder can be made: {error}") from error
    return folder

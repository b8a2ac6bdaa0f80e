"""Options shared by several subcommands."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import schemas
from lance_conformance.commands.executors import ExecutorKind
from lance_conformance.runs import suite_run
from lance_conformance.runs.suite_run import REFERENCE, RunOptions
from lance_conformance.suite.cases import Case, Selection
from lance_conformance.suite.levels import LADDER

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
Jobs = Annotated[
    int, typer.Option("-j", "--jobs", min=1, help="Number of adapters that run in parallel.")
]

StorageOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--storage-option",
        metavar="KEY=VALUE",
        help="Option of an object store, as in aws_endpoint=http://...; the environment variables "
        "AWS_, AZURE_ and GOOGLE_ are also read. Repeatable.",
    ),
]

ExecutorChoice = Annotated[
    ExecutorKind | None,
    typer.Option(
        "--executor",
        help="Where the work runs: a loop (default), processes of this machine, Spark.",
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
    """Return the selection of the options.

    Levels and ids of an earlier report select from all profiles when the profile is the default.
    Raises BadParameter for a profile, level or kind that does not exist, with the closest ones.
    """
    require_known(profile, PROFILES, "profile")
    chosen = [one for name in level or () for one in fnmatch.filter(LADDER, name) or [name]]
    for name in chosen:
        if any(one.startswith(f"{name}-") for one in LADDER):
            raise typer.BadParameter(f"no level {name!r}. Did you mean '{name}-*'?")
        require_known(name, LADDER, "level")
    for name in kind or ():
        require_known(name, KINDS, "kind")
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


def require_known(name: str, names: Iterable[str], what: str) -> None:
    """Raise BadParameter where a name is not one of `names`, with the closest ones."""
    valid = list(names)
    if name in valid:
        return
    hint = near(name, valid) or f"It is one of {', '.join(valid)}"
    raise typer.BadParameter(f"no {what} {name!r}. {hint}")


def near(name: str, names: Iterable[str]) -> str:
    """Return the closest ones of `names` as a question, or an empty text."""
    close = difflib.get_close_matches(name, names, n=3)
    return f"Did you mean {' or '.join(close)}?" if close else ""


def selected_cases(settings: RunOptions) -> list[Case]:
    """Return the selected cases. Raises BadParameter as `select_cases` does."""
    return select_cases(settings)[1]


def select_cases(settings: RunOptions) -> suite_run.CaseSelection:
    """Return the active and the selected cases.

    Cases that a subset lacks are reported on standard error. Raises BadParameter when no case is
    selected, with the closest ids.
    """
    active, found = suite_run.select_cases(settings)
    subset_note = suite_run.describe_subset(settings, active)
    if not found:
        hint = _closest_ids(settings.selection, active)
        raise typer.BadParameter(
            ". ".join(part for part in ("no case is selected", hint, subset_note) if part)
        )
    if subset_note:
        typer.echo(subset_note, err=True)
    return active, found


def require_oracle(hint: str = "") -> None:
    """Raise BadParameter where pylance, the oracle, is not installed."""
    if find_spec("lance") is None:
        message = "this needs pylance, the oracle: pip install 'lance-conformance[oracle]'"
        raise typer.BadParameter("; ".join(part for part in (message, hint) if part))


def _closest_ids(selection: Selection, active: list[Case]) -> str:
    """Return the ids closest to the patterns as a question, or an empty text."""
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
    """Return storage options from KEY=VALUE. Raises BadParameter for other text."""
    split = [pair.partition("=") for pair in pairs or []]
    for key, mark, _ in split:
        if not (key and mark):
            raise typer.BadParameter(f"{key!r} is not KEY=VALUE", param_hint="--storage-option")
    return {key: value for key, _, value in split}


def adapter_command(command: list[str] | None) -> tuple[str, ...]:
    """Return the adapter command, by default that of the reference.

    An adapter runs in a scratch folder: arguments that name files of the working directory become
    absolute, and so does the program if it has a slash.
    """
    if not command:
        return REFERENCE
    program, *arguments = command
    program = _absolute(program) if "/" in program else program
    return (program, *(_absolute(argument) for argument in arguments))


def _absolute(argument: str) -> str:
    return str(Path(argument).absolute()) if Path(argument).is_file() else argument


def create_folder(folder: Path | None) -> Path | None:
    """Create the folder of an option before the work starts. Raises BadParameter."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise typer.BadParameter(f"the folder cannot be created: {error}") from error
    return folder

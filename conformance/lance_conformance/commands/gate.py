"""`lance-conformance gate`: compare two states of the format, its register and its cases."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.gate import (
    clauses,
    comment,
    coverage,
    generated_pages,
    golden,
    messages,
    mutation,
    readers,
    writers,
)
from lance_conformance.gate.definitions import BufMissing, buf_path
from lance_conformance.gate.findings import Check, Colour, Finding, worst_colour
from lance_conformance.gate.trees import Tree, TreeError, is_same, open_tree

Side = Annotated[
    str, typer.Option(metavar="REF", help="Revision of git, or a folder written ./x, ../x or /x.")
]


def gate(
    base: Side = "origin/main",
    head: Side = "HEAD",
    reader: Annotated[
        list[str] | None,
        typer.Option(metavar="CMD", help="Adapter of an old reader, one string. Repeatable."),
    ] = None,
    jobs: options.Jobs = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            callback=options.create_folder,
            help="Folder for comment.md and gate.json. Default: none.",
        ),
    ] = None,
) -> None:
    """Say what a change does: wire breaks, clauses, golden cases, old and new readers, scores.

    Prints one comment in Markdown. Exit codes: 0 nothing red, 1 something is red, 2 wrong use.

    It EXECUTES code of both sides: their reference, suite and tools. Never run it on a pull request
    where secrets or a writable token are within reach, such as on the event pull_request_target.
    """
    commands = [_parse_command(one) for one in reader or []]
    try:
        with open_tree(base) as before, open_tree(head) as after:
            if before.protos and after.protos:
                buf_path()
            checks = list(run_checks(before, after, commands, jobs))
            texts = {
                "comment.md": comment.markdown(before, after, checks),
                "gate.json": comment.to_json(before, after, checks),
            }
    except (TreeError, BufMissing) as error:
        raise typer.BadParameter(str(error)) from error
    typer.echo(texts["comment.md"], nl=False)
    if out is not None:
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
    raise typer.Exit(1 if worst_colour(checks) == Colour.RED else 0)


def run_checks(
    base: Tree, head: Tree, old_readers: Sequence[Sequence[str]] = (), jobs: int = 1
) -> Iterator[Check]:
    """Yield every check of a gate, in the order of its report.

    Checks that compare files precede those that execute code of the head.
    """
    yield sides_differ(base, head)
    yield from messages.check(base, head)
    yield from clauses.check(base, head)
    yield golden.check(base, head)
    yield writers.check(head)
    yield readers.check_new(base, head, jobs)
    yield readers.check_old(base, head, old_readers, jobs)
    yield from coverage.check(base, head)
    yield mutation.check(base, head)
    yield generated_pages.check(head)


def sides_differ(base: Tree, head: Tree) -> Check:
    """Return the check that base and head differ."""
    text = "base and head are the same, so nothing is compared"
    same = (Finding(Colour.YELLOW, head.name, text),) if is_same(base, head) else ()
    return Check("two sides", same)


def _parse_command(text: str) -> list[str]:
    """Return the words of an adapter's command. Raises BadParameter."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text}: {error}", param_hint="--reader") from error
    if not words:
        raise typer.BadParameter("the command is empty", param_hint="--reader")
    return words

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
    covered,
    golden,
    messages,
    mutation,
    pages,
    readers,
    writers,
)
from lance_conformance.gate.checks import Check, Colour, Finding, worst
from lance_conformance.gate.definitions import NoBuf, buf_path
from lance_conformance.gate.trees import NoTree, Tree, is_same, opened

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
            callback=options.made, help="Folder for comment.md and gate.json. Default: none."
        ),
    ] = None,
) -> None:
    """Say what a change does: wire breaks, clauses, golden cases, old and new readers, scores.

    Prints one comment in Markdown. Exit codes: 0 nothing red, 1 something is red, 2 wrong use.

    It EXECUTES code of both sides: their reference, suite and tools. Never run it on a pull request
    where secrets or a writable token are within reach, such as on the event pull_request_target.
    """
    commands = [_command(one) for one in reader or []]
    try:
        with opened(base) as before, opened(head) as after:
            if before.protos and after.protos:
                buf_path()
            checks = list(judge(before, after, commands, jobs))
            texts = {
                "comment.md": comment.markdown(before, after, checks),
                "gate.json": comment.to_json(before, after, checks),
            }
    except (NoTree, NoBuf) as error:
        raise typer.BadParameter(str(error)) from error
    typer.echo(texts["comment.md"], nl=False)
    if out is not None:
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
    raise typer.Exit(1 if worst(checks) == Colour.RED else 0)


def judge(
    base: Tree, head: Tree, old_readers: Sequence[Sequence[str]] = (), jobs: int = 1
) -> Iterator[Check]:
    """Yield every check of a gate, in the order of its comment.

    Those that compare files come before those that execute code of the head.
    """
    yield two_sides(base, head)
    yield from messages.check(base, head)
    yield from clauses.check(base, head)
    yield golden.check(base, head)
    yield writers.check(head)
    yield readers.check_new(base, head, jobs)
    yield readers.check_old(base, head, old_readers, jobs)
    yield from covered.check(base, head)
    yield mutation.check(base, head)
    yield pages.check(head)


def two_sides(base: Tree, head: Tree) -> Check:
    """Return whether there is a change at all: a gate of equal sides finds nothing."""
    text = "base and head are the same, so nothing is compared"
    same = (Finding(Colour.YELLOW, head.name, text),) if is_same(base, head) else ()
    return Check("two sides", same)


def _command(text: str) -> list[str]:
    """Return the words of an adapter's command. Raises BadParameter."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text}: {error}", param_hint="--reader") from error
    if not words:
        raise typer.BadParameter("the command is empty", param_hint="--reader")
    return words

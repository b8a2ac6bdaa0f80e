"""`lance-conformance shrink`: the smallest bytes on which two adapters disagree."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.judging import REFERENCE
from lance_conformance.session import Limits, Session
from lance_conformance.shrink import draft
from lance_conformance.shrink.disagreement import Files, Pair, taken_in
from lance_conformance.shrink.passes import shrunk


def shrink(
    path: Annotated[Path, typer.Argument(exists=True, help="A data file, or a table's folder.")],
    disagree: Annotated[
        tuple[str, str], typer.Option(metavar="CMD1 CMD2", help="Two adapters, each one string.")
    ],
    out: Annotated[Path, typer.Option(help="Folder below which the draft is written.")],
    clause: Annotated[
        list[str], typer.Option(help="Clause the bytes may be about, a guess will do. Repeatable.")
    ],
    case_id: Annotated[
        str, typer.Option("--id", help="Id of the draft.")
    ] = "draft/any/shrunk/disagreement",
    budget: Annotated[int, typer.Option(min=1, help="Questions to ask at most.")] = 2000,
    seconds: Annotated[float, typer.Option(help="Limit of one answer.")] = 5.0,
) -> None:
    """Make a file or table smaller while two adapters disagree about it in the same way.

    Leaves a draft of a case. Exit codes: 0 done, 1 they do not disagree, 2 wrong use,
    3 an adapter cannot be started.
    """
    commands = [options.adapter(shlex.split(command)) for command in disagree]
    files: Files = taken_in(path)
    with _pair(commands, seconds) as pair:
        kind = pair.signature(files)
        if not kind:
            typer.echo("both make the same of it")
            raise typer.Exit(1)
        _tell(kind, files)
        files = shrunk(files, pair, budget, _tell)
        said = pair.readings(files)
        if pair.num_questions >= budget:
            typer.echo(f"stopped after {budget} questions")
    with _pair([REFERENCE, REFERENCE], seconds) as reference:
        told = reference.readings(files)[0]
    words = [f"{name}: {one.word} {one.detail}".strip() for name, one in zip(disagree, said)]
    folder = draft.write(out, case_id, files, told, f"{kind}. {'; '.join(words)}", clause)
    typer.echo(f"wrote {folder}")


@contextmanager
def _pair(commands: Sequence[Sequence[str]], seconds: float) -> Iterator[Pair]:
    """Give both adapters at work in a scratch folder."""
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as folder:
        scratch = Path(os.path.realpath(folder))
        first, second = (Session(c, scratch / f"side{i}") for i, c in enumerate(commands))
        pair = Pair(first, second, scratch, Limits(seconds))
        try:
            yield pair
        finally:
            pair.close()


def _tell(what: str, files: Files) -> None:
    size = sum(map(len, files.values()))
    held = "" if len(files) == 1 else f" in {len(files)} files"
    typer.echo(f"{what}: {size} bytes{held}")

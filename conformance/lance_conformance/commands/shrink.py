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
from lance_conformance.protocol.session import Limits, Session
from lance_conformance.runs.suite_run import REFERENCE
from lance_conformance.shrink import draft
from lance_conformance.shrink.disagreement import Files, Pair, load_files
from lance_conformance.shrink.passes import shrink_files


def shrink(
    path: Annotated[Path, typer.Argument(exists=True, help="A data file, or a table's folder.")],
    disagree: Annotated[
        tuple[str, str], typer.Option(metavar="CMD1 CMD2", help="Two adapters, each one string.")
    ],
    out: Annotated[Path, typer.Option(help="Folder below which the draft is written.")],
    clause: Annotated[
        list[str], typer.Option(help="Clause that the bytes may concern, as a guess. Repeatable.")
    ],
    case_id: Annotated[
        str, typer.Option("--id", help="Id of the draft.")
    ] = "draft/any/shrunk/disagreement",
    budget: Annotated[int, typer.Option(min=1, help="Maximum number of requests.")] = 2000,
    seconds: Annotated[float, typer.Option(help="Time limit of one response.")] = 5.0,
) -> None:
    """Reduce a file or table while two adapters disagree about it in the same way.

    Writes the draft of a case. Exit codes: 0 done, 1 they do not disagree, 2 wrong use,
    3 an adapter cannot be started.
    """
    commands = [options.adapter_command(shlex.split(command)) for command in disagree]
    files: Files = load_files(path)
    with _pair(commands, seconds) as pair:
        kind = pair.signature(files)
        if not kind:
            typer.echo("both adapters agree")
            raise typer.Exit(1)
        _print_progress(kind, files)
        files = shrink_files(files, pair, budget, _print_progress)
        readings = pair.readings(files)
        if pair.num_comparisons >= budget:
            typer.echo(f"stopped after {budget} requests")
    with _pair([REFERENCE, REFERENCE], seconds) as reference:
        reference_reading = reference.readings(files)[0]
    words = [f"{name}: {one.word} {one.detail}".strip() for name, one in zip(disagree, readings)]
    folder = draft.write(
        out, case_id, files, reference_reading, f"{kind}. {'; '.join(words)}", clause
    )
    typer.echo(f"wrote {folder}")


@contextmanager
def _pair(commands: Sequence[Sequence[str]], seconds: float) -> Iterator[Pair]:
    """Provide sessions of both adapters in a scratch folder."""
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as folder:
        scratch = Path(os.path.realpath(folder))
        first, second = (Session(c, scratch / f"side{i}") for i, c in enumerate(commands))
        pair = Pair(first, second, scratch, Limits(seconds))
        try:
            yield pair
        finally:
            pair.close()


def _print_progress(what: str, files: Files) -> None:
    size = sum(map(len, files.values()))
    file_count = "" if len(files) == 1 else f" in {len(files)} files"
    typer.echo(f"{what}: {size} bytes{file_count}")

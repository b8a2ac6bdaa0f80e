"""`lance-conformance judge-output OUTPUT MEANT`: what a writer made, beside what it meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer

from lance_conformance.commands.validate import Format
from lance_conformance.output import BadOutput
from lance_conformance.outside_text import clean
from lance_conformance.written import Answer
from lance_conformance.written import judge_output as judge

Judged = list[tuple[Path, list[Answer]]]
"""Outputs with the answers about each."""


def judge_output(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="OUTPUT MEANT ...",
            help="A data file or the folder of a table, then an Arrow IPC file with its rows.",
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help='JSON file: [{"output": PATH, "meant": PATH}, ...], from its folder.'),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TEXT,
) -> None:
    """Judge what your writer made: is it valid, and does it hold what was meant?

    Each output is validated, every byte must have an owner, and the reference must read the rows
    that were meant; so must pylance, where it is installed. Exit 0: all is right; 1: something is
    not; 2: nothing is there, or wrong use.
    """
    asked = _asked(paths or [], pairs)
    try:
        judged = [(output, judge(output, meant)) for output, meant in asked]
    except BadOutput as error:
        raise typer.BadParameter(f"what was meant: {error}") from error
    printers = {Format.TEXT: _text, Format.JSON: _json, Format.JUNIT: _junit}
    typer.echo(printers[format_](judged))
    if any(answer.wrong for _, answers in judged for answer in answers):
        raise typer.Exit(1)


def _asked(paths: list[Path], pairs: Path | None) -> list[tuple[Path, Path]]:
    """Return outputs with what was meant. Raises BadParameter."""
    if len(paths) % 2:
        raise typer.BadParameter("an output without the Arrow file of its rows")
    asked = list(zip(paths[::2], paths[1::2], strict=True))
    if pairs is not None:
        try:
            listed = json.loads(pairs.read_text("utf-8"))
            asked += [(pairs.parent / one["output"], pairs.parent / one["meant"]) for one in listed]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise typer.BadParameter(f"{pairs}: no list of pairs: {error}") from error
    if not asked:
        raise typer.BadParameter("nothing to judge: name an output and its Arrow file, or --pairs")
    for path in (one for pair in asked for one in pair):
        if not path.exists():
            raise typer.BadParameter(f"no such path: {path}")
    return asked


def _text(judged: Judged) -> str:
    lines = list[str]()
    for output, answers in judged:
        lines.append(clean(str(output)))
        for answer in answers:
            mark = "WRONG" if answer.wrong else "  ok " if not answer.note else "  -- "
            lines.append(f"  {mark} {answer.question}{f': {answer.note}' if answer.note else ''}")
            lines += [clean(f"        {one}") for one in answer.wrong]
    wrong = sum(any(answer.wrong for answer in answers) for _, answers in judged)
    return "\n".join([*lines, f"{len(judged) - wrong} of {len(judged)} outputs are right"])


def _json(judged: Judged) -> str:
    document = [
        {
            "output": str(output),
            "answers": [
                {"question": one.question, "wrong": list(one.wrong), "note": one.note}
                for one in answers
            ],
        }
        for output, answers in judged
    ]
    return json.dumps(document, ensure_ascii=False, indent=1)


def _junit(judged: Judged) -> str:
    root = ElementTree.Element("testsuites")
    for output, answers in judged:
        suite = ElementTree.SubElement(root, "testsuite", name=clean(str(output)))
        for answer in answers:
            case = ElementTree.SubElement(suite, "testcase", name=answer.question)
            for wrong in answer.wrong:
                ElementTree.SubElement(case, "failure", message=clean(wrong))
    return ElementTree.tostring(root, encoding="unicode")

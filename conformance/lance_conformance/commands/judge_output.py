"""`lance-conformance judge-output OUTPUT MEANT`: the output of a writer against its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer

from lance_conformance.commands.validate import Format
from lance_conformance.judging.writer_output import OutputCheck
from lance_conformance.judging.writer_output import judge_output as judge
from lance_conformance.protocol.output import InvalidOutput
from lance_conformance.untrusted_text import printable

Results = list[tuple[Path, list[OutputCheck]]]
"""Outputs with their checks."""


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
    """Judge the output of your writer: is it valid, and does it have the expected rows?

    Each output is validated, every byte must have an owner, and the reference must read the right
    rows; so must pylance, where it is installed. Exit codes: 0 all outputs are right, 1 some are
    wrong, 2 no output, or wrong use.
    """
    requested = _parse_pairs(paths or [], pairs)
    try:
        judged = [(output, judge(output, meant)) for output, meant in requested]
    except InvalidOutput as error:
        raise typer.BadParameter(f"expected rows: {error}") from error
    printers = {Format.TEXT: _text, Format.JSON: _json, Format.JUNIT: _junit}
    typer.echo(printers[format_](judged))
    if any(answer.wrong for _, answers in judged for answer in answers):
        raise typer.Exit(1)


def _parse_pairs(paths: list[Path], pairs: Path | None) -> list[tuple[Path, Path]]:
    """Return outputs with the files of their expected rows. Raises BadParameter."""
    if len(paths) % 2:
        raise typer.BadParameter("an output without the Arrow file of its rows")
    parsed = list(zip(paths[::2], paths[1::2], strict=True))
    if pairs is not None:
        try:
            listed = json.loads(pairs.read_text("utf-8"))
            parsed += [
                (pairs.parent / one["output"], pairs.parent / one["meant"]) for one in listed
            ]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise typer.BadParameter(f"{pairs}: not a list of pairs: {error}") from error
    if not parsed:
        raise typer.BadParameter("nothing to judge: name an output and its Arrow file, or --pairs")
    for path in (one for pair in parsed for one in pair):
        if not path.exists():
            raise typer.BadParameter(f"no such path: {path}")
    return parsed


def _text(judged: Results) -> str:
    lines = list[str]()
    for output, answers in judged:
        lines.append(printable(str(output)))
        for answer in answers:
            mark = "WRONG" if answer.wrong else "  ok " if not answer.note else "  -- "
            lines.append(f"  {mark} {answer.question}{f': {answer.note}' if answer.note else ''}")
            lines += [printable(f"        {one}") for one in answer.wrong]
    wrong = sum(any(answer.wrong for answer in answers) for _, answers in judged)
    return "\n".join([*lines, f"{len(judged) - wrong} of {len(judged)} outputs are right"])


def _json(judged: Results) -> str:
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


def _junit(judged: Results) -> str:
    root = ElementTree.Element("testsuites")
    for output, answers in judged:
        suite = ElementTree.SubElement(root, "testsuite", name=printable(str(output)))
        for answer in answers:
            case = ElementTree.SubElement(suite, "testcase", name=answer.question)
            for wrong in answer.wrong:
                ElementTree.SubElement(case, "failure", message=printable(wrong))
    return ElementTree.tostring(root, encoding="unicode")

"""`lance-conformance check-adapter`: first contact with an adapter, step by step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import typer

from lance_conformance import cases, first_contact
from lance_conformance.commands import options
from lance_conformance.outcomes import MEANINGS, Outcome
from lance_conformance.runner import CaseResult

MAX_LINE = 400
"""Characters of a message shown."""

MAX_STDERR_LINES = 8


def check_adapter(command: options.Command = None, fixtures: options.Fixtures = None) -> None:
    """Talk to an adapter: every message under the schema, twelve small cases, hints.

    Exit codes: 0 all of them pass, 1 some fail or are not supported, 3 the adapter broke the
    protocol.
    """
    every = cases.load(fixtures)
    outcomes = []
    log: list[str] = []
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as folder:
        scratch = Path(os.path.realpath(folder))
        for result in first_contact.talk(options.adapter(command), every, scratch, log):
            _print(log)
            _tell(result)
            outcomes.append(result.outcome)
    polite = not log and Outcome.INFRA not in outcomes
    _print(log)
    if not outcomes:
        typer.echo("greets, and claims nothing that a case asks for: add capabilities to `hello`")
    kept = "; every message keeps to the protocol" if polite else ""
    typer.echo(f"{outcomes.count(Outcome.PASS)} of {len(outcomes)} cases pass{kept}")
    if Outcome.INFRA in outcomes:
        raise typer.Exit(3)
    raise typer.Exit(0 if polite and set(outcomes) == {Outcome.PASS} else 1)


def _tell(result: CaseResult) -> None:
    typer.echo(f"{result.outcome.upper():<16} {result.case.id}: {result.case.title}")
    if result.outcome != Outcome.PASS:
        typer.echo(f"  {MEANINGS[result.outcome]}: {result.detail}")
        typer.echo(f"  hint: {first_contact.HINTS.get(result.outcome, '')}")
    for line in result.stderr.splitlines()[-MAX_STDERR_LINES:]:
        typer.echo(f"  stderr: {line}")


def _print(log: list[str]) -> None:
    for line in log:
        typer.echo(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…")
    log.clear()

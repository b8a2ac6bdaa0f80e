"""`lance-conformance check-adapter`: first contact with an adapter, step by step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import typer

from lance_conformance import cases, first_contact, places
from lance_conformance.commands import options
from lance_conformance.outcomes import MEANINGS, Outcome

MAX_LINE = 400
"""Characters of a message shown."""


def check_adapter(command: options.Command = None, fixtures: options.Fixtures = None) -> None:
    """Talk to an adapter: every message under the schema, twelve small cases, hints.

    Exit codes: 0 all of them pass, 1 some do not, 3 the adapter broke the protocol.
    """
    every = cases.load(fixtures or places.fixtures())
    outcomes = []
    log: list[str] = []
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as folder:
        scratch = Path(os.path.realpath(folder))
        for result in first_contact.talk(options.adapter(command), every, scratch, log):
            _print(log)
            outcomes.append(result.outcome)
            typer.echo(f"{result.outcome.upper():<16} {result.case.id}: {result.case.title}")
            if result.outcome != Outcome.PASS:
                typer.echo(f"  {MEANINGS[result.outcome]}: {result.detail}")
                typer.echo(f"  hint: {first_contact.HINTS.get(result.outcome, '')}")
                typer.echo(
                    "".join(f"  stderr: {line}\n" for line in result.stderr.splitlines()[-8:])
                )
    polite = not log
    _print(log)
    if not outcomes:
        typer.echo("greets, and claims nothing that a case asks for: add capabilities to `hello`")
    passed = outcomes.count(Outcome.PASS)
    typer.echo(
        f"{passed} of {len(outcomes)} cases pass; every message keeps to the protocol"
        if Outcome.INFRA not in outcomes and polite
        else f"{passed} of {len(outcomes)} cases pass"
    )
    if Outcome.INFRA in outcomes:
        raise typer.Exit(3)
    good = {Outcome.PASS, Outcome.UNSUPPORTED}
    raise typer.Exit(0 if polite and outcomes and set(outcomes) <= good else 1)


def _print(log: list[str]) -> None:
    for line in log:
        typer.echo(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…")
    log.clear()

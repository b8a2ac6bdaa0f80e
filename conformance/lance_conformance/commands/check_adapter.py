"""`lance-conformance check-adapter`: the check of a new adapter, step by step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import typer

from lance_conformance.commands import options
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import MEANINGS, Outcome
from lance_conformance.runs import adapter_check
from lance_conformance.suite import cases

MAX_LINE = 400
"""Maximum number of characters of a message."""

MAX_STDERR_LINES = 8


def check_adapter(command: options.Command = None, fixtures: options.Fixtures = None) -> None:
    """Check a new adapter: every message against the schema, twelve small cases, hints.

    Exit codes: 0 all cases pass, 1 some fail or are not supported, 3 the adapter broke the
    protocol.
    """
    loaded = cases.load(fixtures)
    outcomes = []
    log: list[str] = []
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as folder:
        scratch = Path(os.path.realpath(folder))
        for result in adapter_check.run_smoke_cases(
            options.adapter_command(command), loaded, scratch, log
        ):
            _print_log(log)
            _print_result(result)
            outcomes.append(result.outcome)
    is_clean = not log and Outcome.INFRA not in outcomes
    _print_log(log)
    if not outcomes:
        typer.echo(
            "answers hello, and claims nothing that a case needs: add capabilities to `hello`"
        )
    protocol_note = "; every message conforms to the protocol" if is_clean else ""
    typer.echo(f"{outcomes.count(Outcome.PASS)} of {len(outcomes)} cases pass{protocol_note}")
    if Outcome.INFRA in outcomes:
        raise typer.Exit(3)
    raise typer.Exit(0 if is_clean and set(outcomes) == {Outcome.PASS} else 1)


def _print_result(result: CaseResult) -> None:
    typer.echo(f"{result.outcome.upper():<16} {result.case.id}: {result.case.title}")
    if result.outcome != Outcome.PASS:
        typer.echo(f"  {MEANINGS[result.outcome]}: {result.detail}")
        typer.echo(f"  hint: {adapter_check.HINTS.get(result.outcome, '')}")
    for line in result.stderr.splitlines()[-MAX_STDERR_LINES:]:
        typer.echo(f"  stderr: {line}")


def _print_log(log: list[str]) -> None:
    for line in log:
        typer.echo(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…")
    log.clear()

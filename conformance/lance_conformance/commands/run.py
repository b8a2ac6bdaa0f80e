"""`lance-conformance run`: judge an implementation on the cases of a profile."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer
from rich.console import Console

from lance_conformance.commands import options, run_options
from lance_conformance.commands.progress import run_with_progress
from lance_conformance.reports import files, terminal
from lance_conformance.reports.jsonl import Run
from lance_conformance.runs.suite_run import RunOptions


def run(
    command: options.Command = None,
    profile: options.Profile = "format",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    level: options.Level = None,
    kind: options.Kind = None,
    exclude: options.Exclude = None,
    jobs: options.Jobs = 1,
    known: run_options.Known = None,
    report: run_options.Formats = run_options.ALL_FORMATS,
    out: run_options.Out = None,
    shuffle: run_options.Shuffle = None,
    isolate: run_options.Isolate = run_options.Isolation.REUSE,
    timeout: run_options.Timeout = None,
    timeout_factor: run_options.TimeoutFactor = 1.0,
    first_failure: run_options.FirstFailure = False,
    max_failures: run_options.MaxFailures = None,
    rerun: run_options.Rerun = None,
    outcome: run_options.Outcomes = None,
    verbose: run_options.Verbose = False,
    resume: run_options.Resume = False,
    fixtures: options.Fixtures = None,
) -> None:
    """Judge the adapter CMD, or the bundled reference, and report clause by clause.

    Exit codes: 0 all as expected, 1 an unexpected outcome, 2 wrong use, 3 the adapter broke the
    protocol or cannot be restarted, or a report cannot be written, 4 the known failures are out of
    date; 130, 143, 129 stopped by SIGINT, SIGTERM, SIGHUP: the report has the finished cases.
    """
    formats = _formats(report, resume=resume, out=out)
    ids = run_options.ids_to_rerun(rerun, outcome)
    selected = options.selection(
        profile, only, clause, shuffle, level=level, kind=kind, exclude=exclude, ids=ids
    )
    settings = RunOptions(
        options.adapter_command(command),
        selected,
        fixtures,
        known,
        jobs,
        isolate == run_options.Isolation.ALWAYS,
        timeout,
        out if "json" in formats else None,
        resume,
        timeout_factor,
        1 if first_failure else max_failures,
    )
    choice, folder = options.select_cases(settings), options.create_folder(out)
    _report(run_with_progress(settings, choice), folder, formats, verbose=verbose)


def _formats(report: str, *, resume: bool, out: Path | None) -> list[str]:
    """Return the formats that an option names. Raises BadParameter."""
    formats = [name for name in report.split(",") if name]
    unknown = sorted(set(formats) - set(files.FORMATS))
    if unknown:
        raise typer.BadParameter(f"no report format {unknown[0]}; there are {files.FORMATS}")
    if resume and (out is None or "json" not in formats):
        raise typer.BadParameter("--resume needs --out, and `json` among the formats")
    return formats


class _Output(Console):
    """Standard output, where a broken pipe, as by `head`, is not a failure."""

    def on_broken_pipe(self) -> None:
        """Stop writing, and continue."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def _report(judged: Run, out: Path | None, formats: list[str], *, verbose: bool) -> None:
    """Write the reports, print the summary, and exit."""
    console = _Output()
    try:
        paths = files.write(judged, out, formats) if out is not None else []
    finally:
        terminal.print_summary(judged, console, verbose=verbose)
    shown = (path if path.parent == out else path.parent for path in paths)
    for path in dict.fromkeys(shown):
        console.print(f"wrote {path}", soft_wrap=True, highlight=False, markup=False)
    raise typer.Exit(judged.exit_code)

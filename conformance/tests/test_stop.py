"""Tests of a run that is stopped: what its report holds, and what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lance_conformance import judging
from lance_conformance.judging import Order
from lance_conformance.reports import files
from lance_conformance.reports.journal import CannotResume

Fake = Callable[[str], list[str]]

COMMAND = (sys.executable, "-m", "lance_conformance.cli", "run")


def lines(out: Path) -> list[dict[str, object]]:
    """Return the objects of a report, none before there is one."""
    path = out / "report.jsonl"
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def start(fixtures: Path, out: Path, scratch: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start a run of the command."""
    scratch.mkdir(exist_ok=True)
    command = [*COMMAND, "--fixtures", str(fixtures), "--out", str(out), *more]
    return subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)})


def without_start(out: Path) -> list[dict[str, object]]:
    """Return a report but for the time of its start."""
    header, *rest = lines(out)
    return [{**header, "started": ""}, *rest]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_keeps_what_is_finished(
    number: int,
    code: int,
    long_suite: Path,
    tmp_path: Path,
    fake: Fake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The finished cases are reported, and `resume` runs the others: the report is the same."""
    out, scratch, whole = tmp_path / "out", tmp_path / "scratch", tmp_path / "whole"
    running = start(long_suite, out, scratch, "--", *fake("slow"))
    while len(lines(out)) < 3 and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(number)

    assert code == running.wait(60)
    header, *cases, footer = lines(out)
    assert 2 <= len(cases) < 6
    assert (
        f"stopped by {signal.Signals(number).name} after {len(cases)} of 6 cases"
        == (header["incomplete"])
    )
    assert code == footer["exit_code"]
    assert [] == list(scratch.iterdir())
    assert (out / "junit.xml").exists()
    assert "Incomplete" in (out / "summary.md").read_text("utf-8")

    monkeypatch.setenv("FAKE_SECONDS", "0")
    order = Order(fake("slow"), fixtures=long_suite)
    files.write(judging.judge(replace(order, journal=out, resume=True)), out)
    files.write(judging.judge(order), whole)
    assert without_start(whole) == without_start(out)
    assert 6 * 5 == len((out / "timings.jsonl").read_text("utf-8").splitlines())
    with pytest.raises(CannotResume):
        judging.judge(Order(fake("perfect"), fixtures=long_suite, journal=out, resume=True))

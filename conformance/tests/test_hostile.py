"""Tests of the runner against an adapter that does harm: outcome, reports and what is left."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from lance_conformance import schemas
from lance_conformance.places import fixtures
from lance_conformance.stored import case_folder

FAKES = Path(__file__).parent / "fakes"
CASE = "file/2.1/levels/list"

MOST_MB = 256
"""What any mode may add to the memory of the runner."""

OUTCOMES = {
    "bad-output": (
        "link fifo device folder none empty junk sparse zstd-bomb lz4-bomb null-bomb batch-bomb "
        "truncated dictionary-bomb run-bomb bad-text other-place tensor"
    ),
    "fail": "wide nested zone far-date twice-named metadata pickle",
    "rejects-valid": (
        "name-markup name-controls name-huge name-empty message-markup message-controls "
        "message-long padded child daemon daemon-bare flood ignores-term no-bye bye-flood late "
        "close-in filled-scratch"
    ),
    "unsupported": "unsupported",
    "infra": (
        "adapter-error not-utf-8 deep-list deep-object big-integer big-text infinity nan id-true "
        "id-other key-twice two-answers no-newline dies-for-good"
    ),
    "timeout": "drip half-line stopped",
    "crash": "exit exit-in-line killed close-out",
    "input-modified": (
        "no-scratch linked-scratch locked-scratch input-fifo input-device input-sparse"
    ),
}
"""Modes by the outcome they give."""

MODES = {mode: outcome for outcome, modes in OUTCOMES.items() for mode in modes.split()}

ALSO = {"locked-scratch": "bad-output", "truncated": "fail"}
"""Another outcome, as rights or a race of the adapter with itself have it."""


@dataclass(frozen=True)
class Judged:
    """What the runner said of each mode, and the folders it worked in."""

    rows: dict[str, dict[str, Any]]
    out: Path
    scratch: Path
    victim: Path


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """All modes, one after another, by a runner of their own."""
    root = tmp_path_factory.mktemp("hostile")
    folders = [root / name for name in ("cases", "out", "scratch", "victim", "tables")]
    cases, out, scratch, victim, tables = folders
    for folder in folders[1:]:
        folder.mkdir()
    shutil.copytree(case_folder(fixtures() / CASE), cases / CASE)
    (victim / "kept").touch()
    subprocess.run([sys.executable, str(FAKES / "hostile_tables.py"), str(tables)], check=True)
    own = {"TMPDIR": scratch, "HOSTILE_VICTIM": victim, "HOSTILE_TABLES": tables}
    environment = os.environ | {name: str(path) for name, path in own.items()}
    runner = str(FAKES / "hostile_run.py")
    command = [sys.executable, runner, str(cases), str(out), "none", *MODES]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    return Judged({row["mode"]: row for row in rows}, out, scratch, victim)


@pytest.mark.skipif(sys.platform != "linux", reason="processes that left are found on Linux only")
@pytest.mark.parametrize("mode", MODES)
def test_runner_survives(mode: str, judged: Judged) -> None:
    """Each mode has its outcome; the reports parse; no process is left."""
    row = judged.rows[mode]

    assert row["outcomes"][0] in (MODES[mode], ALSO.get(mode)), row["details"]
    assert [] == row["processes"]
    assert row["peak_mb"] - judged.rows["none"]["peak_mb"] < MOST_MB
    _parse(judged.out / mode)


def _parse(folder: Path) -> None:
    """Parse every report of a folder."""
    lines = (folder / "report.jsonl").read_text("utf-8").splitlines()
    assert 3 == len(lines)
    for line in lines:
        assert [] == schemas.problems("report", json.loads(line))
    ElementTree.parse(folder / "junit.xml")
    ElementTree.parse(folder / "badge.svg")
    json.loads((folder / "badge.json").read_text("utf-8"))
    page = (folder / "report.html").read_text("utf-8")
    HTMLParser().feed(page)
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert re.search(r"(?<!\\)<", (folder / "summary.md").read_text("utf-8")) is None
    assert "\x1b]" not in (folder / "terminal.txt").read_text("utf-8")


def test_nothing_is_left(judged: Judged) -> None:
    """No scratch folder stays, and nothing beside it is touched."""
    assert set(MODES) <= judged.rows.keys()
    assert [] == list(judged.scratch.iterdir())
    assert ["dead", "kept"] == sorted(path.name for path in judged.victim.iterdir())

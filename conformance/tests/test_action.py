"""The GitHub Action: its steps, run as the platform would run them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import lanceref
import pyarrow as pa
import pytest
import yaml
from lance_conformance.adapters.server import write_table

ROOT = Path(__file__).parents[2]
REPLAYS = Path(__file__).parent / "gate" / "replays"


def do(tmp_path, step, action=".", **given):
    """Run a step of an action with inputs, those not given at their defaults."""
    document = yaml.safe_load((ROOT / action / "action.yml").read_text("utf-8"))
    inputs = {name: one.get("default", "") for name, one in document["inputs"].items()} | given
    (found,) = (one for one in document["runs"]["steps"] if one.get("id") == step)
    environment = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda one: inputs[one[1]], value)
        for name, value in found.get("env", {}).items()
    }
    outputs = {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", found["run"]],
        cwd=tmp_path,
        env={**os.environ, **environment, **outputs, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "colour", "code"), [("index-details-move", "red", 1), ("field-order", "green", 0)]
)
def test_the_step_writes_summary_and_output(tmp_path, name, colour, code):
    """The comment is in the summary of the job, the colour an output, the exit code the gate's."""
    sides = {side: str(REPLAYS / name / side) for side in ("base", "head")}
    done = do(tmp_path, "gate", **sides, out="kept")

    assert code == done.returncode, done.stderr
    assert colour in (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8").splitlines()[0]
    assert f"colour={colour}\n" == (tmp_path / "GITHUB_OUTPUT").read_text("utf-8")
    assert {"comment.md", "gate.json"} == {path.name for path in (tmp_path / "kept").iterdir()}


@pytest.mark.parametrize(
    ("event", "code"),
    [("pull_request_target", 1), ("workflow_run", 1), ("pull_request", 0), ("push", 0)],
)
def test_the_action_refuses_events_that_have_secrets(tmp_path, monkeypatch, event, code):
    """The first step fails with one sentence: the gate executes code of the pull request."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert "event" == action["runs"]["steps"][0]["id"]
    monkeypatch.setenv("GITHUB_EVENT_NAME", event)
    done = do(tmp_path, "event")

    assert code == done.returncode
    assert (code == 1) == (f"must not run on {event}" in done.stdout)


def test_the_action_run_judges_an_adapter(tmp_path):
    """A template that reads no rows passes what it must refuse; the summary has the numbers."""
    adapter = ROOT / "conformance/lance_conformance/adapters/template.py"
    command = f"{sys.executable} {adapter}"

    done = do(
        tmp_path, "run", "actions/run", adapter=command, profile="core", level="2.1-container"
    )

    assert (tmp_path / "conformance-report" / "report.jsonl").exists(), done.stderr
    assert "damage refused" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8")


def test_the_action_for_writers_judges_pairs(tmp_path):
    """A file of the rows that were meant is right; without it the step fails."""
    rows = pa.table({"a": [1, 2]})
    write_table(str(tmp_path / "meant.arrow"), rows)
    lanceref.write_file(tmp_path / "made.lance", rows)
    pairs = tmp_path / "pairs.json"
    pairs.write_text('[{"output": "made.lance", "meant": "meant.arrow"}]')

    assert 0 == do(tmp_path, "judge", "actions/judge-output", pairs=str(pairs)).returncode
    assert "1 of 1 outputs are right" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    (tmp_path / "made.lance").write_bytes(b"no file")
    assert 1 == do(tmp_path, "judge", "actions/judge-output", pairs=str(pairs)).returncode


def test_the_hook_validates_each_file(tmp_path):
    """Its entry takes several files, and fails for a damaged one."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    for name in ("a.lance", "b.lance"):
        lanceref.write_file(tmp_path / name, pa.table({"a": [1]}))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def run_hook():
        command = [*shlex.split(hook["entry"]), "a.lance", "b.lance"]
        return subprocess.run(command, cwd=tmp_path, env={**os.environ, "PATH": path}, check=False)

    assert 0 == run_hook().returncode
    (tmp_path / "a.lance").write_bytes(b"no file")
    assert 1 == run_hook().returncode

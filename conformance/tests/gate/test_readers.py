"""Readers and commands of the gate: an old reader on new bytes, the new one on old bytes."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from lance_conformance.cli import app
from lance_conformance.gate import definitions, readers
from lance_conformance.gate.findings import Colour
from lance_conformance.gate.trees import Tree
from lance_conformance.suite import suite_file
from typer.testing import CliRunner

FAKE = Path(__file__).parents[1] / "fakes" / "fake.py"
READ = "toy/any/read/columns"

ADAPTER = """import runpy, sys
sys.argv[1:] = [{mode!r}]
runpy.run_path({fake!r}, run_name="__main__")
"""


def tree(folder: Path, fixtures: Path | None, mode: str = "perfect") -> Tree:
    """A tree whose reference is the toy implementation in one of its modes."""
    adapters = folder / "conformance" / "lance_conformance" / "adapters"
    adapters.mkdir(parents=True)
    for package in (adapters, adapters.parent):
        (package / "__init__.py").touch()
    (adapters / "reference.py").write_text(ADAPTER.format(mode=mode, fake=str(FAKE)))
    (folder / "reference" / "lanceref").mkdir(parents=True)
    if fixtures is not None:
        shutil.copytree(fixtures, folder / "fixtures")
        suite_file.write_suite(folder / "fixtures")
    return Tree(folder.name, folder)


@pytest.fixture
def newer(toy_suite):
    """The toy suite, whose case to read is of a file version that was not there before."""
    path = toy_suite / READ / "case.json"
    path.write_text(path.read_text().replace('"file_version": "2.0"', '"file_version": "2.9"'))
    return toy_suite


@pytest.mark.parametrize(
    ("before", "after", "colour", "text"),
    [
        ("perfect", "perfect", Colour.GREEN, ""),
        ("perfect", "wrong-answer", Colour.RED, "pass before, fail now"),
        ("perfect", "rejects-all", Colour.RED, "pass before, rejects-valid now"),
        ("wrong-answer", "wrong-answer", Colour.YELLOW, "fail, as before"),
        ("wrong-answer", "perfect", Colour.GREEN, ""),
    ],
)
def test_the_new_reader_takes_what_the_old_one_took(
    tmp_path, toy_suite, before, after, colour, text
):
    """Only valid cases are asked; what was wrong already is yellow."""
    check = readers.check_new(
        tree(tmp_path / "base", toy_suite, before), tree(tmp_path / "head", None, after), 1
    )

    assert colour == check.colour
    assert {READ} >= {finding.place for finding in check.findings}
    assert text in "".join(finding.text for finding in check.findings)


@pytest.mark.parametrize(
    ("mode", "colour", "text"),
    [
        ("perfect", Colour.GREEN, ""),
        ("wrong-answer", Colour.RED, "fail"),
        ("rejects-all", Colour.RED, "rejects-valid"),
        ("unsupported", Colour.YELLOW, "unsupported"),
        ("crash", Colour.RED, "crash"),
    ],
)
def test_old_readers_see_new_bytes(tmp_path, toy_suite, mode, colour, text):
    """Refusing bytes that carry no flag is red, whatever the words; not claiming them is yellow."""
    base, head = tree(tmp_path / "base", toy_suite), tree(tmp_path / "head", toy_suite)
    path = head.root / "fixtures" / READ / "case.json"
    path.write_text(path.read_text().replace("A toy", "A new toy"))
    suite_file.write_suite(head.root / "fixtures")
    command = (sys.executable, str(FAKE), mode)
    check = readers.check_old(base, head, [command], 1)

    assert colour == check.colour
    assert {READ} >= {finding.place for finding in check.findings}
    assert text in "".join(finding.text for finding in check.findings)
    assert () == readers.check_old(base, base, [command], 1).findings


@pytest.mark.parametrize(
    ("mode", "colour"), [("rejects-all", Colour.YELLOW), ("wrong-answer", Colour.RED)]
)
def test_a_new_mark_allows_old_readers_to_refuse(tmp_path, newer, mode, colour):
    """A reader that stays away from what a new version marks is right; a wrong answer never is."""
    (tmp_path / "empty").mkdir()
    base, head = tree(tmp_path / "base", tmp_path / "empty"), tree(tmp_path / "head", newer)
    reader = tmp_path / "reader.py"
    reader.write_text(FAKE.read_text().replace('["2.0"]', '["2.9"]'))
    check = readers.check_old(base, head, [(sys.executable, str(reader), mode)], 1)

    assert [READ] == [finding.place for finding in check.findings]
    assert colour == check.colour


REPLAYS = Path(__file__).parents[1] / "gate" / "replays"


@pytest.mark.parametrize(
    ("name", "code", "colour"),
    [
        ("fragment-reuse-groups", 1, "red"),
        ("mem-wal-merged", 0, "yellow"),
        ("field-order", 0, "green"),
    ],
)
def test_the_comment_of_a_real_change(tmp_path, name, code, colour):
    """The report is printed and written with its JSON; red exits with 1."""
    sides = [f"--{side}={REPLAYS / name / side}" for side in ("base", "head")]
    result = CliRunner().invoke(app, ["gate", *sides, "--out", str(tmp_path)])
    document = json.loads((tmp_path / "gate.json").read_text("utf-8"))

    assert code == result.exit_code
    assert (tmp_path / "comment.md").read_text("utf-8") == result.output
    assert colour == document["colour"]
    assert 14 == len(document["checks"])


def test_wrong_use_is_exit_2():
    """A side that is neither a folder nor a revision is wrong use."""
    result = CliRunner().invoke(app, ["gate", "--base", "no-such-revision", "--head", "HEAD"])

    assert 2 == result.exit_code


def test_without_buf_nothing_is_judged(monkeypatch):
    """What to install is said at once, as wrong use and not as a broken format."""
    monkeypatch.setattr(definitions.shutil, "which", lambda *_, **__: None)
    sides = [f"--{side}={REPLAYS / 'field-order' / side}" for side in ("base", "head")]
    result = CliRunner().invoke(app, ["gate", *sides])

    assert 2 == result.exit_code
    assert "lance-conformance[gate]" in " ".join(result.output.split())


@pytest.mark.parametrize("command", ["", "'"])
def test_a_reader_that_is_no_command_is_wrong_use(command):
    """An empty command, and a quote that is not closed."""
    assert 2 == CliRunner().invoke(app, ["gate", "--reader", command]).exit_code

"""Tests of the command: exit codes and what it prints."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lance_conformance import cli
from lance_conformance.suite import suite_file

READ = "toy/any/read/columns"


@pytest.mark.parametrize(
    ("mode", "code"), [("perfect", 0), ("rejects-all", 1), ("bad-json", 3), ("exits-at-hello", 3)]
)
def test_exit_codes_of_run(call, fake, mode, code):
    """All as expected is 0, a surprise 1, a broken protocol or no hello 3."""
    assert code == call("run", "--", *fake(mode))[0]


def test_wrong_use_is_2(call, tmp_path):
    """An unknown profile, format or option, an empty selection and a bad list are wrong use."""
    known = tmp_path / "known.toml"
    known.write_text("nonsense = 1")

    assert 2 == call("run", "--profile", "none", "--out", str(tmp_path / "out"))[0]
    assert not (tmp_path / "out").exists()
    assert 2 == call("run", "--out", str(known / "out"))[0]
    assert 2 == call("run", "--report", "pdf")[0]
    assert 2 == call("run", "--surprise")[0]
    assert 2 == call("run", "--only", "no/such/case")[0]
    assert 2 == call("run", "--known", str(known))[0]


def test_known_list_grows_holds_and_goes_stale(call, fake, tmp_path):
    """Updating needs an issue; the list then excuses, and is stale when all passes again."""
    known = str(tmp_path / "known.toml")
    update = ("known", "--update", "--known", known)

    assert 2 == call(*update, "--issue", "nonsense", "--", "no-such-program")[0]
    assert 2 == call(*update, "--", *fake("rejects-all"))[0]
    assert 0 == call(*update, "--issue", "D.toy.all", "--", *fake("rejects-all"))[0]
    assert 0 == call("run", "--known", known, "--", *fake("rejects-all"))[0]
    assert "(listed as rejects-valid;" in call("run", "--known", known, "--", *fake("panics"))[1]
    code, output = call("run", "--known", known, "--", *fake("perfect"))
    assert 4 == code
    assert f'remove the entry case = "{READ}"' in output
    assert 0 == call("known", "--prune", "--known", known, "--", *fake("perfect"))[0]
    assert 0 == call("run", "--known", known, "--", *fake("perfect"))[0]


def test_run_writes_the_reports(call, fake, tmp_path, toy_suite):
    """All or the selected formats are written, also when the output pipe is closed early."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "lance_conformance.cli", "run", "--out", str(tmp_path / "all")]
    command += ["--fixtures", str(toy_suite), "--", *fake("perfect")]
    assert 0 == subprocess.run(command, stdout=writing, check=False).returncode
    os.close(writing)
    call("run", "--report", "md", "--out", str(tmp_path / "one"), "--", *fake("perfect"))

    assert {"report.jsonl", "timings.jsonl", "junit.xml", "report.html", "summary.md"} < {
        path.name for path in (tmp_path / "all").iterdir()
    }
    assert ["summary.md"] == [path.name for path in (tmp_path / "one").iterdir()]


def test_a_report_that_cannot_be_written_is_3(call, fake, tmp_path):
    """As on a full disk: one sentence, the finished cases stay; other files are written."""
    out = tmp_path / "out"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1600, before[1]))
    code, output = call("run", "--out", str(out), "--", *fake("rejects-all"))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert (3, 1) == (code, len(output.splitlines())), output
    assert "no report can be written" in output
    assert "header" == json.loads((out / "report.jsonl").read_text().splitlines()[0])["type"]


def test_check_adapter(call, fake):
    """First contact shows the messages and a verdict per case, with a hint when one goes wrong."""
    modes = ("perfect", "wrong-answer")
    good, wrong = (call("check-adapter", "--", *fake(mode)) for mode in modes)

    assert 0 == good[0]
    assert '"op":"hello"' in good[1]
    assert "every message conforms to the protocol" in good[1]
    assert 1 == wrong[0]
    assert "hint:" in wrong[1]
    assert 3 == call("check-adapter", "--", *fake("two-lines"))[0]


@pytest.mark.parametrize("name", ["template.py", "template.mjs"])
def test_an_unmodified_template_gives_no_failure(call, name):
    """What it cannot do yet is counted as not supported; `check-adapter` exits with 1 for it."""
    program = {"template.py": sys.executable, "template.mjs": "node"}[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    path = Path(cli.__file__).parent / "adapters" / name
    options = ["--fixtures", str(Path(__file__).parents[2] / "fixtures")]
    _, output = call("run", *options, "--only", "file/2.1/miniblock/*", "--", program, str(path))

    assert "unsupported" in output
    assert "overclaim" not in output
    assert 1 == call("check-adapter", *options, "--", program, str(path))[0]


def test_a_copy_of_some_cases_says_that_it_is_a_subset(call, fake, tmp_path):
    """It verifies; runs and lists name its size, and entries of a known list are not stale."""
    copy = tmp_path / "copy"
    assert 0 == call("copy", str(copy), "--only", READ)[0]
    every = json.loads((copy / "SUITE.json").read_text())["cases"]
    other = next(name for name in every if name != READ)
    known = tmp_path / "known.toml"
    known.write_text(
        f'[[known]]\ncase = "{other}"\noutcome = "fail"\nreason = "r"\nissue = "D.a.b"\n'
    )
    options = ["--fixtures", str(copy)]
    out = tmp_path / "out"
    reported = ("--out", str(out), "--known", str(known))
    ran = call("run", *options, *reported, "--", *fake("perfect"))
    header = json.loads((out / "report.jsonl").read_text("utf-8").splitlines()[0])

    assert [] == suite_file.suite_problems(copy)
    assert 0 == ran[0], ran[1]
    for text in (ran[1], header["subset"], call("list", *options)[1]):
        assert "(subset: 1 of" in text
    output = call("list", *options, "--profile", "unstable")
    assert 2 == output[0]
    assert "no case is selected" in output[1]


ABSENT = ("boto3", "hypothesis", "lance", "numba", "obstore", "pandas", "pyspark", "pytest", "yaml")


def test_the_command_needs_no_extra():
    """Without what extras bring, every subcommand can be named and the reference can be judged."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({ABSENT}))"
    code = f"{blocked}; from lance_conformance.adapters import reference; "
    code += "from lance_conformance.cli import app; app(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stderr
    assert "generate" in done.stdout

"""Tests of what a report tells of a failure: clauses, commands, and the bytes around a patch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from lance_conformance.outcomes import Outcome
from lance_conformance.register import Clause
from lance_conformance.reports import html, junit, repeat
from lance_conformance.reports.jsonl import Run
from lance_conformance.runner import CaseResult

MakeResult = Callable[..., CaseResult]
MakeRun = Callable[..., Run]
CLAUSE = Clause("L.toy.columns", "MUST", "Columns MUST be equal.", "toy")


def test_each_view_has_the_clause_and_the_commands(
    make_result: MakeResult, make_run: MakeRun, case_bodies: Callable[[str], dict[str, str]]
) -> None:
    """In JUnit as the text of the failure, in HTML below the case; no clause where it passes."""
    wrong, good = make_result(outcome=Outcome.FAIL), make_result("toy/any/read/good")
    adapter = ("--", "my reader", "x")
    run = make_run([good, wrong], register={CLAUSE.id: CLAUSE}, repeat_with=adapter)
    again = "lance-conformance run -v --only toy/any/read/columns -- 'my reader' x"

    (failure,) = ElementTree.fromstring(junit.render(run)).findall(".//failure")
    told = failure.text or ""
    assert again in told
    assert "clause   L.toy.columns MUST: Columns MUST be equal." in told
    bodies = case_bodies(html.render(run))
    failed = bodies[wrong.case.id]
    assert "lance-conformance explain toy/any/read/columns" in failed
    assert "Columns MUST be equal." in failed and "run -v --only" in failed
    assert "Columns MUST be equal." not in bodies[good.case.id]


def test_another_folder_of_cases_is_in_both_commands(
    make_result: MakeResult, make_run: MakeRun
) -> None:
    """A case of it is not found without."""
    run = make_run([], repeat_with=("--fixtures", "mine", "--", "reader"))
    again, explained = repeat.commands(run, make_result().case)

    assert again.endswith("--fixtures mine -- reader")
    assert explained.endswith("toy/any/read/columns --fixtures mine")


def test_bytes_around_the_patch_have_their_owners(tmp_path: Path, make_result: MakeResult) -> None:
    """Two owners before, the patch, two after."""
    (tmp_path / "data.lance").write_bytes(bytes(range(32)))
    (tmp_path / "data.lance.hexmap").write_text(
        "".join(f"{4 * n} {4 * n + 4} u32 L.a.b word {n}\n" for n in range(8))
    )
    patch = {"target": "data.lance", "at": 8, "was_hex": "00", "now_hex": "08090a0b", "meaning": ""}
    found = repeat.patched_bytes(make_result(patch=[patch]).case)

    assert [0, 4, 8, 12, 16] == [one.start for one in found]
    assert [False, False, True, False, False] == [one.patched for one in found]
    assert repeat.Range(8, "08 09 0a 0b", "word 2 (u32) L.a.b", True) == found[2]


def test_a_command_names_no_folder_of_this_machine() -> None:
    """The interpreter is `python`, and what lies below the working directory is relative."""
    command = (sys.executable, str(Path.cwd() / "reader.py"), "-q")

    assert ("python", "reader.py", "-q") == repeat.shown_command(command)

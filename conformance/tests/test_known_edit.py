"""Tests of edits: entries go, change and come, comments stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance import known, known_edit
from lance_conformance.outcomes import Outcome
from lance_conformance.runner import CaseResult

MakeResult = Callable[..., CaseResult]
A, B, C = "toy/any/read/a", "toy/any/read/b", "toy/any/read/c"

TEXT = """# Ours, since spring.
suite = "0.1.0"

# The parser was written on a Friday.
[[known]]
case = "toy/any/read/a"
outcome = "crash"
reason = "says [[known]] in its text"
issue = "D.toy.a"

# Not the same Friday.
[[known]]
case = "toy/any/read/b"
outcome = "crash"  # since ever
reason = "r"
issue = "D.toy.b"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A list with two entries and three comments."""
    file = tmp_path / "known.toml"
    file.write_text(TEXT)
    return file


def test_prune_drops_what_passes(path: Path, make_result: MakeResult) -> None:
    """The entry of a passing case goes with its comment, all else stays as it is."""
    results = [make_result(A), make_result(B, Outcome.FAIL), make_result(C, Outcome.FAIL)]
    edit = known_edit.prune(path, results)

    assert (A,) == edit.dropped
    assert "a Friday" not in edit.text
    assert edit.text.endswith(TEXT[TEXT.index("# Not the same") :])
    assert edit.text.startswith("# Ours, since spring.\n")


def test_update_corrects_and_adds(path: Path, make_result: MakeResult) -> None:
    """An outcome that changed is corrected in place, a new failure is appended with its clause."""
    results = [
        make_result(A, Outcome.CRASH),
        make_result(B, Outcome.FAIL),
        make_result(C, Outcome.TIMEOUT, 'no "answer"\nat all'),
    ]
    edit = known_edit.update(path, results, "https://example.org/7")
    path.write_text(edit.text)
    entries = known.load(path)

    assert ((), (B,), (C,)) == (edit.dropped, edit.changed, edit.added)
    assert 'outcome = "fail"  # since ever' in edit.text
    assert [Outcome.CRASH, Outcome.FAIL, Outcome.TIMEOUT] == [item.outcome for item in entries]
    assert ('no "answer"', "L.toy.columns") == (entries[2].reason, entries[2].clause)


def test_update_of_an_accurate_list_changes_nothing(path: Path, make_result: MakeResult) -> None:
    """Updating twice gives the same text."""
    results = [make_result(A, Outcome.CRASH), make_result(B, Outcome.CRASH)]

    assert TEXT == known_edit.update(path, results, "").text


def test_update_makes_a_list(tmp_path: Path, make_result: MakeResult) -> None:
    """Without a file the list begins with the suite's version."""
    edit = known_edit.update(tmp_path / "none.toml", [make_result(A, Outcome.FAIL, "x")], "D.a.b")

    assert edit.text.startswith('suite = "')
    assert (A,) == edit.added


def test_reason_holds_no_folders_of_a_machine(tmp_path: Path, make_result: MakeResult) -> None:
    """Of an absolute path in a message only the file name is kept, a link stays whole."""
    detail = "panic at /build/x/src/block.rs:13, see https://example.org/a/b"
    edit = known_edit.update(
        tmp_path / "none.toml", [make_result(A, Outcome.FAIL, detail)], "D.a.b"
    )

    assert "panic at …/block.rs:13, see https://example.org/a/b" in edit.text

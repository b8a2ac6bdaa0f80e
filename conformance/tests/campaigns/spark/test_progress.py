"""Progress: a campaign that was stopped goes on where it was."""

import pytest
from lance_conformance.campaigns.spark.progress import Outcome, Progress


def test_what_went_well_is_not_done_again(tmp_path):
    """After a stop, a step that was done gives its outcome, and is not run."""
    first = Progress(tmp_path / "p").run("one", lambda: ("told", []))
    again = Progress(tmp_path / "p")
    assert again.is_done("one") and not again.is_done("two")
    assert again.run("one", lambda: pytest.fail("run again")) == first


def test_what_went_wrong_or_died_is_done_again(tmp_path):
    """Neither a wrong outcome nor an error counts as done."""
    progress = Progress(tmp_path / "p")
    assert progress.run("one", lambda: ("", ["a row is lost"])).wrong
    with pytest.raises(ZeroDivisionError):
        progress.run("two", lambda: ("", [1 / 0]))
    again = Progress(tmp_path / "p")
    assert again.run("one", lambda: ("well now", [])).told == "well now"
    assert not again.is_done("two")


def test_what_is_wrong_is_printed_with_the_step():
    """A line for the step, and one for each fault."""
    assert Outcome("one", "told", ["lost", "found"], 2.0).lines() == [
        "WRONG one                          2.0 s  told",
        "        lost",
        "        found",
    ]

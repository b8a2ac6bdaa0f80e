"""The journal: a line for each finished case, taken up by another run."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from lance_conformance.outcomes import Outcome
from lance_conformance.reports import jsonl
from lance_conformance.reports.files import ReportFailed
from lance_conformance.reports.journal import UNFINISHED, CannotResume, Journal, resumed
from lance_conformance.runner import CaseResult
from lance_conformance.session import Claims


def header(claims: Claims, profile: str = "format") -> dict[str, object]:
    """Return the header of a run."""
    return jsonl.header(claims, profile, {"only": ["a/*"]}, "now", UNFINISHED)


def test_a_full_disk_is_one_sentence(tmp_path, make_result, claims):
    """A line that cannot be written raises ReportFailed; those before it stay."""
    result, head = make_result("toy/any/read/a"), header(claims(file__read={}))
    with Journal(tmp_path, head) as journal, files_of_at_most(4000):
        journal.add(result)
        with pytest.raises(ReportFailed, match="no report can be written"):
            journal.add(replace(result, detail="x" * 4000))

    assert [result.case.id] == [one.case.id for one in resumed(tmp_path, head, [result.case])]
    (tmp_path / "file").touch()
    with pytest.raises(ReportFailed):
        Journal(tmp_path / "file" / "folder", head)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let this process write no file of more bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def line(result: CaseResult) -> str:
    """Return the line of a result."""
    return jsonl.line(jsonl.case_object(result))


def test_results_come_back(tmp_path, make_result, claims):
    """A result read from a journal makes the same line; the last line may be cut off."""
    good = make_result("toy/any/read/a")
    bad = make_result("toy/any/read/b", Outcome.CRASH, "killed\nby\x1b SIGSEGV")
    check = replace(bad.checks[0], stderr="about to die", reject={"stage": "open"}, seconds=1.5)
    bad = replace(bad, checks=(check,))
    head = header(claims(file__read={}))
    with Journal(tmp_path, head) as journal:
        journal.add(good)
        journal.add(bad)
    with (tmp_path / "report.jsonl").open("a") as file:
        file.write('{"type": "case", "id": "toy')
    found = resumed(tmp_path, head, [good.case, bad.case])

    assert list(map(line, (good, bad))) == list(map(line, found))
    assert 1.5 == found[1].checks[0].seconds


def test_case_without_a_verdict_is_run_again(tmp_path, make_result, claims):
    """What ended as infra is not taken up."""
    broken = make_result("toy/any/read/a", Outcome.INFRA)
    head = header(claims(file__read={}))
    with Journal(tmp_path, head) as journal:
        journal.add(broken)

    assert [] == resumed(tmp_path, head, [broken.case])
    assert [] == resumed(tmp_path / "none", head, [broken.case])


def test_another_run_is_not_taken_up(tmp_path, make_result, claims):
    """A report of another profile, adapter or selection is refused, as is one that is none."""
    result = make_result("toy/any/read/a")
    with Journal(tmp_path, header(claims(file__read={})), [result]):
        pass

    with pytest.raises(CannotResume, match="profile"):
        resumed(tmp_path, header(claims(file__read={}), "core"), [result.case])
    with pytest.raises(CannotResume, match="capabilities"):
        resumed(tmp_path, header(claims(validate={})), [result.case])
    with pytest.raises(CannotResume, match="not selected"):
        resumed(tmp_path, header(claims(file__read={})), [])
    (tmp_path / "report.jsonl").write_text("nothing\n")
    with pytest.raises(CannotResume, match="not a report"):
        resumed(tmp_path, header(claims(file__read={})), [result.case])

"""Scores, weighted by clause; the journal: a line for each finished case, taken up again."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from lance_conformance.judging.runner import CaseResult, CheckResult
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import Claims
from lance_conformance.reports import jsonl, score
from lance_conformance.reports.files import ReportFailed
from lance_conformance.reports.journal import UNFINISHED, CannotResume, Journal, resume
from lance_conformance.reports.score import Ratio

READ = {"op": "file.read", "file_version": "2.1"}


def clauses_of(*clauses: str) -> list[dict[str, str]]:
    return [{"id": clause, "role": "positive"} for clause in clauses]


def test_many_cases_of_a_clause_weigh_one(make_result):
    """One clause right in 9 cases and one wrong in one case is half."""
    right = [make_result(f"toy/any/read/c{n}", clauses=clauses_of("L.a.a")) for n in range(9)]
    wrong = make_result("toy/any/read/d", Outcome.FAIL, clauses=clauses_of("L.b.b"))
    value = score.score([*right, wrong])

    assert (1.0, 0.5) == (value.breadth, value.correctness)
    assert (2, 2, 1) == (value.clauses, value.clauses_claimed, value.clauses_correct)


def test_unclaimed_cases_lower_breadth_only(make_result):
    """What is not supported is neither right nor wrong."""
    claimed = make_result(clauses=clauses_of("L.a.a"))
    unclaimed = make_result("toy/any/read/d", Outcome.UNSUPPORTED, clauses=clauses_of("L.a.a"))
    other = make_result("toy/any/read/e", Outcome.UNSUPPORTED, clauses=clauses_of("L.b.b"))
    value = score.score([claimed, unclaimed, other])

    assert (0.25, 1.0) == (value.breadth, value.correctness)
    assert (3, 1) == (value.cases, value.cases_claimed)


@pytest.mark.parametrize(
    ("outcome", "reached", "why"),
    [
        (Outcome.PASS, True, "all 1 cases pass"),
        (Outcome.FAIL, False, "1 of 1 cases wrong"),
        (Outcome.UNSUPPORTED, False, "1 of 1 cases not claimed"),
    ],
)
def test_level_needs_all_its_cases(make_result, outcome, reached, why):
    """A level is reached when every case of it passes, and says what is in the way."""
    result = make_result(outcome=outcome)
    level = score.levels([result], [result.case], {})["table-basic"]

    assert (reached, why) == (level.reached, level.why)


@pytest.mark.parametrize(
    ("unclaimed", "in_the_way"),
    [
        ({"kind": "lint"}, False),
        ({"kind": "negative-file"}, False),
        ({"input": {"path": "data.lance", "args": {"rows": ["1"]}}}, False),
        ({"requires": {"op": "dataset.read", "file_version": "2.1"}}, False),
        ({}, True),
    ],
)
def test_a_level_is_reached_without_what_it_does_not_need(make_result, unclaimed, in_the_way):
    """A reader of whole files neither validates, nor takes rows, nor knows tables."""
    read = make_result("file/2.1/flat/a", requires=READ)
    manifest = {"requires": READ, **unclaimed}
    other = make_result("file/2.1/flat/b", Outcome.UNSUPPORTED, **manifest)
    level = score.levels([read, other], [read.case, other.case], {})["2.1-flat"]

    assert in_the_way is not level.reached
    assert (1, 1 + in_the_way) == (level.passed, level.total)


@pytest.mark.parametrize("unclaimed", [1, 2])
def test_of_damage_alone_half_is_told(make_result, unclaimed):
    """What is not claimed of it keeps a level from being reached where it is more than half."""
    ends = [Outcome.PASS, *[Outcome.UNSUPPORTED] * unclaimed]
    results = [make_result(f"a/b/c/{n}", e, kind="negative-dataset") for n, e in enumerate(ends)]
    level = score.levels(results, [one.case for one in results], {})["table-basic"]
    assert (unclaimed == 1) is level.reached


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0%"), (1, "100%"), (0.99999, "99.9%"), (0.00001, "0.1%"), (0.5, "50.0%")],
)
def test_percent_is_honest_at_the_ends(share, shown):
    """100 % means all, 0 % means none."""
    assert shown == score.percent(share)


def test_three_numbers_count_claimed_cases(make_result):
    """Valid and damaged data are counted separately; panics and unclaimed cases are not passes."""
    results = [
        make_result("toy/any/read/a"),
        make_result("toy/any/read/b", Outcome.FAIL),
        make_result("toy/any/read/c", Outcome.UNSUPPORTED),
        make_result("toy/any/read/neg-a", kind="negative-file"),
        make_result("toy/any/read/neg-b", Outcome.ACCEPTS_INVALID, kind="negative-file"),
        make_result("toy/any/read/neg-c", Outcome.PANIC, kind="negative-file"),
    ]
    found = {name: (part.good, part.cases) for name, part in score.numbers(results).items()}

    assert {score.VALID: (1, 2), score.REFUSED: (1, 3), score.SURVIVED: (4, 5)} == found
    wrong = replace(results[0], outcome=Outcome.FAIL)
    wrong = replace(wrong, checks=(*wrong.checks, CheckResult("validate", Outcome.FAIL)))
    expected = {score.VALID: Ratio(1, 1), score.SURVIVED: Ratio(1, 1), score.REPORTED: Ratio(0, 1)}
    assert expected == score.numbers([wrong])
    assert {} == score.numbers(results[2:3])
    assert {score.VALID, score.SURVIVED} == score.numbers(results[:1]).keys()


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

    assert [result.case.id] == [one.case.id for one in resume(tmp_path, head, [result.case])]
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
    return jsonl.line(jsonl.case_entry(result))


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
    found = resume(tmp_path, head, [good.case, bad.case])

    assert list(map(line, (good, bad))) == list(map(line, found))
    assert 1.5 == found[1].checks[0].seconds


def test_case_without_a_verdict_is_run_again(tmp_path, make_result, claims):
    """What ended as infra is not taken up."""
    broken = make_result("toy/any/read/a", Outcome.INFRA)
    head = header(claims(file__read={}))
    with Journal(tmp_path, head) as journal:
        journal.add(broken)

    assert [] == resume(tmp_path, head, [broken.case])
    assert [] == resume(tmp_path / "none", head, [broken.case])


def test_another_run_is_not_taken_up(tmp_path, make_result, claims):
    """A report of another profile, adapter or selection is refused, as is one that is none."""
    result = make_result("toy/any/read/a")
    with Journal(tmp_path, header(claims(file__read={})), [result]):
        pass

    with pytest.raises(CannotResume, match="profile"):
        resume(tmp_path, header(claims(file__read={}), "core"), [result.case])
    with pytest.raises(CannotResume, match="capabilities"):
        resume(tmp_path, header(claims(validate={})), [result.case])
    with pytest.raises(CannotResume, match="not selected"):
        resume(tmp_path, header(claims(file__read={})), [])
    (tmp_path / "report.jsonl").write_text("nothing\n")
    with pytest.raises(CannotResume, match="not a report"):
        resume(tmp_path, header(claims(file__read={})), [result.case])

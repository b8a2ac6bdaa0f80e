"""Scores: weighted by clause, breadth and correctness apart."""

import pytest
from lance_conformance.outcomes import Outcome
from lance_conformance.reports import score

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
    told = {"requires": READ, **unclaimed}
    other = make_result("file/2.1/flat/b", Outcome.UNSUPPORTED, **told)
    level = score.levels([read, other], [read.case, other.case], {})["2.1-flat"]

    assert in_the_way is not level.reached
    assert (1, 1 + in_the_way) == (level.passed, level.total)


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0%"), (1, "100%"), (0.99999, "99.9%"), (0.00001, "0.1%"), (0.5, "50.0%")],
)
def test_percent_is_honest_at_the_ends(share, shown):
    """100 % means all, 0 % means none."""
    assert shown == score.percent(share)


def test_three_numbers_count_claimed_cases(make_result):
    """Valid data and damage apart; who panics does not survive, what is unclaimed is out."""
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
    assert {} == score.numbers(results[2:3])
    assert {score.VALID, score.SURVIVED} == score.numbers(results[:1]).keys()

"""Tests of known failures: matching, staleness, and lists that are not what they must be."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance import known
from lance_conformance.known import Known, KnownError, reckon
from lance_conformance.outcomes import Outcome
from lance_conformance.runner import CaseResult

MakeResult = Callable[..., CaseResult]
TODAY = datetime.date(2026, 6, 1)
A, B, C = "toy/any/read/a", "toy/any/read/b", "toy/any/write/c"


def entry(case: str, outcome: Outcome = Outcome.CRASH, **parts: object) -> Known:
    return Known(case, outcome, "reason", "D.toy.crash", **parts)  # type: ignore[arg-type]


def stale(entries: list[Known], results: list[CaseResult]) -> tuple[str, ...]:
    return reckon(results, entries, [A, B, C], TODAY).stale


def test_listed_failure_is_expected(make_result: MakeResult) -> None:
    """A failure with the listed outcome is known, with another one unexpected."""
    crash, fail = make_result(A, Outcome.CRASH), make_result(B, Outcome.FAIL)
    reckoning = reckon([crash, fail], [entry("toy/*/read/*")], [A, B, C], TODAY)

    assert [A] == list(reckoning.listed)
    assert (fail,) == reckoning.unexpected
    assert () == reckoning.stale


def test_passing_entry_is_stale(make_result: MakeResult) -> None:
    """An entry whose case passes tells the edit to make."""
    assert (f'remove the entry case = "{A}": it does not fail any more',) == stale(
        [entry(A)], [make_result(A)]
    )


def test_wildcard_that_passes_in_part_names_what_is_left(make_result: MakeResult) -> None:
    """A wildcard over a passing and a failing case is to be replaced by the failing one."""
    (told,) = stale([entry("toy/any/**")], [make_result(A), make_result(B, Outcome.CRASH)])

    assert f'by "{B}", "{C}": {A} do not fail' in told


def test_wildcard_that_fits_nothing_is_an_error(make_result: MakeResult) -> None:
    """An entry that no case of the suite fits is reported, one that was not run is not."""
    (told,) = stale([entry("toy/any/none-*"), entry(C)], [make_result(A)])

    assert "no case of the suite" in told


def test_past_date(make_result: MakeResult) -> None:
    """After its date an entry excuses nothing."""
    late = entry(A, until=datetime.date(2026, 5, 31))
    reckoning = reckon([make_result(A, Outcome.CRASH)], [late], [A], TODAY)

    assert [A] == [result.case.id for result in reckoning.unexpected]
    assert "has passed" in reckoning.stale[0]


def test_clause_of_an_entry_is_checked(make_result: MakeResult) -> None:
    """An entry that names a clause the case does not test is out of date."""
    result = make_result(A, Outcome.CRASH)

    assert () == stale([entry(A, clause="L.toy.columns")], [result])
    assert "no case of it tests" in stale([entry(A, clause="L.toy.other")], [result])[0]


def test_list_is_read(tmp_path: Path) -> None:
    """A date may be a TOML date or a string."""
    path = tmp_path / "known.toml"
    path.write_text(
        'suite = "0.1.0"\n'
        '[[known]]\ncase = "a"\noutcome = "crash"\nreason = "r"\n'
        'issue = "https://example.org/1"\nuntil = 2027-03-01\n'
        '[[known]]\ncase = "b"\noutcome = "fail"\nreason = "r"\n'
        'issue = "D.a.b"\nuntil = "2027-03-01"\n'
    )
    dates = [item.until for item in known.load(path)]

    assert [datetime.date(2027, 3, 1)] * 2 == dates


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("known = [", "known.toml"),
        ("skip = 1", "unknown keys"),
        ('[[known]]\ncase = "a"\noutcome = "crash"\nreason = "r"', "issue"),
        ('[[known]]\ncase = "a"\noutcome = "pass"\nreason = "r"\nissue = "D.a.b"', "no outcome"),
        ('[[known]]\ncase = "a"\noutcome = "crash"\nreason = "r"\nissue = "later"', "link"),
        (
            '[[known]]\ncase = "a"\noutcome = "crash"\nreason = "r"\nissue = "D.a.b"\nuntil = "x"',
            "date",
        ),
    ],
)
def test_list_that_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """Broken TOML, unknown keys, a missing issue, a good outcome or no date are reported."""
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(KnownError, match=told):
        known.load(path)


LISTS = sorted(Path(known.__file__).parent.glob("adapters/known/*.toml"))


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_names_cases_of_the_suite(path: Path) -> None:
    """It loads, lists no case twice, and every case it names exists."""
    fixtures = Path(known.__file__).parents[2] / "fixtures"
    listed = [one.case for one in known.load(path)]

    assert len(set(listed)) == len(listed) > 10
    assert [] == [case for case in listed if not (fixtures / case / "case.json").exists()]

"""Known failures: matching, staleness, edits of lists, and text that varies between runs."""

import datetime
from pathlib import Path

import pytest
from lance_conformance.judging import known_failures, known_failures_edit, message_normalization
from lance_conformance.judging.known_failures import KnownError, KnownFailure, triage
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import Outcome
from lance_conformance.specification.register import Clause

TODAY = datetime.date(2026, 6, 1)
A, B, C = "toy/any/read/a", "toy/any/read/b", "toy/any/write/c"


def entry(case: str, outcome: Outcome = Outcome.CRASH, **parts: object) -> KnownFailure:
    return KnownFailure(case, outcome, "reason", "D.toy.crash", **parts)  # type: ignore[arg-type]


def stale(entries: list[KnownFailure], results: list[CaseResult]) -> tuple[str, ...]:
    return triage(results, entries, [A, B, C], TODAY, {}).stale


def test_listed_failure_is_expected(make_result):
    """A failure with the listed outcome is known, with another one unexpected."""
    crash, fail = make_result(A, Outcome.CRASH), make_result(B, Outcome.FAIL)
    result = triage([crash, fail], [entry("toy/*/read/*")], [A, B, C], TODAY, {})

    assert ([A], (fail,), ()) == (list(result.listed), result.unexpected, result.stale)


@pytest.mark.parametrize("level", ["MUST NOT", "SHOULD", "MAY"])
def test_a_choice_that_no_must_forbids_is_no_failure(make_result, level):
    """Refusing what a reader only SHOULD read is advised against; another answer fails."""
    clause = {"L.a.a": Clause("L.a.a", level, "", "")}
    choice, fail = make_result(A, Outcome.REJECTS_VALID), make_result(B, Outcome.FAIL)
    for one in (choice, fail):
        one.case.manifest["clauses"] = [{"id": "L.a.a", "role": "positive"}]
    result = triage([choice, fail], [], [A, B], TODAY, clause)

    assert [choice] * (level != "MUST NOT") == list(result.advised)
    assert fail in result.unexpected


def test_passing_entry_is_stale(make_result):
    """An entry whose case passes is reported with the required edit, except for flaky crashes."""
    message = f'remove the entry case = "{A}": it no longer fails'
    assert (message,) == stale([entry(A)], [make_result(A)])
    assert () == stale([entry(A, Outcome.FLAKY_CRASH)], [make_result(A)])


@pytest.mark.parametrize(
    ("listed", "found", "expected"),
    [
        (Outcome.CRASH, Outcome.FLAKY_CRASH, True),
        (Outcome.FLAKY_CRASH, Outcome.CRASH, True),
        (Outcome.FLAKY_CRASH, Outcome.PANIC, False),
        (Outcome.FAIL, Outcome.CRASH, False),
    ],
)
def test_a_death_may_be_of_either_kind(make_result, listed, found, expected):
    """A listed death is known when it comes always, and when it comes now and then."""
    result = triage([make_result(A, found)], [entry(A, listed)], [A], TODAY, {})

    assert expected is (A in result.listed)


def test_wildcards_that_are_stale(make_result):
    """One that passes in part names what is left, one that fits nothing is an error."""
    (message,) = stale([entry("toy/any/**")], [make_result(A), make_result(B, Outcome.CRASH)])

    assert f'by "{B}", "{C}": {A} do not fail' in message
    (message,) = stale([entry("toy/any/none-*"), entry(C)], [make_result(A)])

    assert "no case of the suite" in message


def test_past_date(make_result):
    """After its date an entry excuses nothing."""
    late = entry(A, until=datetime.date(2026, 5, 31))
    result = triage([make_result(A, Outcome.CRASH)], [late], [A], TODAY, {})

    assert [A] == [result.case.id for result in result.unexpected]
    assert "has passed" in result.stale[0]


def test_clause_of_an_entry_is_checked(make_result):
    """An entry that names a clause the case does not test is out of date."""
    result = make_result(A, Outcome.CRASH)

    assert () == stale([entry(A, clause="L.toy.columns")], [result])
    assert "none of its cases tests" in stale([entry(A, clause="L.toy.other")], [result])[0]


def test_list_is_read(tmp_path):
    """A date may be a TOML date or a string."""
    path = tmp_path / "known.toml"
    path.write_text(
        'suite = "0.1.0"\n'
        '[[known]]\ncase = "a"\noutcome = "crash"\nreason = "r"\n'
        'issue = "https://example.org/1"\nuntil = 2027-03-01\n'
        '[[known]]\ncase = "b"\noutcome = "fail"\nreason = "r"\n'
        'issue = "D.a.b"\nuntil = "2027-03-01"\n'
    )
    dates = [item.until for item in known_failures.load(path)]

    assert [datetime.date(2027, 3, 1)] * 2 == dates


CRASH = '[[known]]\ncase = "a"\noutcome = "crash"\nreason = "r"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("known = [", "known.toml"),
        ("skip = 1", "unknown keys"),
        (CRASH, "issue"),
        (
            '[[known]]\ncase = "a"\noutcome = "pass"\nreason = "r"\nissue = "D.a.b"',
            "not the outcome",
        ),
        (f'{CRASH}\nissue = "later"', "link"),
        (f'{CRASH}\nissue = "D.a.b"\nuntil = "x"', "date"),
    ],
)
def test_list_that_is_refused(tmp_path, text, message):
    """Broken TOML, unknown keys, a missing issue, a good outcome or no date are reported."""
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(KnownError, match=message):
        known_failures.load(path)


LISTS = sorted(Path(known_failures.__file__).parents[1].glob("adapters/known/*.toml"))


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_names_cases_of_the_suite(path):
    """It loads, lists no case twice, and every case it names exists."""
    fixtures = Path(known_failures.__file__).parents[3] / "fixtures"
    listed = [one.case for one in known_failures.load(path)]

    assert len(set(listed)) == len(listed) > 10
    assert [] == [case for case in listed if not (fixtures / case / "case.json").exists()]


FIRST, SECOND, THIRD = "toy/any/read/a", "toy/any/read/b", "toy/any/read/c"

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


def test_prune_drops_what_passes(path, make_result):
    """The entry of a passing case goes with its comment, all else stays as it is."""
    results = [
        make_result(FIRST),
        make_result(SECOND, Outcome.FAIL),
        make_result(THIRD, Outcome.FAIL),
    ]
    edit = known_failures_edit.prune(path, results)

    assert (FIRST,) == edit.dropped
    assert "a Friday" not in edit.text
    assert edit.text.endswith(TEXT[TEXT.index("# Not the same") :])
    assert edit.text.startswith("# Ours, since spring.\n")


def test_update_corrects_and_adds(path, make_result):
    """An outcome that changed is corrected in place, a new failure is appended with its clause."""
    results = [
        make_result(FIRST, Outcome.CRASH),
        make_result(SECOND, Outcome.FAIL),
        make_result(THIRD, Outcome.TIMEOUT, 'no "answer"\nat all'),
    ]
    edit = known_failures_edit.update(path, results, "https://example.org/7")
    path.write_text(edit.text)
    entries = known_failures.load(path)

    assert ((), (SECOND,), (THIRD,)) == (edit.dropped, edit.changed, edit.added)
    assert 'outcome = "fail"  # since ever' in edit.text
    assert [Outcome.CRASH, Outcome.FAIL, Outcome.TIMEOUT] == [item.outcome for item in entries]
    assert ('no "answer"', "L.toy.columns") == (entries[2].reason, entries[2].clause)


def test_update_makes_a_list_without_folders_of_a_machine(tmp_path, make_result):
    """It begins with the suite's version; of a path the file name is kept, a link stays whole."""
    detail = "panic at /build/x/src/block.rs:13, see https://example.org/a/b"
    failed = make_result(FIRST, Outcome.FAIL, detail)
    edit = known_failures_edit.update(tmp_path / "none.toml", [failed], "D.a.b")

    assert edit.text.startswith('suite = "')
    assert (FIRST,) == edit.added
    assert "panic at …/block.rs:13, see https://example.org/a/b" in edit.text


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("no file /t/w0/17/input.lance", "no file <scratch>/input.lance"),
        ("t/w0/3/table.lance/_versions", "<scratch>/table.lance/_versions"),
        ("thread 'main' (4711) panicked", "thread 'main' (…) panicked"),
        ("task 12 panicked: index 12", "task … panicked: index 12"),
        ("at 0x7f00aa12b0", "at 0x…"),
        ("[2026-01-02T03:04:05.678Z WARN]", "[<time> WARN]"),
        ("offset 0x1234, 5 rows", "offset 0x1234, 5 rows"),
    ],
)
def test_what_is_taken_out(text, remaining):
    """Scratch folders, numbers of threads, addresses and times go; numbers of the format stay."""
    assert remaining == message_normalization.normalize_message(text, Path("/t/w0"))

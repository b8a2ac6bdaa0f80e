"""The runner: every way to misbehave gives exactly its outcome; sessions and messages."""

from dataclasses import replace
from pathlib import Path

import pytest
from lance_conformance.judging import runner
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol import messages
from lance_conformance.protocol.input_copy import copy_input
from lance_conformance.protocol.session import AdapterUnusable, Limits, Session
from lance_conformance.recipes.build import build
from lance_conformance.recipes.cases import RECIPES
from lance_conformance.runs.suite_run import REFERENCE
from lance_conformance.suite import cases

READ, NEGATIVE, LINT = "toy/any/read/columns", "toy/any/read/neg-broken", "toy/any/read/odd"

OUTCOMES = {
    "perfect": Outcome.PASS,
    "slow": Outcome.PASS,
    "wrong-answer": Outcome.FAIL,
    "rejects-all": Outcome.REJECTS_VALID,
    "unsupported": Outcome.UNSUPPORTED,
    "overclaims": Outcome.OVERCLAIM,
    "bad-output": Outcome.BAD_OUTPUT,
    "modifies-input": Outcome.INPUT_MODIFIED,
    "panics": Outcome.PANIC,
    "silent": Outcome.TIMEOUT,
    "memory-hog": Outcome.MEMORY,
    "crash": Outcome.CRASH,
    "exit": Outcome.CRASH,
    "flaky": Outcome.FLAKY_CRASH,
    **dict.fromkeys(("bad-json", "two-lines", "wrong-id"), Outcome.INFRA),
    **dict.fromkeys(("unknown-field", "adapter-error"), Outcome.INFRA),
}
"""Outcome of the case to read, by the mode of the fake."""


def by_id(root: Path) -> dict[str, cases.Case]:
    return {case.id: case for case in cases.load(root)}


def impatient(case: cases.Case) -> cases.Case:
    """The case with a second to answer."""
    return replace(case, manifest={**case.manifest, "limits": {"seconds": 1, "memory_mb": 512}})


@pytest.mark.parametrize(("mode", "outcome"), OUTCOMES.items())
def test_each_misbehaviour_has_its_outcome(mode, outcome, toy_suite, open_session):
    """A fake gives the outcome of its mode, and the next case finds a working process."""
    session = open_session(mode)
    try:
        case = by_id(toy_suite)[READ]
        if outcome == Outcome.TIMEOUT:
            case = impatient(case)
        result = runner.Worker(session).run(case)

        assert outcome == result.outcome, result.detail
        assert "perfect" != mode or result.detail == ""
        assert session.claims().implementation["name"] == f"fake-{mode}"
    finally:
        session.restart()


def test_perfect_fake_passes_everything(toy_suite, open_session):
    """Reading, refusing and reporting as expected passes, check by check, in one process."""
    session = open_session("perfect")
    worker = runner.Worker(session)
    results = {case.id: worker.run(case) for case in cases.load(toy_suite)}

    assert {Outcome.PASS} == {result.outcome for result in results.values()}
    reading = ["full", "projection", "range", "take", "validate"]
    assert reading == [c.name for c in results[READ].checks]
    assert ["full", "validate"] == [c.name for c in results[NEGATIVE].checks]
    assert "validate" == results[LINT].checks[-1].name
    assert 1 == session.starts
    assert session.close()


def test_reading_what_must_be_refused(toy_suite, open_session):
    """An `ok` to bytes that must be refused is accepts-invalid."""
    session = open_session("accepts-all")
    result = runner.Worker(session).run(by_id(toy_suite)[NEGATIVE])
    session.close()

    assert Outcome.ACCEPTS_INVALID == result.outcome


def test_death_leaves_its_words(toy_suite, open_session):
    """A crash reports the signal and the last standard error."""
    result = runner.Worker(open_session("crash")).run(by_id(toy_suite)[READ])

    assert "SIGSEGV" in result.detail
    assert "about to die" in result.stderr


@pytest.mark.parametrize(
    ("mode", "text"), [("exits-at-hello", "no hello from me"), ("forgets", "does not claim what")]
)
def test_adapter_that_does_not_greet_is_unusable(mode, text, toy_suite, tmp_path, fake):
    """Nothing is judged without a hello, or with other claims than those of the first process."""
    with pytest.raises(AdapterUnusable, match=text):
        runner.run_adapter(fake(mode), cases.load(toy_suite), tmp_path / "scratch")


def test_command_that_does_not_exist_is_unusable(tmp_path):
    """A command that cannot be started is an unusable adapter."""
    with pytest.raises(AdapterUnusable, match="cannot start"):
        runner.run_adapter([str(tmp_path / "none")], [], tmp_path / "scratch")


def test_isolation_starts_a_process_per_case(toy_suite, open_session):
    """With isolation every case has a process of its own."""
    session = open_session("perfect")
    for case in cases.load(toy_suite):
        runner.Worker(session, isolate=True).run(case)
    session.close()

    assert 3 == session.starts


def test_workers_share_the_cases(toy_suite, tmp_path, fake):
    """Two adapters side by side give each case once, in the order of ids."""
    seen: list[str] = []
    _, results = runner.run_adapter(
        fake("perfect"),
        cases.load(toy_suite)[::-1],
        tmp_path / "scratch",
        jobs=2,
        progress=lambda result: seen.append(result.case.id),
    )

    assert [READ, NEGATIVE, LINT] == [result.case.id for result in results]
    assert sorted(seen) == [READ, NEGATIVE, LINT]


def test_two_runs_tell_the_same(toy_suite, tmp_path, fake):
    """Details hold nothing that differs between runs with the same outcomes."""
    for mode in ("crash", "bad-output"):
        first, second = (
            runner.run_adapter(fake(mode), cases.load(toy_suite), tmp_path / mode / str(number))[1]
            for number in range(2)
        )

        assert first == second


def test_each_actor_of_a_case_is_a_process_of_its_own(tmp_path):
    """Two writers append after one version; both commits stand, and the frozen input too."""
    root = tmp_path / "cases"
    build([RECIPES["txn/any/rows/two-appends"]], {}, root)
    (case,) = cases.load(root)
    before = (case.folder / "case.json").read_bytes()
    session = Session(REFERENCE, tmp_path / "scratch")
    result = runner.Worker(session).run(case)

    assert Outcome.PASS == result.outcome, result.detail
    assert ["step 1", "step 2", "self", "reference", "manifest"] == [c.name for c in result.checks]
    assert (tmp_path / "scratch" / "actor1").is_dir()
    assert session.close()
    assert before == (case.folder / "case.json").read_bytes()


LIMITS = Limits(2, 512)


def ask(session: Session) -> Outcome:
    session.scratch.mkdir(parents=True, exist_ok=True)
    path = session.scratch / "broken"
    path.write_bytes(b"broken")
    return session.request("validate", {"path": str(path)}, LIMITS).outcome


@pytest.mark.parametrize("mode", ["exit", "bad-json"])
def test_process_is_replaced(open_session, mode):
    """After a death or a protocol error the next request gets a fresh process."""
    session = open_session(mode)
    outcomes = [ask(session) for _ in range(2)]
    session.restart()

    assert {Outcome.CRASH} == set(outcomes) or {Outcome.INFRA} == set(outcomes)
    assert 2 == session.starts


def test_listener_hears_both_sides(open_session):
    """Every message is printed with its direction, hello first."""
    heard: list[tuple[str, object]] = []
    session = open_session("perfect")
    session._listener = lambda side, message: heard.append((side, message["id"]))
    ask(session)
    session.close()

    assert [("→", 0), ("←", 0), ("→", 1), ("←", 1)] == heard


def test_message_survives_the_line():
    """A message is one line, whatever text it holds."""
    message = {"id": 1, "op": "validate", "path": "a\nb ü", "deep": True}
    line = messages.encode(message)

    assert 1 == line.count(b"\n")
    assert message == messages.decode(line)
    assert [] == messages.request_problems(message)


@pytest.mark.parametrize(
    "line", [b"{\0}\0", b"[]", b"\xff", b'"' + b"x" * 2**21 + b'"', b"[" * 10**5]
)
def test_line_that_is_no_message(line):
    """Anything but a JSON object in UTF-8 of at most 1 MiB is a protocol error."""
    with pytest.raises(messages.ProtocolError):
        messages.decode(line)


@pytest.mark.parametrize(
    ("keeps", "response"),
    [
        (False, {}),
        (False, {"ok": {"out": "x"}, "reject": {"stage": "open", "message": ""}}),
        (False, {"ok": {}}),
        (False, {"ok": {"out": "x", "rows": 1}}),
        (False, {"ok": {"out": "x", "num_rows": 1}}),
        (False, {"reject": {"stage": "later", "message": ""}}),
        (False, {"reject": {"stage": "open", "kind": "bad luck", "message": ""}}),
        (True, {"ok": {"out": "x", "num_rows": "18446744073709551615"}}),
        (True, {"reject": {"stage": "unknown", "message": "no"}, "panicked": True}),
        (True, {"unsupported": {"feature": "maps"}}),
        (True, {"adapter_error": {"message": "mine"}}),
    ],
)
def test_response_under_the_schema(keeps, response):
    """One of four answers keeps to it; none, two, unknown fields and words, and numbers do not."""
    assert keeps == (not messages.response_problems("file.read", {"id": 1, **response}))


def test_inputs_have_neutral_names(tmp_path, toy_suite):
    """The copy of an input says nothing of the case it comes from."""
    copied = copy_input(toy_suite / NEGATIVE / "data.lance", tmp_path)
    folder = copy_input(toy_suite / NEGATIVE, tmp_path)

    assert "input.lance" == copied.name
    assert "table.lance" == folder.name

"""Tests of sessions: one process for many requests, a fresh one after a break."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lance_conformance.outcomes import Outcome
from lance_conformance.session import Limits, Session

Sessions = Callable[[str], Session]
LIMITS = Limits(2, 512)


def ask(session: Session) -> Outcome:
    session.scratch.mkdir(parents=True, exist_ok=True)
    path = session.scratch / "broken"
    path.write_bytes(b"broken")
    return session.ask("validate", {"path": str(path)}, LIMITS).outcome


def test_process_is_reused(open_session: Sessions) -> None:
    """Requests share a process, and it ends politely."""
    session = open_session("perfect")
    outcomes = [ask(session) for _ in range(20)]

    assert [Outcome.PASS] * 20 == outcomes
    assert 1 == session.starts
    assert session.close()


@pytest.mark.parametrize("mode", ["exit", "bad-json"])
def test_process_is_replaced(open_session: Sessions, mode: str) -> None:
    """After a death or a protocol error the next request gets a fresh process."""
    session = open_session(mode)
    outcomes = [ask(session) for _ in range(2)]
    session.restart()

    assert {Outcome.CRASH} == set(outcomes) or {Outcome.INFRA} == set(outcomes)
    assert 2 == session.starts


def test_listener_hears_both_sides(open_session: Sessions) -> None:
    """Every message is printed with its direction, hello first."""
    heard: list[tuple[str, object]] = []
    quiet = open_session("perfect")
    session = Session(
        quiet._command, quiet.scratch, lambda side, message: heard.append((side, message["id"]))
    )
    ask(session)
    session.close()

    assert [("→", 0), ("←", 0), ("→", 1), ("←", 1)] == heard


def test_closing_what_never_ran(open_session: Sessions) -> None:
    """A session that was never asked has nothing to end."""
    session = open_session("perfect")

    assert session.close()
    assert 0 == session.starts

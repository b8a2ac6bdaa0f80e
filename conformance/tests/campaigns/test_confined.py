"""Confinement: limits of time and memory, and what becomes of a child that breaks them."""

import os
import signal
import time

from lance_conformance.campaigns.confined import MEMORY_BYTES, Answer, ask


def _hold(size: int) -> Answer:
    return Answer("held", str(len(bytearray(size))))


def _sleep() -> Answer:
    time.sleep(60)
    return Answer("awake")


def _work() -> Answer:
    while True:
        pass


def _kill() -> Answer:
    os.kill(os.getpid(), signal.SIGKILL)
    return Answer("alive")


def _raise() -> Answer:
    raise ValueError("not caught")


def test_an_answer_comes_back():
    """What the child answers is what the parent gets, cut to a line."""
    assert Answer("right", "x" * 300) == ask(lambda: Answer("right", "x" * 400), 100)


def test_a_death_is_an_answer():
    """Signals, exits and exceptions nobody caught are told from an answer."""
    assert "died" == ask(_kill, 100).kind
    assert "died" == ask(_raise, 100).kind


def test_memory_is_bounded_by_the_size_of_the_file():
    """64 MiB and 16 times the file: a larger file may take more."""
    size = 8 * MEMORY_BYTES  # more than a long test run leaves free inside the process

    assert "held" == ask(lambda: _hold(MEMORY_BYTES // 2), 100).kind
    assert "died" == ask(lambda: _hold(size), 100).kind
    assert "held" == ask(lambda: _hold(size), 64 * 2**20).kind


def test_a_hang_ends(monkeypatch):
    """A child that waits and one that works are both gone after their limits."""
    monkeypatch.setattr("lance_conformance.campaigns.confined.SECONDS", 1)
    monkeypatch.setattr("lance_conformance.campaigns.confined.PATIENCE", 3)

    assert "too slow" == ask(_sleep, 100).kind
    assert "too slow" == ask(_work, 100).kind

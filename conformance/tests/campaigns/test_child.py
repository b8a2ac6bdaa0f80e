"""Children: what they answer, how they end, and what they cost."""

import os
import signal
import time

from lance_conformance.campaigns import child
from lance_conformance.campaigns.child import MEMORY_BYTES, ask, is_too_much


def _hold(size: int) -> list[str]:
    return [str(len(bytearray(size)) + sum(bytearray(size)[:: 2**12]))]


def _sleep() -> list[str]:
    time.sleep(60)
    return ["awake"]


def _work() -> list[str]:
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    return ["done"]


def _kill() -> list[str]:
    os.write(2, b"last words")
    os.kill(os.getpid(), signal.SIGKILL)
    return ["alive"]


def _raise() -> list[str]:
    raise ValueError("not caught")


def test_an_answer_comes_back_whole():
    """More than a pipe holds at once."""
    long = "x" * 200_000

    assert ["ok", long] == ask(lambda: ["ok", long]).answer


def test_a_death_is_an_answer():
    """The signal and the error output are reported; an exception nobody caught is no answer."""
    ended = ask(_kill)

    assert (None, signal.SIGKILL, "last words") == (ended.answer, ended.signal, ended.told)
    assert (None, 0) == (ask(_raise).answer, ask(_raise).signal)


def test_memory_is_measured_above_the_baseline():
    """What is held shows, and what the parent holds does not."""
    ballast = bytearray(100 * 2**20)

    assert 60 * 2**20 < ask(lambda: _hold(64 * 2**20)).peak_bytes
    assert 40 * 2**20 > ask(lambda: _hold(2**10)).peak_bytes
    assert 100 * 2**20 == len(ballast)


def test_memory_is_limited():
    """Beyond the address space there is none."""
    assert ask(lambda: _hold(child.ADDRESS_SPACE)).answer is None


def test_a_hang_ends(monkeypatch):
    """The alarm ends a child that waits."""
    monkeypatch.setattr(child, "ALARM_SECONDS", 1)

    assert signal.SIGALRM == ask(_sleep).signal


def test_processor_time_is_measured():
    """A child that waits takes none, one that works does."""
    assert 0.2 <= ask(_work).seconds < 2
    assert ask(list).seconds < 0.2


def test_a_larger_file_may_cost_more():
    """64 MiB, and sixteen bytes for each byte."""
    assert not is_too_much(MEMORY_BYTES, 0)
    assert is_too_much(MEMORY_BYTES + 16, 0)
    assert not is_too_much(MEMORY_BYTES + 16, 1)

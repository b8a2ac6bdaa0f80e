"""Tests put to a mutant: which of them run through which lines, and the first that fails.

What no case notices a test may: the mutant is put to those that run through its line, in a process
of its own. Tests that fail without a change, or take too long, are left out.

    lines_of_tests(root, folder, marked)   the tests of a folder by line, and those left out
    Suite(root, judge).killer(...)         the first of some tests that fails with a change
"""

from __future__ import annotations

import ast
import gc
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import settings
from mutant_child import SURVIVED, UNFINISHED, Judge, Send, Verdict, forget
from mutant_lines import Lines, caches_made_here, send_lines, traced
from sources import Source

if TYPE_CHECKING:
    from coverage import Coverage

TESTS = "reference/tests"
"""Folder of the tests of the reference."""

ALONE = "not spark and not oracle and not nightly"
"""Marker expression of tests without the oracle and Spark."""

ORACLE_MARKS = "oracle and not spark and not nightly"
"""Marker expression of tests with the oracle, which each child imports itself: it has threads."""

ORACLE = "lance"
"""The oracle's package."""

CONTINUE = "--continue-on-collection-errors"
"""For pytest: a file of tests may need a library that is not there."""

TEST_SECONDS = 5
"""Processor time of a test; with a mutant it has twice as much."""

EXAMPLES = 5
"""Examples of a property test that is traced."""

WAITED_SECONDS = 120
"""Time by the clock of a test, which may wait for what never comes."""


def folders_of_tests(root: Path) -> list[str]:
    """Return the folders of tests, and the test files next to them."""
    return [
        entry.relative_to(root).as_posix()
        for entry in sorted((root / TESTS).iterdir())
        if entry.match("test_*.py") or any(entry.glob("test_*.py"))
    ]


def lines_of_tests(root: Path, folder: str, marked: str) -> tuple[Lines, list[str]]:
    """Return the tests of a folder by line of the reference, and the ids of those left out."""
    return traced(lambda send: _trace(root, folder, marked, send))


class Suite:
    """Puts tests to mutants, in children of a judge."""

    def __init__(self, root: Path, judge: Judge) -> None:
        self._root, self._judge = root, judge
        self._unsuitable: dict[str, bool] = {}
        with redirect_stdout(StringIO()), patch.dict(sys.modules, {ORACLE: None}):
            # what is imported here no child imports
            _pytest(root, None, "--collect-only", CONTINUE, "-m", ALONE, TESTS)
        gc.freeze()

    def killer(
        self, source: Source, tree: ast.Module, ids: Sequence[str], seconds: float
    ) -> Verdict:
        """Return the first test that fails, with a module changed."""
        fit = [name for name in ids if not self._unsuitable.get(name)]
        verdict = self._verdict_of(source, tree, fit, seconds)
        while verdict.case in fit and self._is_unsuitable(source, verdict.case):
            fit.remove(verdict.case)
            verdict = self._verdict_of(source, tree, fit, seconds)
        return verdict

    def _is_unsuitable(self, source: Source, test: str) -> bool:
        """Whether a test fails in a process like these where nothing is changed."""
        if test not in self._unsuitable:
            self._unsuitable[test] = bool(
                self._verdict_of(source, source.tree, [test], math.inf).case
            )
        return self._unsuitable[test]

    def _verdict_of(
        self, source: Source, tree: ast.Module, ids: Sequence[str], seconds: float
    ) -> Verdict:
        if not ids:
            return Verdict()
        return self._judge.verdict(source, tree, lambda send: self._run(ids, seconds, send))

    def _run(self, ids: Sequence[str], seconds: float, send: Send) -> None:
        timer = _TestTimer(send, time.process_time() + seconds)
        code = _pytest(self._root, timer, "--exitfirst", *ids)
        if timer.failed:
            send("=failed\n")
        elif timer.has_skipped:
            send(f"{UNFINISHED}\n")
        elif timer.has_started or code == pytest.ExitCode.OK:
            send(f"{SURVIVED}\n")
        else:
            send("=import\n")


class _TestTimer:
    """Limits the time of each test, and ends the session when the total is exceeded."""

    def __init__(self, send: Send, end: float) -> None:
        self._send, self._end = send, end
        self.has_started = self.has_skipped = self.failed = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Iterator[None]:
        """Send the id of a test and limit its time."""
        self.has_started = True
        self._send(f"{item.nodeid}\n")
        signal.setitimer(signal.ITIMER_PROF, 2 * TEST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, WAITED_SECONDS)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if nextitem and time.process_time() > self._end:
            self.has_skipped = True
            item.session.shouldstop = "the time is over"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notice what failed."""
        self.failed = self.failed or report.failed


class _Tracer:
    """Gives lines to the test that runs, and notes which tests to leave out."""

    def __init__(self, tracer: Coverage, empty_caches: Callable[[], None]) -> None:
        self._tracer, self._empty_caches = tracer, empty_caches
        self.left_out: set[str] = set()

    def pytest_sessionstart(self) -> None:
        """Let property tests try a few examples: they run through the same lines."""
        settings.register_profile("few", settings.get_profile("untimed"), max_examples=EXAMPLES)
        settings.load_profile("few")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test."""
        self._tracer.switch_context(item.nodeid)
        self._empty_caches()
        start = time.process_time()
        yield
        if time.process_time() - start > TEST_SECONDS:
            self.left_out.add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails without a change."""
        if report.failed:
            self.left_out.add(report.nodeid)


def _trace(root: Path, folder: str, marked: str, send: Send) -> None:
    import coverage

    forget(root)
    empty_caches = caches_made_here()
    tracer = coverage.Coverage(data_file=None, source=[str(root / "reference" / "lanceref")])
    tracer.start()
    plugin = _Tracer(tracer, empty_caches)
    _pytest(root, plugin, CONTINUE, "-m", marked, folder)
    tracer.stop()
    send_lines(tracer, root, plugin.left_out, send)


def _pytest(root: Path, plugin: object | None, *arguments: str) -> int:
    os.chdir(root)
    sys.path.insert(0, str(root / "tools"))
    fixed = ["--rootdir", str(root), "-p", "no:cacheprovider", "-p", "no:xdist"]
    return pytest.main([*fixed, *arguments], plugins=[plugin] if plugin else [])

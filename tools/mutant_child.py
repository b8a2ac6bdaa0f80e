"""A child process for one mutant: the cases run on a reference with one change.

The parent has the large libraries loaded, and nothing of this repository; a child imports the
packages anew, the changed module through a finder, and puts cases to the adapter without a process
between. A case that takes more than its share of processor time ends the child.

    killer(root, module, tree, ids) the first of the cases that notices, or none
    Judge(root).killer(...)         the same, from a parent that has all imported
    Judge(root).verdict(...)        the verdict of other work, as of `mutant_tests.py`
"""

from __future__ import annotations

import ast
import gc
import importlib.abc
import importlib.machinery
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

import google.protobuf.descriptor_pb2
import jsonschema
import ml_dtypes
import numpy as np
import pyarrow.compute
import pyroaring
import regex
import xxhash
from mutant_swap import Changes, imported
from sources import Source

LOADED = (google, jsonschema, ml_dtypes, np, pyarrow, pyroaring, regex, xxhash)
"""Libraries that every child has from its parent."""

pyarrow.table({"x": [1]}).take([0])  # so that they have imported what they import when first used

CASE_SECONDS = 3
"""Processor time of one case."""

IN_MEMORY = Path("/dev/shm")
"""Where copies of cases cost least, on systems that have it."""

MEMORY_BYTES = 6 << 30
"""Address space of a child."""

PACKAGES = frozenset(
    {"lanceref", "lanceref_testing", "pylanceref", "lance_conformance", "reference", "tests"}
)
"""What a child imports for itself; tests have the names of their folders."""

WRITING = frozenset({"commit-race", "write-roundtrip"})
"""Kinds of cases of writers, which are not run where parsers are judged."""

LIVE = (
    "lanceref",
    "pylanceref",
    "lance_conformance.adapters.reference",
    "lance_conformance.judging.runner",
)
"""Packages that a judge imports, with all their modules."""

SURVIVED = "lives "
"""Last line of a child when no outcome differs; a case that names another clause follows."""

UNFINISHED = "not all asked"
"""Last line of a child when time ran out before all cases were run."""

OTHER_CLAUSE = "other clause"
"""Outcome of a case whose bytes are refused under another clause."""

Send = Callable[[str], None]
"""Sends a line of a child: the id of each case that it runs, and a last line."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The case that detected a mutant, and how; no case: the mutant survived.

    A case whose outcome differs takes precedence over one that only names another clause.
    """

    case: str = ""
    how: str = ""


def killer(
    root: Path, module: str, tree: ast.Module, ids: Sequence[str], seconds: float = math.inf
) -> Verdict:
    """Return the verdict of the first case whose outcome differs, with the module changed."""
    code = compile(tree, f"<mutant of {module}>", "exec")
    return _verdict(in_child(lambda send: _judge(root, {module: code}, ids, seconds, send)))


class Judge:
    """Imports everything and loads every case once; its children are forks of it.

    A mutant is judged for a number of seconds of processor time.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        sys.path[:0] = [str(root / "reference"), str(root / "conformance")]
        self._live = imported(LIVE)
        self._run = _Run(root, None)
        self._unsuitable: dict[str, bool] = {}
        gc.freeze()

    def killer(
        self, source: Source, tree: ast.Module, ids: Sequence[str], seconds: float = math.inf
    ) -> Verdict:
        """Return the verdict of the first case whose outcome differs, with a module changed."""
        changes = self._live.changes(source.path, tree)
        fit = [name for name in ids if not self._unsuitable.get(name)]
        if changes is None:
            return killer(self._root, source.module, tree, fit, seconds)
        verdict = self._verdict_of(changes, fit, seconds)
        while verdict.case in fit and self._is_unsuitable(verdict.case):
            fit.remove(verdict.case)
            verdict = self._verdict_of(changes, fit, seconds)
        return verdict

    def verdict(self, source: Source, tree: ast.Module, work: Callable[[Send], None]) -> Verdict:
        """Return the verdict of a child that does some work with a module changed."""
        changes = self._live.changes(source.path, tree)
        code = compile(tree, f"<mutant of {source.module}>", "exec")

        def changed(send: Send) -> None:
            if changes is None:
                forget(self._root)
                sys.meta_path.insert(0, Changed({source.module: code}))
            else:
                self._live.put(changes)
            work(send)

        return _verdict(in_child(changed))

    def naming(self, clauses: Collection[str]) -> list[str]:
        """Return the ids of cases that name one of some clauses."""
        return self._run.naming(clauses)

    def _is_unsuitable(self, case: str) -> bool:
        """Whether the outcome of a case differs although nothing is changed."""
        if case not in self._unsuitable:
            self._unsuitable[case] = bool(self._verdict_of([], [case], math.inf).case)
        return self._unsuitable[case]

    def _verdict_of(self, changes: Changes, ids: Sequence[str], seconds: float) -> Verdict:
        def work(send: Send) -> None:
            self._live.put(changes)
            _run_cases(self._run, ids, send, seconds)

        return _verdict(in_child(work))


def _verdict(text: str) -> Verdict:
    started, _, end = text.rstrip("\n").rpartition("\n")
    if end == UNFINISHED:
        return Verdict("", UNFINISHED)
    if end.startswith(SURVIVED):
        case = end.removeprefix(SURVIVED)
        return Verdict(case, OTHER_CLAUSE) if case else Verdict()
    case = (started if end.startswith("=") else text).rstrip("\n").rpartition("\n")[2]
    return Verdict(case or "(import)", end[1:] if end.startswith("=") else "died")


def in_child(work: Callable[[Send], None]) -> str:
    """Return the lines that `work` sent from a child process.

    The child has its own temporary folder, and all processes that it started are killed.
    """
    above = IN_MEMORY if IN_MEMORY.is_dir() else None
    scratch = tempfile.mkdtemp(prefix="lance-mutant-", dir=above)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _isolate(scratch)
        code = 1
        try:
            work(lambda text: _send(writing, text))
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        output = pipe.read().decode()
    os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    shutil.rmtree(scratch, ignore_errors=True)
    return output


def _send(pipe: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(pipe, data) :]


def _isolate(scratch: str) -> None:
    os.setpgid(0, 0)
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _judge(
    root: Path, changed: Mapping[str, CodeType], ids: Sequence[str], seconds: float, send: Send
) -> None:
    sys.meta_path.insert(0, Changed(changed))
    _run_cases(runner(root, ids), ids, send, seconds)


def _run_cases(run: _Run, ids: Sequence[str], send: Send, seconds: float) -> None:
    otherwise, end = "", time.process_time() + seconds
    for case_id in ids:
        if time.process_time() > end:
            send(f"{SURVIVED}{otherwise}\n" if otherwise else f"{UNFINISHED}\n")
            return
        send(f"{case_id}\n")
        signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)
        outcome = run(case_id)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if outcome == OTHER_CLAUSE:
            otherwise = otherwise or case_id
        elif outcome != "pass":
            send(f"={outcome}\n")
            return
    send(f"{SURVIVED}{otherwise}\n")


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the changed module before anybody else does."""

    def __init__(self, code: Mapping[str, CodeType]) -> None:
        self._code = code

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a changed module."""
        if name not in self._code:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)  # type: ignore[arg-type]
        assert found is not None
        spec = importlib.machinery.ModuleSpec(name, self, origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(self._code[module.__name__], module.__dict__)


class _Run:
    """Puts cases to the reference's adapter inside this process."""

    def __init__(self, root: Path, ids: Iterable[str] | None) -> None:
        from lance_conformance.adapters import reference
        from lance_conformance.judging.runner import Worker
        from lance_conformance.protocol.messages import Message
        from lance_conformance.protocol.session import Claims, Limits, RequestResult, Session
        from lance_conformance.suite import cases

        class InProcess(Session):
            """A session whose adapter is a function."""

            def claims(self) -> Claims:
                self.scratch.mkdir(parents=True, exist_ok=True)
                hello = reference.hello()
                return Claims(hello["implementation"], hello["capabilities"], hello)

            def request(
                self, op: str, fields: Mapping[str, object], limits: Limits
            ) -> RequestResult:
                response: Message = {"id": 0, **reference.in_process(op, fields)}
                return RequestResult(response)

            def new_session(self, name: str) -> Session:
                return InProcess((), self.scratch / name)

            def restart(self) -> None:
                """Nothing runs."""

        folder = root / "fixtures"
        if ids is None:
            self._cases = {case.id: case for case in cases.load(folder) if case.is_active}
        else:
            self._cases = {
                name: cases.load_case(folder / name / "case.json", folder) for name in ids
            }
        self._session = InProcess((), Path())
        self._worker = Worker(self._session)
        every = sorted(self._cases)
        self.writing = [name for name in every if self._cases[name].kind in WRITING]
        self.reading = sorted(set(every).difference(self.writing))
        self._clauses = {name: frozenset(case.clauses) for name, case in self._cases.items()}

    def naming(self, clauses: Collection[str]) -> list[str]:
        """Return the ids of cases that name one of some clauses."""
        return [name for name in self.reading if not self._clauses[name].isdisjoint(clauses)]

    def __call__(self, case_id: str) -> str:
        """Return the outcome of a case; bytes that are refused, are so for the clause it names.

        Steps of writers are refused by the requested operation.
        """
        case = self._cases[case_id]
        self._session.scratch = Path(tempfile.gettempdir())
        result = self._worker.run(case)
        reject = result.checks[0].reject if result.checks else {}
        message = reject.get("message", "")
        named = case.kind in WRITING or any(f"[{clause}]" in message for clause in case.clauses)
        return OTHER_CLAUSE if reject and not named and result.outcome == "pass" else result.outcome


def runner(root: Path, ids: Iterable[str] | None) -> _Run:
    """Reimport the packages, whatever the parent has imported."""
    forget(root)
    return _Run(root, ids)


def forget(root: Path) -> None:
    """Remove the packages, so that they are reimported from a tree."""
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
        del sys.modules[name]
    sys.path[:0] = [str(root / "reference"), str(root / "conformance")]

"""Crash points: each operation is killed, or gets an error from its store, at each of its steps.

A child process runs an operation on a copy of a table. For every n, it is killed before its n-th
change of the file system, or that call raises. The table must then have the state before or after
the operation, with every older version, for the reference and for the oracle; an error must be one
of the file system, and have no effect; a retry must succeed; and a cleanup must leave exactly the
referenced files. Unreferenced files may remain after an error where their removal failed, where
they belong to an index that was not committed, or where the outcome of a commit is unknown.

In the cloud the table is on S3, or on S3 with its manifests recorded in DynamoDB. A step is a
change of the object store or of the manifest store: the n-th step and all later ones are skipped,
as after a crash, or the n-th fails. The requirements are those of local tables.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from unittest.mock import patch

import pylanceref
from lanceref.core.errors import LanceError, OperationRefused
from lanceref_testing.faults import Crash, Fault, faulty, watch_calls
from lanceref_testing.object_server import ObjectServer, running
from lanceref_testing.table_operations import (
    INDEXING,
    ON_METADATA,
    ON_ROWS,
    OPERATIONS,
    REMOVALS,
    build,
    cleanup,
)

from lance_conformance import oracle
from lance_conformance.campaigns.child import ChildResult, run_in_child
from lance_conformance.campaigns.faults.referenced_files import missing_files, unreferenced_files
from lance_conformance.campaigns.faults.workload import in_subprocess
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, outcome_of
from lance_conformance.guarded_call import guarded

TableState = dict[str, Any] | str | None
"""Visible state of a table, the text of an error, or None where there is no table.

Rows are texts in storage order; those of a branch are of its latest version.
"""


def reference_state(path: str) -> TableState:
    """Return the state of a table according to the reference."""
    return _read_state(pylanceref, path)


def oracle_state(path: str) -> TableState:
    """Return the state of a table according to the oracle, from a subprocess: this one forks."""
    state = in_subprocess(_oracle_state, path, dict(os.environ))
    return "; ".join(state) if isinstance(state, list) else state


def _oracle_state(path: str, environment: dict[str, str]) -> TableState:
    os.environ.update(environment)  # has the address of the server
    return _read_state(oracle.lance(), path)


def _read_state(module: ModuleType, path: str) -> TableState:
    try:
        table = module.dataset(path)
    except (OSError, ValueError, LanceError) as error:
        is_missing = isinstance(error, ValueError) and "not found" in str(error)
        return None if is_missing else f"{type(error).__name__}: {error}"
    try:
        numbers = [one["version"] for one in table.versions()]
        branches = sorted(table.branches.list())
        return {
            "rows": _rows(table),
            "ids": table.to_table(columns=[], with_row_id=True)["_rowid"].to_pylist(),
            "fields": [str(one) for one in table.schema],
            "config": dict(sorted(table.config().items())),
            "tags": {name: tag["version"] for name, tag in sorted(table.tags.list().items())},
            "branches": {name: _rows(table.checkout_version((name, None))) for name in branches},
            "history": {str(number): _rows(module.dataset(path, number)) for number in numbers},
        }
    except (OSError, ValueError, LanceError) as error:
        return f"{type(error).__name__}: {error}"


def _rows(table: Any) -> list[str]:
    return [str(row) for row in table.to_table().to_pylist()]


FAULTS: Mapping[str, Literal["kill", "crash", "error"]] = {
    "killed": "kill",
    "crashed": "crash",
    "refused": "error",
}
"""Faults before a step, by their names in cases."""


class TestTable:
    """A table on local files, which is restored before every trial."""

    def __init__(self, folder: Path, *, new: bool) -> None:
        self.path, self._original = folder / "table", folder / "original"
        self.uri = str(self.path)
        build(pylanceref, self.uri, stable=new, v2_names=new)
        shutil.copytree(self.path, self._original)

    def restore(self, operation: str) -> None:
        """Restore the table, or remove it before the operation `create`."""
        shutil.rmtree(self.path, ignore_errors=True)
        if operation != "create":
            shutil.copytree(self._original, self.path)

    def steps(self, operation: str) -> list[str]:
        """Return the calls by which an operation without a fault changes the store."""
        self.restore(operation)
        fault = Fault()
        child = run_in_child(lambda: self._run(operation, fault) + fault.steps)
        assert child.result is not None, child.stderr
        return [step.replace(f"{self.path}/", "") for step in child.result[1:]]

    def run_with_fault(self, operation: str, number: int, fault: str) -> ChildResult:
        """Run an operation in a child, with a fault at a step, counted from 1."""
        return run_in_child(lambda: self._run(operation, Fault(number, FAULTS[fault])))

    def _run(self, operation: str, fault: Fault) -> list[str]:
        watch_calls(fault, f"{self.path}/")
        return operation_error(operation, self.uri)

    def files(self, list_files: Callable[[Path, str], set[str]]) -> list[str]:
        """Return the result of `unreferenced_files` or `missing_files`."""
        return sorted(list_files(self.path, ""))


SCHEMES = ("s3", "s3+ddb")
"""Object store alone, and with an external manifest store."""

VARIABLES = (
    *("AWS_ENDPOINT", "DYNAMODB_ENDPOINT", "AWS_REGION", "AWS_ALLOW_HTTP"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
)
"""Environment variables that replace the options of the same names, except `allow_http`."""


class CloudTestTable(TestTable):
    """A table in the cloud; a crash of its stores simulates the end of its process."""

    def __init__(self, server: ObjectServer, scheme: str, *, stable: bool) -> None:
        self._server, self.uri = server, server.uri(scheme)
        build(pylanceref, self.uri, stable=stable)
        self._state = server.state(self.uri)

    def restore(self, operation: str) -> None:
        """Restore objects and records, or remove them before the operation `create`."""
        self._server.restore(self.uri, ({}, []) if operation == "create" else self._state)

    def steps(self, operation: str) -> list[str]:
        """Return the changes of the stores by an operation without a fault."""
        self.restore(operation)
        with faulty(Fault()) as fault:
            OPERATIONS[operation](pylanceref, self.uri)
        return fault.steps

    def run_with_fault(self, operation: str, number: int, fault: str) -> ChildResult:
        """Run an operation with a fault at a step of its stores."""
        try:
            with faulty(Fault(number, FAULTS[fault])):
                return ChildResult(operation_error(operation, self.uri), 0, "", 0.0, 0)
        except Crash:
            return ChildResult(None, 9, "", 0.0, 0)

    def files(self, list_files: Callable[[Path, str], set[str]]) -> list[str]:
        """Copy the objects to local files; return the result for the copy."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "table")
            root.mkdir()
            for path, data in self._server.state(self.uri)[0].items():
                copy = root / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(data)
            return sorted(list_files(root, self.uri))


def operation_error(operation: str, uri: str) -> list[str]:
    """Run an operation in this process, which a fault may kill; return its error."""
    return [guarded(lambda: OPERATIONS[operation](pylanceref, uri), (LanceError, OSError)).error]


def check_crash_points(table: TestTable, name: str, fault: str) -> Outcome:
    """Return the outcome of an operation with a fault at each of its steps in turn."""
    table.restore(name)
    before = reference_state(table.uri)
    OPERATIONS[name](pylanceref, table.uri)
    states, errors = (before, reference_state(table.uri)), list[str]()
    steps = table.steps(name)
    for number, step in enumerate(steps, 1):
        table.restore(name)
        child = table.run_with_fault(name, number, fault)
        messages = [*_table_errors(table, name, step, child, states)]
        errors += [f"{step}: {'; '.join(messages)}"] if messages else []
    return outcome_of(errors, {"points": len(steps)})


def _table_errors(
    table: TestTable, operation: str, step: str, child: ChildResult, states: tuple[TableState, ...]
) -> Iterator[str]:
    """Yield the errors of a table after an operation with a fault before a step.

    The `states` are those before and after an operation without a fault.
    """
    path, (before, after) = table.uri, states
    state = reference_state(path)
    yield from _state_errors(state, before, after)
    if child.result is None:
        if not child.signal:
            yield f"the process died without a signal: {child.stderr}"
    elif operation not in REMOVALS:
        error = child.result[0]
        if not _is_equal(state, before if error else after):
            yield f"it ended with {error or 'no error'}, which the table contradicts"
        may_remain = step.startswith(("os.remove", "delete")) or "_versions" in step
        remaining = table.files(unreferenced_files)
        if not (may_remain or all(one.startswith("_indices/") for one in remaining)):
            yield f"files after an error: {remaining}"
    oracle_view = oracle_state(path)
    if oracle_view != state:
        yield f"the oracle reads another state: {oracle_view}"
    if state is None or not _is_equal(state, after):  # a dropped table may have files
        _retry(path, operation)
        state = reference_state(path)
        if not _is_equal(state, after, "ids"):
            yield "a retry has another result"
    if state is not None:
        cleanup(pylanceref, path)
        if not _is_equal(reference_state(path), state):
            yield "the cleanup has changed the table"
    remaining, missing = table.files(unreferenced_files), table.files(missing_files)
    if remaining or missing:
        yield f"after the cleanup {remaining} remain, {missing} are missing"


def _retry(path: str, name: str) -> None:
    """Run an operation again, after a cleanup where a branch is incomplete."""
    try:
        OPERATIONS[name](pylanceref, path)
    except OperationRefused:
        cleanup(pylanceref, path)
        OPERATIONS[name](pylanceref, path)


def _state_errors(state: TableState, before: TableState, after: TableState) -> Iterator[str]:
    """Yield how a state is neither that before nor that after an operation."""
    if not any(_is_equal(state, expected) for expected in (before, after)):
        yield f"neither the old nor the new state: {state}"
    if not isinstance(state, dict) or not isinstance(before, dict):
        return
    known = before["history"] | (after["history"] if isinstance(after, dict) else {})
    for number, rows in state["history"].items():
        if number in known and rows != known[number]:
            yield f"version {number} has other rows"


def _is_equal(one: TableState, other: TableState, *ignored: str) -> bool:
    """Whether two states are equal but for their history and the `ignored` keys."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one == other
    names = one.keys() - {"history", *ignored}
    return all(one[name] == other[name] for name in names)


TABLES = {"addresses, V1 names": False, "stable ids, V2 names": True}
"""Local tables: whether they have stable row ids and V2 names."""

INTERRUPTED = [*(ON_ROWS | ON_METADATA | INDEXING)]
"""Operations with files that both implementations read."""


def _session(
    plan: Plan, names: Iterable[str], fault: str, make: Callable[[str], TestTable]
) -> Session:
    """Return the session of cases `TABLE/OPERATION, FAULT`; each table is made on first use.

    The faults are `fault` and `refused`.
    """
    tables = dict[str, TestTable]()
    pairs = [f"{name}, {one}" for name in INTERRUPTED for one in (fault, "refused")]
    cases = [f"{name}/{pair}" for name in names for pair in pairs]

    def run(case: str) -> Outcome:
        table, _, pair = case.rpartition("/")
        if table not in tables:
            tables[table] = make(table)
        operation, _, fault = pair.rpartition(", ")
        return check_crash_points(tables[table], operation, fault)

    return Session(plan.spread(cases), run)


def crash(plan: Plan) -> Iterator[Session]:
    """Open the part: local tables."""
    with tempfile.TemporaryDirectory() as folder:

        def make(table: str) -> TestTable:
            return TestTable(Path(tempfile.mkdtemp(dir=folder)), new=TABLES[table])

        yield _session(plan, TABLES, "killed", make)


def crash_cloud(plan: Plan) -> Iterator[Session]:
    """Open the part: tables in the cloud."""
    tables = product(SCHEMES, ("addresses", "stable ids"))
    with running() as server:
        options = {**server.options, "aws_allow_http": server.options["allow_http"]}

        def make(table: str) -> TestTable:
            scheme, _, ids = table.partition("/")
            return CloudTestTable(server, scheme, stable=ids == "stable ids")

        variables = {name: options[name.lower()] for name in VARIABLES}
        with patch.dict(os.environ, variables):  # for clients without options
            yield _session(plan, ("/".join(one) for one in tables), "crashed", make)


PARTS = (Part("crash", 1000, crash), Part("crash_cloud", 1000, crash_cloud))

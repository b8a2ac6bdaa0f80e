"""Crash points: every operation, ended or refused by its store before each of its steps.

A child process runs an operation on a copy of a table. Before its n-th change of the file system it
is killed, or the call raises, for every n there is. Each time the table must be what it was or what
it was to become, with every older version, for the reference and for the oracle; an error must be
one of the file system, and without effect; the operation can be done again; and a cleanup leaves
exactly the files that are needed. After an error files may stay that it was the error not to
remove, those of an index that was not committed, and those of a commit of which it is not known
whether it happened.

In the cloud the table lies on S3, or on S3 with its manifests told to DynamoDB. A step is a change
of the object store or of the manifest store: the n-th and all after it are not done, as if the
process had died, or the n-th fails. What must hold is what holds of a local table.
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
    ON_ROWS,
    ON_THE_REST,
    OPERATIONS,
    REMOVALS,
    build,
    cleanup,
)

from lance_conformance import oracle
from lance_conformance.campaigns.child import Ended, ask
from lance_conformance.campaigns.faults.deeds import apart
from lance_conformance.campaigns.faults.needed_files import missing, residue
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged
from lance_conformance.guarded_call import guarded

Seen = dict[str, Any] | str | None
"""What there is to see of a table, an error as a text, or None where there is no table.

Rows are texts, in their order; of a branch those of its latest version.
"""


def own_sight(path: str) -> Seen:
    """Return what the reference sees."""
    return _seen(pylanceref, path)


def oracle_sight(path: str) -> Seen:
    """Return what the oracle sees, in a process of its own: this one has to be forked."""
    found = apart(_oracle_sight, path, dict(os.environ))
    return "; ".join(found) if isinstance(found, list) else found


def _oracle_sight(path: str, environment: dict[str, str]) -> Seen:
    os.environ.update(environment)  # by which clients find a server
    return _seen(oracle.lance(), path)


def _seen(engine: ModuleType, path: str) -> Seen:
    try:
        table = engine.dataset(path)
    except (OSError, ValueError, LanceError) as error:
        is_none = isinstance(error, ValueError) and "not found" in str(error)
        return None if is_none else f"{type(error).__name__}: {error}"
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
            "history": {str(number): _rows(engine.dataset(path, number)) for number in numbers},
        }
    except (OSError, ValueError, LanceError) as error:
        return f"{type(error).__name__}: {error}"


def _rows(table: Any) -> list[str]:
    return [str(row) for row in table.to_table().to_pylist()]


FATES: Mapping[str, Literal["kill", "crash", "error"]] = {
    "killed": "kill",
    "crashed": "crash",
    "refused": "error",
}
"""What befalls the operation before a step."""


class Ground:
    """A table of the local file system, put back as it was before every trial."""

    def __init__(self, folder: Path, *, new: bool) -> None:
        self.path, self._kept = folder / "table", folder / "kept"
        self.uri = str(self.path)
        build(pylanceref, self.uri, stable=new, v2_names=new)
        shutil.copytree(self.path, self._kept)

    def put_back(self, operation: str) -> None:
        """Put the table back as it was: none for one that is to be created."""
        shutil.rmtree(self.path, ignore_errors=True)
        if operation != "create":
            shutil.copytree(self._kept, self.path)

    def steps(self, operation: str) -> list[str]:
        """Return the calls by which an operation that comes through changes the store."""
        self.put_back(operation)
        fault = Fault()
        ended = ask(lambda: self._try(operation, fault) + fault.steps)
        assert ended.answer is not None, ended.told
        return [step.replace(f"{self.path}/", "") for step in ended.answer[1:]]

    def attempt(self, operation: str, number: int, fate: str) -> Ended:
        """Do an operation that meets its fate at a step, from 1, in a child."""
        return ask(lambda: self._try(operation, Fault(number, FATES[fate])))

    def _try(self, operation: str, fault: Fault) -> list[str]:
        watch_calls(fault, f"{self.path}/")
        return attempted(operation, self.uri)

    def files(self, told: Callable[[Path, str], set[str]]) -> list[str]:
        """Return what `residue` or `missing` tells of the files of the table."""
        return sorted(told(self.path, ""))


SCHEMES = ("s3", "s3+ddb")
"""Object store alone, and with an external manifest store."""

VARIABLES = (
    *("AWS_ENDPOINT", "DYNAMODB_ENDPOINT", "AWS_REGION", "AWS_ALLOW_HTTP"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
)
"""Variables of the environment that stand for options of their name, but for `allow_http`."""


class CloudGround(Ground):
    """A table in the cloud; a crash of its stores is the end of its process."""

    def __init__(self, server: ObjectServer, scheme: str, *, stable: bool) -> None:
        self._server, self.uri = server, server.uri(scheme)
        build(pylanceref, self.uri, stable=stable)
        self._state = server.state(self.uri)

    def put_back(self, operation: str) -> None:
        """Put objects and records back: none for a table that is to be created."""
        self._server.restore(self.uri, ({}, []) if operation == "create" else self._state)

    def steps(self, operation: str) -> list[str]:
        """Return the changes of the stores that an operation makes."""
        self.put_back(operation)
        with faulty(Fault()) as fault:
            OPERATIONS[operation](pylanceref, self.uri)
        return fault.steps

    def attempt(self, operation: str, number: int, fate: str) -> Ended:
        """Do an operation that meets its fate at a step of its stores."""
        try:
            with faulty(Fault(number, FATES[fate])):
                return Ended(attempted(operation, self.uri), 0, "", 0.0, 0)
        except Crash:
            return Ended(None, 9, "", 0.0, 0)

    def files(self, told: Callable[[Path, str], set[str]]) -> list[str]:
        """Copy the objects, and judge the copies."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "table")
            root.mkdir()
            for path, data in self._server.state(self.uri)[0].items():
                copy = root / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(data)
            return sorted(told(root, self.uri))


def attempted(operation: str, uri: str) -> list[str]:
    """Do an operation in this process, which a step of it may end; return its error."""
    return [guarded(lambda: OPERATIONS[operation](pylanceref, uri), (LanceError, OSError)).error]


def judged_points(ground: Ground, name: str, fate: str) -> Outcome:
    """Return the outcome of an operation that meets its fate at each of its steps."""
    ground.put_back(name)
    before = own_sight(ground.uri)
    OPERATIONS[name](pylanceref, ground.uri)
    after = own_sight(ground.uri)
    steps, wrong = ground.steps(name), []
    for number, step in enumerate(steps, 1):
        ground.put_back(name)
        ended = ground.attempt(name, number, fate)
        faults = [*_faults(ground, name, step, ended, before, after)]
        wrong += [f"{step}: {'; '.join(faults)}"] if faults else []
    return judged(wrong, counts={"points": len(steps)})


def _faults(
    ground: Ground, operation: str, step: str, ended: Ended, before: Seen, after: Seen
) -> Iterator[str]:
    """Yield what is wrong with a table after an operation that ended early, before a step."""
    path = ground.uri
    found = own_sight(path)
    yield from _strange(found, before, after)
    if ended.answer is None:
        if not ended.signal:
            yield f"the process died otherwise: {ended.told}"
    elif operation not in REMOVALS:
        error = ended.answer[0]
        if not _same(found, before if error else after):
            yield f"it ended with {error or 'no error'}, and the table says otherwise"
        may_stay = step.startswith(("os.remove", "delete")) or "_versions" in step
        left = [one for one in ground.files(residue) if not one.startswith("_indices/")]
        if left and not may_stay:
            yield f"an error left {left}"
    theirs = oracle_sight(path)
    if theirs != found:
        yield f"the oracle sees something else: {theirs}"
    if found is None or not _same(found, after):  # what is gone may have left files
        _again(path, operation)
        found = own_sight(path)
        if not _same(found, after, "ids"):
            yield "done again it has another result"
    if found is not None:
        cleanup(pylanceref, path)
        if not _same(own_sight(path), found):
            yield "the cleanup has changed the table"
    left, lacking = ground.files(residue), ground.files(missing)
    if left or lacking:
        yield f"the cleanup leaves {left}, lacks {lacking}"


def _again(path: str, name: str) -> None:
    """Do an operation once more; where a branch was half made, after a cleanup."""
    try:
        OPERATIONS[name](pylanceref, path)
    except OperationRefused:
        cleanup(pylanceref, path)
        OPERATIONS[name](pylanceref, path)


def _strange(found: Seen, before: Seen, after: Seen) -> Iterator[str]:
    """Yield what makes a table neither the old nor the new one."""
    if not any(_same(found, wanted) for wanted in (before, after)):
        yield f"neither the old nor the new table: {found}"
    if not isinstance(found, dict) or not isinstance(before, dict):
        return
    known = before["history"] | (after["history"] if isinstance(after, dict) else {})
    for number, rows in found["history"].items():
        if number in known and rows != known[number]:
            yield f"version {number} has other rows"


def _same(one: Seen, other: Seen, *ignored: str) -> bool:
    """Whether two sights show the same but for versions, and what else is `ignored`."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one == other
    names = one.keys() - {"history", *ignored}
    return all(one[name] == other[name] for name in names)


TABLES = {"addresses, V1 names": False, "stable ids, V2 names": True}
"""Local tables by whether they are of the new kind."""

INTERRUPTED = [*(ON_ROWS | ON_THE_REST | INDEXING)]
"""Operations whose files both implementations read."""


def _session(
    plan: Plan, tables: Iterable[str], ends: str, make: Callable[[str], Ground]
) -> Session:
    """Return the session of `TABLE/OPERATION, FATE`; each table is made when it is first needed.

    A fate is how the process `ends`, or to be refused; cases are spread over what is planned.
    """
    grounds = dict[str, Ground]()
    fates = (ends, "refused")
    names = [
        f"{table}/{name}, {fate}" for table in tables for name in INTERRUPTED for fate in fates
    ]

    def run(case: str) -> Outcome:
        table, _, told = case.rpartition("/")
        if table not in grounds:
            grounds[table] = make(table)
        name, _, fate = told.rpartition(", ")
        return judged_points(grounds[table], name, fate)

    return Session(plan.spread(names), run)


def crash(plan: Plan) -> Iterator[Session]:
    """Open the part: local tables."""
    with tempfile.TemporaryDirectory() as folder:

        def make(table: str) -> Ground:
            return Ground(Path(tempfile.mkdtemp(dir=folder)), new=TABLES[table])

        yield _session(plan, TABLES, "killed", make)


def crash_cloud(plan: Plan) -> Iterator[Session]:
    """Open the part: tables in the cloud."""
    tables = product(SCHEMES, ("addresses", "stable ids"))
    with running() as server:
        options = {**server.options, "aws_allow_http": server.options["allow_http"]}

        def make(table: str) -> Ground:
            scheme, _, ids = table.partition("/")
            return CloudGround(server, scheme, stable=ids == "stable ids")

        variables = {name: options[name.lower()] for name in VARIABLES}
        with patch.dict(os.environ, variables):  # by which clients without options find it
            yield _session(plan, ("/".join(one) for one in tables), "crashed", make)


PARTS = (Part("crash", 1000, crash), Part("crash_cloud", 1000, crash_cloud))

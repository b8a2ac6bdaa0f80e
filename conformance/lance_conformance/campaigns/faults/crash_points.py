"""Crash points: every operation, ended or refused by the file system before each of its steps.

A child process runs an operation on a copy of a table. Before its n-th change of the file system it
is killed, or the call raises, for every n there is. Each time the table must be what it was or what
it was to become, with every older version, for the reference and for the oracle; an error must be
one of the file system, and without effect; the operation can be done again; and a cleanup leaves
exactly the files that are needed. After an error files may stay that it was the error not to
remove, and those of a commit of which it is not known whether it happened.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import pylanceref
from lanceref.core.errors import LanceError, OperationRefused
from lanceref_testing.faults import Fault, watch_calls

from lance_conformance import oracle
from lance_conformance.campaigns.child import Ended, ask
from lance_conformance.campaigns.faults.operations import OPERATIONS, REMOVALS, build, cleanup
from lance_conformance.campaigns.faults.residue import missing, residue
from lance_conformance.campaigns.faults.sight import OracleEye, Seen, own_sight
from lance_conformance.campaigns.runner import Outcome, Plan, Session, judged

FATES: dict[str, Literal["kill", "error"]] = {"killed": "kill", "refused": "error"}
"""What befalls the operation before a step."""


@dataclass(slots=True)
class Point:
    """An operation that did not get to its end: where, and what was wrong afterwards."""

    operation: str
    fate: str
    step: str
    faults: list[str] = field(default_factory=list)


class Field(Protocol):
    """Where trials are made: a table, and what ends operations on it early."""

    uri: str

    def put_back(self, operation: str) -> None:
        """Put the table back as it was: none for one that is to be created."""

    def steps(self, operation: str) -> list[str]:
        """Return the steps of an operation that comes through."""

    def attempt(self, operation: str, number: int, fate: str) -> Ended:
        """Do an operation that meets its fate at a step, from 1."""

    def residue(self) -> set[str]:
        """Return the files that nothing needs."""

    def missing(self) -> set[str]:
        """Return the files that a version needs and that are not there."""


class Ground:
    """A table of the local file system, put back as it was before every trial."""

    def __init__(self, folder: Path, *, by_oracle: bool, stable: bool, v2_names: bool) -> None:
        self.path = folder / "table"
        self._kept = folder / "kept"
        engine = oracle.lance() if by_oracle else pylanceref
        self.uri = str(self.path)
        build(engine, self.uri, stable=stable, v2_names=v2_names)
        shutil.copytree(self.path, self._kept)

    def put_back(self, operation: str) -> None:
        """Put the table back: none for one that is to be created."""
        shutil.rmtree(self.path, ignore_errors=True)
        if operation != "create":
            shutil.copytree(self._kept, self.path)

    def steps(self, operation: str) -> list[str]:
        """Return the calls by which an operation changes the file system."""
        self.put_back(operation)
        fault = Fault()
        ended = ask(lambda: self._try(operation, fault) + fault.steps)
        assert ended.answer is not None, ended.told
        return [step.replace(f"{self.path}/", "") for step in ended.answer[1:]]

    def attempt(self, operation: str, number: int, fate: str) -> Ended:
        """Do an operation in a child, which may be killed."""
        return ask(lambda: self._try(operation, Fault(number, FATES[fate])))

    def _try(self, operation: str, fault: Fault) -> list[str]:
        watch_calls(fault, f"{self.path}/")
        return attempted(operation, self.uri)

    def residue(self) -> set[str]:
        """Return the files that nothing needs."""
        return residue(self.path)

    def missing(self) -> set[str]:
        """Return the files that a version needs and that are not there."""
        return missing(self.path)


def attempted(operation: str, uri: str) -> list[str]:
    """Do an operation in this process, which a step of it may end; return its error."""
    try:
        OPERATIONS[operation](uri)
    except (LanceError, OSError) as error:
        return [type(error).__name__]
    return [""]


def points(ground: Field, name: str, fate: str, eye: OracleEye | None) -> Iterator[Point]:
    """Yield every point at which an operation can end."""
    ground.put_back(name)
    before = own_sight(ground.uri)
    OPERATIONS[name](ground.uri)
    after = own_sight(ground.uri)
    for number, step in enumerate(ground.steps(name), 1):
        ground.put_back(name)
        ended = ground.attempt(name, number, fate)
        point = Point(name, fate, step)
        point.faults.extend(_faults(ground, point, ended, (before, after), eye))
        yield point


def _faults(
    ground: Field,
    point: Point,
    ended: Ended,
    sights: tuple[Seen, Seen],
    eye: OracleEye | None,
) -> Iterator[str]:
    """Yield what is wrong with a table after an operation that ended early."""
    before, after = sights
    path = ground.uri
    found = own_sight(path)
    yield from _strange(found, before, after)
    if ended.answer is not None:
        yield from _after_error(ground, point, ended.answer[0], found, sights)
    elif not ended.signal:
        yield f"the process died otherwise: {ended.told}"
    if eye is not None and eye.look(path) != found:
        yield f"the oracle sees something else: {eye.look(path)}"
    if found is None or not _same(found, after):  # what is gone may have left files
        _again(path, point.operation)
        found = own_sight(path)
        if not _same(found, after, "ids"):
            yield "done again it has another result"
    if found is not None:
        cleanup(path)
        if not _same(own_sight(path), found):
            yield "the cleanup has changed the table"
    left, lacking = sorted(ground.residue()), sorted(ground.missing())
    if left or lacking:
        yield f"the cleanup leaves {left}, lacks {lacking}"


def _after_error(
    ground: Field,
    point: Point,
    error: str,
    found: Seen,
    sights: tuple[Seen, Seen],
) -> Iterator[str]:
    """Yield what is wrong after an operation that came back, with an error or without."""
    before, after = sights
    if point.operation in REMOVALS:
        return
    if not _same(found, before if error else after):
        yield f"it ended with {error or 'no error'}, and the table says otherwise"
    may_stay = point.step.startswith(("os.remove", "delete")) or "_versions" in point.step
    left = sorted(ground.residue())
    if left and not may_stay:
        yield f"an error left {left}"


def _again(path: str, name: str) -> None:
    """Do an operation once more; where a branch was half made, after a cleanup."""
    try:
        OPERATIONS[name](path)
    except OperationRefused:
        cleanup(path)
        OPERATIONS[name](path)


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
    return all(one[name] == other[name] for name in names)  # type: ignore[literal-required]


def judged_points(ground: Field, name: str, fate: str, eye: OracleEye) -> Outcome:
    """Return the outcome of an operation that meets its fate at each of its steps."""
    found = list(points(ground, name, fate, eye))
    wrong = [f"{point.step}: {'; '.join(point.faults)}" for point in found if point.faults]
    return judged(wrong, counts={"points": len(found)})


TABLES = {"addresses, V1 names": False, "stable ids, V2 names": True}
"""Tables by whether they are of the new kind."""


@contextmanager
def crash(plan: Plan) -> Iterator[Session]:
    """Open the part: as many operations and fates as are planned, evenly spread."""
    names = [f"{table}/{name}, {fate}" for table in TABLES for name in OPERATIONS for fate in FATES]

    with tempfile.TemporaryDirectory() as folder, OracleEye() as eye:
        grounds = dict[str, Ground]()

        def run(case: str) -> Outcome:
            table, _, told = case.partition("/")
            if table not in grounds:
                place, new = Path(folder, str(len(grounds))), TABLES[table]
                place.mkdir()
                grounds[table] = Ground(place, by_oracle=False, stable=new, v2_names=new)
            name, _, fate = told.rpartition(", ")
            return judged_points(grounds[table], name, fate, eye)

        yield Session(names[:: max(1, len(names) // plan.count)], run)

"""Crash points: every operation, ended or refused by the file system before each of its steps.

A child process runs an operation on a copy of a table. Before its n-th change of the file system it
is killed, or the call raises, for every n there is. Each time the table must be what it was or what
it was to become, with every older version, for the reference and for the oracle; an error must be
one of the file system, and without effect; the operation can be done again; and a cleanup leaves
exactly the files that are needed. After an error files may stay that it was the error not to
remove, and those of a commit of which it is not known whether it happened.

Run as `python -m lance_conformance.campaigns.safety.crash_points`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import lanceref
from lanceref.errors import LanceError, RefRefused
from lanceref.testing.faults import Fault, watch_calls

from lance_conformance import oracle
from lance_conformance.campaigns.child import Ended, ask
from lance_conformance.campaigns.safety.operations import OPERATIONS, REMOVALS, build, cleanup
from lance_conformance.campaigns.safety.residue import missing, residue
from lance_conformance.campaigns.safety.sight import OracleEye, Seen, own_sight

FATES: dict[str, Literal["kill", "error"]] = {"killed": "kill", "refused": "error"}
"""What befalls the operation before a step."""


@dataclass(slots=True)
class Point:
    """An operation that did not get to its end: where, and what was wrong afterwards."""

    operation: str
    fate: str
    step: str
    faults: list[str] = field(default_factory=list)


class Ground:
    """A table, put back as it was before every trial."""

    def __init__(self, folder: Path, *, by_oracle: bool, stable: bool, v2_names: bool) -> None:
        self.path = folder / "table"
        self._kept = folder / "kept"
        engine = oracle.lance() if by_oracle else lanceref
        build(engine, self.path, stable=stable, v2_names=v2_names)
        shutil.copytree(self.path, self._kept)

    def put_back(self, operation: str) -> None:
        """Put the table back: none for one that is to be created."""
        shutil.rmtree(self.path, ignore_errors=True)
        if operation != "create":
            shutil.copytree(self._kept, self.path)


def points(ground: Ground, name: str, fate: str, eye: OracleEye | None) -> Iterator[Point]:
    """Yield every point at which an operation can end."""
    path = str(ground.path)
    ground.put_back(name)
    before = own_sight(path)
    OPERATIONS[name](path)
    after = own_sight(path)
    for number, step in enumerate(_steps(ground, name), 1):
        ground.put_back(name)
        fault = Fault(number, FATES[fate])
        ended = ask(lambda fault=fault: _attempt(ground.path, name, fault))  # type: ignore[misc]
        point = Point(name, fate, step)
        point.faults.extend(_faults(ground.path, point, ended, (before, after), eye))
        yield point


def _steps(ground: Ground, name: str) -> list[str]:
    """Return the steps of an operation that comes through."""
    ground.put_back(name)
    fault = Fault()
    ended = ask(lambda: _attempt(ground.path, name, fault) + fault.steps)
    assert ended.answer is not None, ended.told
    return [step.replace(f"{ground.path}/", "") for step in ended.answer[1:]]


def _attempt(path: Path, name: str, fault: Fault) -> list[str]:
    """Run an operation in this process, which a step of it may end; return its error."""
    watch_calls(fault, f"{path}/")
    try:
        OPERATIONS[name](str(path))
    except (LanceError, OSError) as error:
        return [type(error).__name__]
    return [""]


def _faults(
    path: Path,
    point: Point,
    ended: Ended,
    sights: tuple[Seen, Seen],
    eye: OracleEye | None,
) -> Iterator[str]:
    """Yield what is wrong with a table after an operation that ended early."""
    before, after = sights
    found = own_sight(str(path))
    yield from _strange(found, before, after)
    if ended.answer is not None:
        yield from _after_error(path, point, ended.answer[0], found, sights)
    elif not ended.signal:
        yield f"the process died otherwise: {ended.told}"
    if eye is not None and eye.look(str(path)) != found:
        yield f"the oracle sees something else: {eye.look(str(path))}"
    if found is None or not _same(found, after):  # what is gone may have left files
        _again(str(path), point.operation)
        found = own_sight(str(path))
        if not _same(found, after, "ids"):
            yield "done again it has another result"
    if found is not None:
        cleanup(str(path))
        if not _same(own_sight(str(path)), found):
            yield "the cleanup has changed the table"
    if residue(path) or missing(path):
        yield f"the cleanup leaves {sorted(residue(path))}, lacks {sorted(missing(path))}"


def _after_error(
    path: Path,
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
    may_stay = point.step.startswith("os.remove") or "_versions" in point.step
    if residue(path) and not may_stay:
        yield f"an error left {sorted(residue(path))}"


def _again(path: str, name: str) -> None:
    """Do an operation once more; where a branch was half made, after a cleanup."""
    try:
        OPERATIONS[name](path)
    except RefRefused:
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


def main() -> int:
    """Print every point with a fault, and how many there are; 1 when there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("operations", nargs="*", metavar="OPERATION")
    parser.add_argument("--without-oracle", action="store_true")
    arguments = parser.parse_args()
    names = arguments.operations or list(OPERATIONS)
    bad = total = 0
    with nullcontext() if arguments.without_oracle else OracleEye() as eye:
        for ground in _grounds():
            for name in names:
                for fate in FATES:
                    found = list(points(ground, name, fate, eye))
                    wrong = [point for point in found if point.faults]
                    print(f"{name}, {fate}: {len(found)} points, {len(wrong)} faulty", flush=True)
                    for point in wrong:
                        print(f"  {point.step}: {'; '.join(point.faults)}")
                    bad, total = bad + len(wrong), total + len(found)
    print(f"{total} points, {bad} faulty")
    return int(bool(bad))


def _grounds() -> Iterator[Ground]:
    """Yield a table with row addresses and old names, and one with stable row ids and new ones."""
    for new in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            print("stable row ids, V2 names" if new else "row addresses, V1 names")
            yield Ground(Path(folder), by_oracle=False, stable=new, v2_names=new)


if __name__ == "__main__":
    sys.exit(main())

"""Crash points in the cloud: every operation, ended or refused before each step of its stores.

The table lies on S3, or on S3 with its manifests told to DynamoDB. A step is a change of the object
store or of the manifest store: the n-th and all after it are not done, as if the process had died,
or the n-th fails. What must hold is what holds of a local table (`crash_points`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pylanceref
from lanceref_testing.faults import Crash, Fault, faulty

from lance_conformance.campaigns.child import Ended
from lance_conformance.campaigns.faults.cloud import SCHEMES, Cloud, State, cloud
from lance_conformance.campaigns.faults.crash_points import attempted, judged_points
from lance_conformance.campaigns.faults.operations import OPERATIONS, build
from lance_conformance.campaigns.faults.residue import missing, residue
from lance_conformance.campaigns.faults.sight import OracleEye
from lance_conformance.campaigns.runner import Outcome, Plan, Session

FATES: dict[str, Literal["crash", "error"]] = {"crashed": "crash", "refused": "error"}
"""What befalls the operation before a step."""

ELSEWHERE = ("index entry",)
"""Operations that write files of their own to a local folder."""


class CloudGround:
    """A table in the cloud, put back as it was before every trial."""

    def __init__(self, server: Cloud, scheme: str, *, stable: bool) -> None:
        self._server = server
        self.uri = server.uri(scheme)
        self._objects_uri = "s3:" + self.uri.partition(":")[2].partition("?")[0]
        build(pylanceref, self.uri, stable=stable)
        self._kept = server.state(self._objects_uri)

    def put_back(self, operation: str) -> None:
        """Put objects and records back: none for a table that is to be created."""
        state: State = ({}, []) if operation == "create" else self._kept
        self._server.restore(self._objects_uri, state)

    def steps(self, operation: str) -> list[str]:
        """Return the changes of the stores that an operation makes."""
        self.put_back(operation)
        with faulty(Fault()) as fault:
            OPERATIONS[operation](self.uri)
        return fault.steps

    def attempt(self, operation: str, number: int, fate: str) -> Ended:
        """Do an operation; a crash of its stores is the end of its process."""
        try:
            with faulty(Fault(number, FATES[fate])):
                return Ended(attempted(operation, self.uri), 0, "", 0.0, 0)
        except Crash:
            return Ended(None, 9, "", 0.0, 0)

    def residue(self) -> set[str]:
        """Return the objects that nothing needs."""
        return self._held(residue)

    def missing(self) -> set[str]:
        """Return the objects that a version needs and that are not there."""
        return self._held(missing)

    def _held(self, told: Callable[[Path, str], set[str]]) -> set[str]:
        """Return what is reported of copies of the objects."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "table")
            root.mkdir()
            for path, data in self._server.state(self._objects_uri)[0].items():
                copy = root / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(data)
            return told(root, self.uri)


@contextmanager
def crash_cloud(plan: Plan) -> Iterator[Session]:
    """Open the part: as many operations and fates as are planned, evenly spread."""
    names = [
        f"{scheme}/{'stable ids' if stable else 'addresses'}/{name}, {fate}"
        for scheme in SCHEMES
        for stable in (False, True)
        for name in OPERATIONS
        if name not in ELSEWHERE
        for fate in FATES
    ]
    with cloud() as server, _environment(server), OracleEye() as eye:
        grounds = dict[str, CloudGround]()

        def run(case: str) -> Outcome:
            table, _, told = case.rpartition("/")
            scheme, _, ids = table.partition("/")
            if table not in grounds:
                grounds[table] = CloudGround(server, scheme, stable=ids == "stable ids")
            name, _, fate = told.rpartition(", ")
            return judged_points(grounds[table], name, fate, eye)

        yield Session(names[:: max(1, len(names) // plan.count)], run)


@contextmanager
def _environment(server: Cloud) -> Iterator[None]:
    """Set the variables by which clients find the server, and put back what they were."""
    before = dict(os.environ)
    os.environ.update(server.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)

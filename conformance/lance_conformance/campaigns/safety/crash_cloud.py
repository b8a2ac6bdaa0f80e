"""Crash points in the cloud: every operation, ended or refused before each step of its stores.

The table lies on S3, or on S3 with its manifests told to DynamoDB. A step is a change of the object
store or of the manifest store: the n-th and all after it are not done, as if the process had died,
or the n-th fails. What must hold is what holds of a local table (`crash_points`).

Run as `python -m lance_conformance.campaigns.safety.crash_cloud`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import pylanceref
from lanceref_testing.faults import Crash, Fault, faulty

from lance_conformance.campaigns.child import Ended
from lance_conformance.campaigns.safety.cloud import SCHEMES, Cloud, State, cloud
from lance_conformance.campaigns.safety.crash_points import attempted, judge
from lance_conformance.campaigns.safety.operations import OPERATIONS, build
from lance_conformance.campaigns.safety.residue import missing, residue
from lance_conformance.campaigns.safety.sight import OracleEye

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


def main() -> int:
    """Print every point with a fault, and how many there are; 1 when there is a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [name for name in OPERATIONS if name not in ELSEWHERE]
    parser.add_argument("operations", nargs="*", metavar="OPERATION")
    parser.add_argument("--on", action="append", choices=SCHEMES)
    parser.add_argument("--without-oracle", action="store_true")
    arguments = parser.parse_args()
    bad = total = 0
    with ExitStack() as stack:
        server = stack.enter_context(cloud())
        os.environ.update(server.environment)
        eye = None if arguments.without_oracle else stack.enter_context(OracleEye())
        for scheme in arguments.on or SCHEMES:
            for stable in (False, True):
                print(f"{scheme}, {'stable row ids' if stable else 'row addresses'}")
                ground = CloudGround(server, scheme, stable=stable)
                found, wrong = judge(ground, arguments.operations or names, FATES, eye)
                bad, total = bad + wrong, total + found
    print(f"{total} points, {bad} faulty")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())

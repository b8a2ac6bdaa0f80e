"""Conflict matrix: whether one commit can follow another, by the reference and by the oracle.

Each operation is staged on the same version of a small table, by the recipes of the cases. For each
ordered pair the reference commits the first operation, then both implementations commit the second
on copies: the verdicts must be equal, and after a commit rows and manifest too.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pylanceref
from lanceref.core.errors import CommitConflictError, LanceError
from lanceref_testing.table_facts import facts
from pylanceref.dataset import LanceDataset, dataset
from pylanceref.operation import LanceOperation as Op

from lance_conformance import oracle
from lance_conformance.campaigns.histories.lockstep import read_rows
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS
from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.cases.transactions.conflicts import STAGES, Stage
from lance_conformance.specification.known_divergences import find

COMMITTED, RETRY, CONFLICT, FAILED = ".", "R", "X", "E"
"""Verdicts of a commit."""

NAMES = {COMMITTED: "committed", RETRY: "retryable conflict", CONFLICT: "conflict", FAILED: "error"}
"""Names of the verdicts."""

BASE = 2
"""Version on which operations are staged."""

OVERLAYS = "LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"
"""Environment variable that enables overlays of the oracle."""


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict, and after a commit the rows and the facts of the manifest."""

    verdict: str
    rows: pa.Table | None = None
    manifest: tuple[object, ...] = ()


class Matrix:
    """Operations staged on version 2 of a table below `folder`."""

    def __init__(self, folder: Path, *, stable: bool) -> None:
        os.environ.setdefault(OVERLAYS, "1")  # before the oracle is imported
        self._folder, base = folder, folder / "base"
        (commits.stable_base if stable else commits.base)(str(base))
        self.operations = {name: stage(str(base)) for name, stage in {**STAGES, **MORE}.items()}
        for name, operation in self.operations.items():
            LanceDataset.commit(self._copy("base", f"after {name}"), operation, read_version=BASE)

    def compare(self, theirs: str, ours: str) -> Outcome:
        """Commit `ours` after `theirs` by each implementation, and compare the results."""
        arguments = {"operation": self.operations[ours], "read_version": BASE}
        expected = self._commit(theirs, partial(self._commit_by_oracle, ours), REFUSALS)
        result = self._commit(theirs, partial(LanceDataset.commit, **arguments), (LanceError,))
        counts = {f"reference: {NAMES[result.verdict]}": 1}
        if expected == result:
            return Outcome("agreed", (), counts)
        letters = {"oracle": expected.verdict, "reference": result.verdict}
        known = find("histories/conflicts", theirs=theirs, ours=ours, **letters)
        if known is not None:
            return Outcome("known", (known.id,), counts)
        verdicts = ", ".join(f"{name} {NAMES[letter]}" for name, letter in letters.items())
        return Outcome("differed", (f"{ours} over {theirs}: {verdicts}",), counts)

    def _commit_by_oracle(self, name: str, path: Path) -> None:
        """Commit an operation from the transaction that the reference wrote."""
        lance = oracle.lance()
        transaction = lance.dataset(str(self._folder / f"after {name}")).read_transaction(BASE + 1)
        lance.LanceDataset.commit(str(path), transaction.operation, read_version=BASE)

    def _commit(
        self, theirs: str, commit: Callable[[Path], object], errors: tuple[type[Exception], ...]
    ) -> Result:
        """Commit on a copy; `errors` are verdicts, any other error ends the campaign."""
        path = self._copy(f"after {theirs}", f"try_{uuid4().hex}")
        try:
            commit(path)
        except errors as error:
            if isinstance(error, CommitConflictError) or hasattr(error, "retryable"):
                return Result(RETRY if error.retryable else CONFLICT)
            return Result(FAILED)
        content = facts(dataset(path)._snapshot.manifest, str(path))
        manifest = content["manifest"], content["indices"]
        return Result(COMMITTED, read_rows(pylanceref, path), manifest)

    def _copy(self, source: str, name: str) -> Path:
        return Path(shutil.copytree(self._folder / source, self._folder / name))


def _preserving_nullability(stage: Stage) -> Stage:
    """Return the stage of an operation that preserves the nullability of all fields."""
    return lambda uri: replace(stage(uri), preserves_nullability=True)


def _overlay(number: int, name: str, *offsets: int) -> Stage:
    """Return the stage of an overlay of a column for some rows of a fragment."""

    def stage(uri: str) -> object:
        rows, slug = pa.table({name: [7] * len(offsets)}), f"overlay-{number}-{name}-{offsets[0]}"
        file = commits.data_file(uri, slug, rows, ["ab".index(name)])
        group = Op.DataOverlayGroup(number, [Op.DataOverlayFile(file, list(offsets))])
        return Op.DataOverlay([group])

    return stage


def _rewrite(number: int) -> Stage:
    """Return the stage of a rewrite of a fragment to an equal one, with its row ids."""

    def stage(uri: str) -> object:
        metadata = dataset(uri, version=BASE).get_fragments()[number].metadata
        return Op.Rewrite([Op.RewriteGroup([metadata], [replace(metadata, id=0)])], [])

    return stage


MORE: dict[str, Stage] = {
    "rewrite 0": _rewrite(0),
    "rewrite 1": _rewrite(1),
    "merge, kept": _preserving_nullability(STAGES["merge"]),
    "project, kept": _preserving_nullability(STAGES["project"]),
    "replaced config": lambda _: Op.UpdateConfig(config_updates=Op.UpdateMap({"z": "1"}, True)),
    "table key": lambda _: Op.UpdateConfig(table_metadata_updates=Op.UpdateMap({"k": "1"})),
    "field key": lambda _: Op.UpdateConfig(field_metadata_updates={1: Op.UpdateMap({"k": "1"})}),
    "overlay 0b": _overlay(0, "b", 1, 2),  # rows that are deleted and updated
    "overlay 0b, last": _overlay(0, "b", 2),
    "overlay 0a": _overlay(0, "a", 0, 2),
    "overlay 1b": _overlay(1, "b", 2),
}
"""Operations without cases, or without cases of stable row ids."""


TABLES = {"row addresses": False, "stable row ids": True}
"""Tables by whether their row ids are stable."""


def conflicts(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of ordered pairs of operations, evenly spread."""
    with tempfile.TemporaryDirectory(dir=plan.folder) as folder:
        matrices = {
            name: Matrix(Path(folder, str(stable)), stable=stable)
            for name, stable in TABLES.items()
        }
        pairs = {
            f"{table}/{ours} over {theirs}": partial(matrix.compare, theirs, ours)
            for table, matrix in matrices.items()
            for theirs in matrix.operations
            for ours in matrix.operations
        }
        yield Session(plan.spread([*pairs]), lambda name: pairs[name]())


PARTS = (Part("conflicts", 2000, conflicts),)

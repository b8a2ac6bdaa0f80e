"""Conflict matrix: whether one commit can follow another, asked of the reference and the oracle.

Each operation is staged on the same version of a small table, by the recipes of the cases. The one
of a row is committed by the reference, then that of a column by both, each on a copy of its own:
the verdicts must be the same, and where both commit so must rows and manifest.
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
from lance_conformance.campaigns.histories.lockstep import read
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS
from lance_conformance.known_divergences import find
from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.cases.transactions.conflicts import STAGES, Stage

STANDS, RETRY, NEVER, FAILED = ".", "R", "X", "E"
"""Verdicts of a commit."""

NAMES = {STANDS: "committed", RETRY: "to be tried again", NEVER: "conflict", FAILED: "error"}
"""Verdicts in words."""

BASE = 2
"""The version that operations are staged on."""

OVERLAYS = "LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"
"""Variable of the environment that lets the oracle write and read overlays."""


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict, and for a commit what the table then holds."""

    verdict: str
    rows: pa.Table | None = None
    told: tuple[object, ...] = ()


class Matrix:
    """The operations, staged on version 2 of a table below `folder`."""

    def __init__(self, folder: Path, *, stable: bool) -> None:
        os.environ.setdefault(OVERLAYS, "1")  # before the oracle is imported
        self._folder, base = folder, folder / "base"
        (commits.stable_base if stable else commits.base)(str(base))
        self.operations = {name: stage(str(base)) for name, stage in {**STAGES, **MORE}.items()}
        for name, operation in self.operations.items():
            LanceDataset.commit(self._copy("base", f"after {name}"), operation, read_version=BASE)

    def judged(self, theirs: str, ours: str) -> Outcome:
        """Commit `ours` over `theirs`, once by each: both commit the same, or refuse alike."""
        given = {"operation": self.operations[ours], "read_version": BASE}
        wanted = self._try(theirs, partial(self._by_oracle, ours), REFUSALS)
        found = self._try(theirs, partial(LanceDataset.commit, **given), (LanceError,))
        counts = {f"reference: {NAMES[found.verdict]}": 1}
        if wanted == found:
            return Outcome("agreed", (), counts)
        letters = {"oracle": wanted.verdict, "reference": found.verdict}
        known = find("histories/conflicts", theirs=theirs, ours=ours, **letters)
        if known is not None:
            return Outcome("known", (known.id,), counts)
        told = ", ".join(f"{who} {NAMES[letter]}" for who, letter in letters.items())
        return Outcome("differed", (f"{ours} over {theirs}: {told}",), counts)

    def _by_oracle(self, name: str, path: Path) -> None:
        """Commit an operation as the reference wrote it down."""
        lance = oracle.lance()
        transaction = lance.dataset(str(self._folder / f"after {name}")).read_transaction(BASE + 1)
        lance.LanceDataset.commit(str(path), transaction.operation, read_version=BASE)

    def _try(
        self, theirs: str, commit: Callable[[Path], object], raised: tuple[type[Exception], ...]
    ) -> Result:
        """Commit on a copy; any error that is not one of `raised` ends the campaign."""
        path = self._copy(f"after {theirs}", f"try_{uuid4().hex}")
        try:
            commit(path)
        except raised as error:
            if isinstance(error, CommitConflictError) or hasattr(error, "retryable"):
                return Result(RETRY if error.retryable else NEVER)
            return Result(FAILED)
        told = facts(dataset(path)._snapshot.manifest, str(path))
        return Result(STANDS, read(pylanceref, path), (told["manifest"], told["indices"]))

    def _copy(self, source: str, name: str) -> Path:
        return Path(shutil.copytree(self._folder / source, self._folder / name))


def _kept(stage: Stage) -> Stage:
    """Return the stage of an operation that leaves the nullability of all fields."""
    return lambda uri: replace(stage(uri), preserves_nullability=True)


def _overlaid(number: int, name: str, *offsets: int) -> Stage:
    """Return the stage of new values of a column for some rows of a fragment."""

    def stage(uri: str) -> object:
        values, slug = [7] * len(offsets), f"overlay-{number}-{name}-{offsets[0]}"
        file = commits.column_file(uri, name, values, "ab".index(name), slug)
        group = Op.DataOverlayGroup(number, [Op.DataOverlayFile(file, list(offsets))])
        return Op.DataOverlay([group])

    return stage


def _rewritten(number: int) -> Stage:
    """Return the stage of a fragment in place of itself, row ids and all."""

    def stage(uri: str) -> object:
        held = dataset(uri, version=BASE).get_fragments()[number].metadata
        return Op.Rewrite([Op.RewriteGroup([held], [replace(held, id=0)])], [])

    return stage


MORE: dict[str, Stage] = {
    "rewrite 0": _rewritten(0),
    "rewrite 1": _rewritten(1),
    "merge, kept": _kept(STAGES["merge"]),
    "project, kept": _kept(STAGES["project"]),
    "replaced config": lambda _: Op.UpdateConfig(config_updates=Op.UpdateMap({"z": "1"}, True)),
    "table key": lambda _: Op.UpdateConfig(table_metadata_updates=Op.UpdateMap({"k": "1"})),
    "field key": lambda _: Op.UpdateConfig(field_metadata_updates={1: Op.UpdateMap({"k": "1"})}),
    "overlay 0b": _overlaid(0, "b", 1, 2),  # rows that are deleted and updated
    "overlay 0b, last": _overlaid(0, "b", 2),
    "overlay 0a": _overlaid(0, "a", 0, 2),
    "overlay 1b": _overlaid(1, "b", 2),
}
"""Operations that have no cases, or not with stable row ids."""


TABLES = {"row addresses": False, "stable row ids": True}
"""Tables by whether their row ids are stable."""


def conflicts(plan: Plan) -> Iterator[Session]:
    """Open the part: as many ordered pairs of operations as are planned, evenly spread."""
    with tempfile.TemporaryDirectory(dir=plan.folder) as folder:
        matrices = {
            name: Matrix(Path(folder, str(stable)), stable=stable)
            for name, stable in TABLES.items()
        }
        pairs = {
            f"{table}/{ours} over {theirs}": partial(matrix.judged, theirs, ours)
            for table, matrix in matrices.items()
            for theirs in matrix.operations
            for ours in matrix.operations
        }
        yield Session(plan.spread([*pairs]), lambda name: pairs[name]())


PARTS = (Part("conflicts", 2000, conflicts),)

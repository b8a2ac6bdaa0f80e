"""Conflict matrix: whether one commit can follow another, asked of the reference and the oracle.

Each operation is staged on the same version of a small table. Then the one of a row is committed by
the oracle, and that of a column by both, each on a copy of its own: the verdicts must be the same,
and where both commit so must rows and fragments.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from lanceref.core.errors import CommitConflictError, LanceError
from pylanceref.dataset import LanceDataset, dataset

from lance_conformance import oracle
from lance_conformance.campaigns.guarded import REFUSALS
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.known_divergences import find

STANDS, RETRY, NEVER, FAILED = ".", "R", "X", "E"
"""Verdicts of a commit."""

NAMES = {STANDS: "committed", RETRY: "to be tried again", NEVER: "conflict", FAILED: "error"}
"""Verdicts in words."""

OVERLAYS = "LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"
"""Variable of the environment that lets the oracle write and read overlays."""


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict, and for a commit what the table then holds."""

    verdict: str
    rows: pa.Table | None = None
    fragments: tuple[object, ...] = ()


class Matrix:
    """The operations, staged on version 2 of a table below `folder`."""

    def __init__(self, folder: Path, *, stable: bool) -> None:
        os.environ.setdefault(OVERLAYS, "1")  # before the oracle is imported
        self._folder, base, lance = folder, folder / "base", oracle.lance()
        columns = {name: range(20) for name in "abc"}
        made = lance.write_dataset(
            pa.table(columns), str(base), max_rows_per_file=10, enable_stable_row_ids=stable
        )
        made.update_config({"x": "1"})
        self._version = int(made.version)
        self.operations = _staged(made, base)
        for name in self.operations:
            self._by_oracle(name, self._copy("base", f"after_{name}"))

    def judged(self, theirs: str, ours: str) -> Outcome:
        """Commit `ours` over `theirs`, once by each: both commit the same, or refuse alike."""
        wanted = self._try(theirs, ours, self._by_oracle, REFUSALS)
        found = self._try(theirs, ours, self._by_reference, (LanceError,))
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
        operation = self.operations[name]
        oracle.lance().LanceDataset.commit(str(path), operation, read_version=self._version)

    def _by_reference(self, name: str, path: Path) -> None:
        """Commit an operation as the oracle wrote it down."""
        transaction = dataset(self._folder / f"after_{name}").read_transaction(self._version + 1)
        assert transaction is not None  # the oracle writes it into every version
        LanceDataset.commit(path, transaction.operation, read_version=self._version)

    def _try(
        self,
        theirs: str,
        ours: str,
        commit: Callable[[str, Path], None],
        raised: tuple[type[Exception], ...],
    ) -> Result:
        """Commit on a copy; any error that is not one of `raised` ends the campaign."""
        path = self._copy(f"after_{theirs}", f"try_{uuid4().hex}")
        try:
            commit(ours, path)
        except raised as error:
            return Result(_verdict(error))
        found = dataset(path)
        return Result(STANDS, found.to_table(with_row_id=True), tuple(_fragments(found)))

    def _copy(self, source: str, name: str) -> Path:
        return Path(shutil.copytree(self._folder / source, self._folder / name))


def _verdict(error: Exception) -> str:
    if isinstance(error, CommitConflictError) or hasattr(error, "retryable"):
        return RETRY if error.retryable else NEVER
    return FAILED


def _fragments(found: LanceDataset) -> Iterator[object]:
    """Yield what must be the same of each fragment: all but the names of new files."""
    for fragment in found.get_fragments():
        held = fragment.metadata.to_json()
        for file in fragment.metadata.files:
            yield fragment.fragment_id, tuple(file.fields), tuple(file.column_indices)
        versions = ("row_id_meta", "created_at_version_meta", "last_updated_at_version_meta")
        yield tuple(str(held[name]) for name in versions)
        yield fragment.physical_rows, fragment.num_deletions


def _staged(made: LanceDataset, base: Path) -> dict[str, object]:
    """Return every operation by a short name, staged on a version of the table."""
    on_rows, on_columns = _on_rows(made, base), _on_columns(made, base)
    return {**on_rows, **on_columns, **_on_cells(base), **_on_settings()}


def _new(base: Path) -> list[object]:
    """Write one row for a later commit."""
    rows = pa.table({name: [1] for name in "abc"})
    return list(oracle.lance().fragment.write_fragments(rows, str(base), mode="append"))


def _on_rows(made: LanceDataset, base: Path) -> dict[str, object]:
    op, fragments = oracle.lance().LanceOperation, made.get_fragments()
    first, second = (one.metadata for one in fragments)
    schema = made.lance_schema.to_pyarrow()
    return {
        "Ap": op.Append(_new(base)),
        "Ow": op.Overwrite(schema, _new(base)),
        "D0": op.Delete([fragments[0].delete("a = 1")], [], "a = 1"),
        "D1": op.Delete([fragments[1].delete("a = 11")], [], "a = 11"),
        "DF0": op.Delete([], [0], "a < 10"),
        "U0": op.Update(
            updated_fragments=[fragments[0].delete("a = 2")],
            new_fragments=_new(base),
            fields_for_preserving_frag_bitmap=[0, 1, 2],
            update_mode="rewrite_rows",
        ),
        "W0": op.Rewrite([op.RewriteGroup([first], [replace(first, id=0)])], []),
        "W1": op.Rewrite([op.RewriteGroup([second], [replace(second, id=0)])], []),
        "Rs": op.Restore(1),
    }


def _on_columns(made: LanceDataset, base: Path) -> dict[str, object]:
    op, fragments = oracle.lance().LanceOperation, made.get_fragments()
    kept = pa.schema({"a": pa.int64(), "b": pa.int64()})
    narrow = import_module("lance.schema").LanceSchema.from_pyarrow(kept)
    columns = pa.table({"a": range(10), "c": range(10)})
    updated, fields, *_ = fragments[0].update_columns(columns, left_on="a")
    merged = [one.merge_columns({"d": "a + 1"}) for one in fragments]

    def replaced(number: int, name: str, field: int) -> object:
        file = _column_file(base, name, field)
        return op.DataReplacement([op.DataReplacementGroup(number, file)])

    def index(name: str, field: int) -> object:
        entry = import_module("lance.dataset").Index(str(uuid4()), name, [field], 2, {0, 1}, 0)
        return op.CreateIndex([entry], [])

    return {
        "C0c": op.Update(
            updated_fragments=[updated], fields_modified=fields, update_mode="rewrite_columns"
        ),
        "Me": op.Merge([fragment for fragment, _ in merged], merged[0][1]),
        "MeN": op.Merge([fragment for fragment, _ in merged], merged[0][1], True),
        "Pr": op.Project(narrow),
        "PrN": op.Project(narrow, True),
        "R0c": replaced(0, "c", 2),
        "R1c": replaced(1, "c", 2),
        "R0b": replaced(0, "b", 1),
        "Ix": index("i1", 2),
        "Iy": index("i2", 0),
    }


def _on_cells(base: Path) -> dict[str, object]:
    """Return overlays: new values of a column for some rows of a fragment."""
    op = oracle.lance().LanceOperation

    def overlaid(number: int, name: str, field: int, offsets: list[int]) -> object:
        file = _column_file(base, name, field, len(offsets))
        group = op.DataOverlayGroup(number, [op.DataOverlayFile(file, offsets)])
        return op.DataOverlay([group])

    return {
        "V0c": overlaid(0, "c", 2, [1, 5]),  # a row that D0 takes out
        "V0d": overlaid(0, "c", 2, [5, 6]),
        "V0b": overlaid(0, "b", 1, [2, 5]),  # a row that U0 moves
        "V1c": overlaid(1, "c", 2, [5]),
    }


def _on_settings() -> dict[str, object]:
    op = oracle.lance().LanceOperation

    def edit(**maps: dict[str, str]) -> object:
        edits = {f"{name}_updates": op.UpdateMap(values) for name, values in maps.items()}
        return op.UpdateConfig(**edits)

    return {
        "CfK": edit(config={"K": "1"}),
        "CfL": edit(config={"L": "1"}),
        "CfR": op.UpdateConfig(config_updates=op.UpdateMap({"Z": "1"}, True)),
        "TmK": edit(table_metadata={"K": "1"}),
        "SmK": edit(schema_metadata={"K": "1"}),
        "FmK": op.UpdateConfig(field_metadata_updates={2: op.UpdateMap({"K": "1"})}),
    }


def _column_file(base: Path, name: str, field: int, rows: int = 10) -> object:
    """Write a column of so many rows and return how a manifest lists it."""
    path = f"{uuid4().hex}.lance"
    schema = pa.schema({name: pa.int64()})
    with oracle.lance_file().LanceFileWriter(str(base / "data" / path), schema) as writer:
        writer.write_batch(pa.table({name: range(rows)}))
    return oracle.lance().fragment.DataFile(path, [field], [0], 2, 2)


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

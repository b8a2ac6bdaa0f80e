"""Lockstep: the reference and the oracle run the same operations on two tables.

A line is an expression that either implementation can evaluate: `lance` is its module, `root` the
folder. One implementation evaluates it for the left table, the other for the right one; `crossed`
exchanges them, so that each continues tables that the other has written. Both implementations must
then read the same from both tables.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pylanceref
from lanceref_testing.table_facts import differences, facts, normalize
from pylanceref.dataset import LanceDataset

from lance_conformance import oracle
from lance_conformance.campaigns.histories.index_queries import query_differences
from lance_conformance.campaigns.histories.values import LINE_FUNCTIONS
from lance_conformance.campaigns.histories.view import list_views
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.guarded_call import CallResult, guarded

SYSTEM = ("_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version")
"""System columns of every table."""


def state_facts(dataset: LanceDataset, root: str) -> Mapping[str, object]:
    """Return the comparable facts of the manifest, transaction, tags and branches of a table.

    Paths below `root` become relative to it.
    """
    references = {
        "versions": [one["version"] for one in dataset.version_refs()],
        "tags": dataset.tags.list(),
        "branches": dataset.branches.list(),
    }
    normalized = {name: normalize(one, root) for name, one in references.items()}
    return normalized | facts(dataset._snapshot.manifest, root)


def result_facts(value: object, root: str) -> object:
    """Return the comparable facts of the result of an operation."""
    if isinstance(value, str | int | Mapping | list | tuple):
        return normalize(value, root)
    counts = ("fragments_removed", "fragments_added", "files_removed", "files_added")
    return {name: getattr(value, name) for name in counts if hasattr(value, name)}


def read_rows(module: ModuleType, path: Path) -> pa.Table:
    """Read all rows with all system columns, by either implementation."""
    dataset = module.dataset(str(path))
    return dataset.to_table(columns=[*dataset.schema.names, *SYSTEM])


@dataclass(frozen=True, slots=True)
class Line:
    """An expression, and the name of its operation; the oracle runs a `crossed` line on the right.

    A line that is not crossed runs by the oracle on the left table.
    """

    text: str
    crossed: bool = False
    name: str = ""


@dataclass(slots=True)
class Step:
    """The result of a line: the errors of oracle and reference, and the differences of tables."""

    line: Line
    errors: tuple[str, str] = ("", "")
    differences: list[str] = field(default_factory=list)


class Lockstep:
    """Two tables below `folder`, in `left` and `right`."""

    def __init__(self, folder: Path) -> None:
        self.roots = [folder / "left", folder / "right"]
        for root in self.roots:
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(parents=True)
        self._files: dict[Path, int] = {}

    def run(self, line: Line) -> Step:
        """Evaluate a line by both implementations, and compare the tables."""
        theirs, ours = reversed(self.roots) if line.crossed else self.roots
        expected = _evaluate(line.text, oracle.lance(), theirs)
        result = _evaluate(line.text, pylanceref, ours)
        step = Step(line, (expected.error, result.error))
        if bool(expected.error) != bool(result.error):
            name = "oracle" if expected.error else "reference"
            step.differences.append(f"refused by the {name}: {expected.error or result.error}")
            return step
        step.differences.extend(differences(expected.value, result.value, "result"))
        comparison = guarded(lambda: step.differences.extend(self._differences(line.text)))
        if comparison.error:
            step.differences.append(f"cannot be read: {comparison.error}")
        return step

    def _differences(self, seed: str) -> Iterator[str]:
        left, right = ({one.name: one for one in list_views(root)} for root in self.roots)
        yield from differences(sorted(left), sorted(right), "tables")
        changed = self._changed_folders()
        for name in sorted({*left} & {*right}):
            if not any(root / name in changed for root in self.roots):
                continue
            state = state_facts(left[name].dataset, str(self.roots[0]))
            other = state_facts(right[name].dataset, str(self.roots[1]))
            yield from differences(state, other, name)
            readings = self._readings(name)
            yield from _reading_differences(name, readings)
            if not any(reading.error for reading in readings.values()):
                yield from query_differences(seed, left[name], self.roots, _readers())

    def _changed_folders(self) -> set[Path]:
        """Return the folders with new or changed files since the last call.

        If a file was removed they are all folders, since any table may refer to it.
        """
        paths = (path for root in self.roots for path in root.rglob("*") if path.is_file())
        before, self._files = self._files, {path: path.stat().st_mtime_ns for path in paths}
        is_removed = not before.keys() <= self._files.keys()
        changed = (path for path, at in self._files.items() if is_removed or before.get(path) != at)
        return {folder for path in changed for folder in path.parents}

    def _readings(self, name: str) -> dict[str, CallResult]:
        """Return the four readings of a table: left and right, by both implementations."""
        return {
            f"{root.name} read by {module.__name__}": guarded(
                partial(read_rows, module, root / name)
            )
            for root in self.roots
            for module in _readers()
        }


def _reading_differences(name: str, readings: Mapping[str, CallResult]) -> Iterator[str]:
    """Yield how readings differ; all fail where a cleanup of another table removed files."""
    expected = next(iter(readings.values()))
    for reader, reading in readings.items():
        if bool(reading.error) != bool(expected.error):
            yield f"{name}: {reader}: {reading.error or expected.error}"
        elif not reading.error and (text := first_difference(expected.value, reading.value)):
            yield f"{name}: {reader}: {text}"


def _evaluate(text: str, lance: ModuleType, root: Path) -> CallResult:
    """Evaluate a line; return its result or its error."""
    names = {**LINE_FUNCTIONS, "lance": lance, "root": str(root), "pa": pa, "timedelta": timedelta}
    return guarded(lambda: result_facts(eval(text, names), str(root)))


def _readers() -> tuple[ModuleType, ModuleType]:
    return oracle.lance(), pylanceref

"""Lockstep: two tables on which the reference and the oracle do the same.

A line is an expression that either implementation can follow: `lance` is its module, `root` the
folder. Each line is followed by one of them on the one table and by the other on the other;
`crossed` says which, so that each goes on with what the other wrote. Afterwards the tables must be
the same, whoever reads them.
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
from lanceref_testing.table_facts import apart, facts, plain
from pylanceref.dataset import LanceDataset

from lance_conformance import oracle
from lance_conformance.campaigns.histories.answers import answered_differently
from lance_conformance.campaigns.histories.values import LINE_NAMES
from lance_conformance.campaigns.histories.view import views
from lance_conformance.guarded_call import CallResult, guarded
from lance_conformance.table_diff import first_difference

SYSTEM = ("_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version")
"""Columns that every table has."""


def observe(found: LanceDataset, root: str) -> Mapping[str, object]:
    """Return what the manifest of a table, its transaction, its tags and branches say.

    Paths below `root` become relative to it.
    """
    told = {
        "versions": [one["version"] for one in found.version_refs()],
        "tags": found.tags.list(),
        "branches": found.branches.list(),
    }
    kept = facts(found._snapshot.manifest, root)
    return {name: plain(one, root) for name, one in told.items()} | kept


def outcome(value: object, root: str) -> object:
    """Return what an operation answered, as far as it says what it did."""
    if isinstance(value, str | int | Mapping | list | tuple):
        return plain(value, root)
    counts = ("fragments_removed", "fragments_added", "files_removed", "files_added")
    return {name: getattr(value, name) for name in counts if hasattr(value, name)}


def read(module: ModuleType, path: Path) -> pa.Table:
    """Read all rows, with all that a table knows of each, by either implementation."""
    found = module.dataset(str(path))
    return found.to_table(columns=[*found.schema.names, *SYSTEM])


@dataclass(frozen=True, slots=True)
class Line:
    """A step and the name of its kind: a line that is `crossed` the oracle follows on the right."""

    text: str
    crossed: bool = False
    name: str = ""


@dataclass(slots=True)
class Step:
    """What became of a line: the error of each side, and where the tables then differed."""

    line: Line
    refused: tuple[str, str] = ("", "")
    differences: list[str] = field(default_factory=list)


class Lockstep:
    """Two tables below `folder`, the same but for chance."""

    def __init__(self, folder: Path) -> None:
        self.roots = [folder / "left", folder / "right"]
        for root in self.roots:
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir(parents=True)
        self._files: dict[Path, int] = {}

    def follow(self, line: Line) -> Step:
        """Let both implementations follow a line, and compare the tables."""
        theirs, ours = reversed(self.roots) if line.crossed else self.roots
        told = _run(line.text, oracle.lance(), theirs)
        mine = _run(line.text, pylanceref, ours)
        step = Step(line, (told.error, mine.error))
        if bool(told.error) != bool(mine.error):
            who = "oracle" if told.error else "reference"
            step.differences.append(f"refused by the {who}: {told.error or mine.error}")
            return step
        step.differences.extend(apart(told.value, mine.value, "result"))
        read = guarded(lambda: step.differences.extend(self._differences(line.text)))
        if read.error:
            step.differences.append(f"cannot be read: {read.error}")
        return step

    def _differences(self, seed: str) -> Iterator[str]:
        left, right = ({one.name: one for one in views(root)} for root in self.roots)
        yield from apart(sorted(left), sorted(right), "tables")
        touched = self._touched()
        for name in sorted({*left} & {*right}):
            if not any(root / name in touched for root in self.roots):
                continue
            state = observe(left[name].found, str(self.roots[0]))
            yield from apart(state, observe(right[name].found, str(self.roots[1])), name)
            readings = self._readings(name)
            yield from _read_differently(name, readings)
            if not any(told.error for told in readings.values()):
                yield from answered_differently(seed, left[name], self.roots, _readers())

    def _touched(self) -> set[Path]:
        """Return the folders in which a file is new or another since the last time.

        Where one is gone every table may have lost something: then all folders are.
        """
        paths = (path for root in self.roots for path in root.rglob("*") if path.is_file())
        before, self._files = self._files, {path: path.stat().st_mtime_ns for path in paths}
        gone = not before.keys() <= self._files.keys()
        changed = (path for path, at in self._files.items() if gone or before.get(path) != at)
        return {folder for path in changed for folder in path.parents}

    def _readings(self, name: str) -> dict[str, CallResult]:
        """Return the four readings of a table: both tables, by both."""
        return {
            f"{root.name} read by {module.__name__}": guarded(partial(read, module, root / name))
            for root in self.roots
            for module in _readers()
        }


def _read_differently(name: str, readings: Mapping[str, CallResult]) -> Iterator[str]:
    """Yield how readings differ; a table whose files a cleanup elsewhere has taken has none."""
    expected = next(iter(readings.values()))
    for who, told in readings.items():
        if bool(told.error) != bool(expected.error):
            yield f"{name}: {who}: {told.error or expected.error}"
        elif not told.error and (where := first_difference(expected.value, told.value)):
            yield f"{name}: {who}: {where}"


def _run(text: str, lance: ModuleType, root: Path) -> CallResult:
    """Evaluate a line; an error is an answer."""
    names = {**LINE_NAMES, "lance": lance, "root": str(root), "pa": pa, "timedelta": timedelta}
    return guarded(lambda: outcome(eval(text, names), str(root)))


def _readers() -> tuple[ModuleType, ModuleType]:
    return oracle.lance(), pylanceref

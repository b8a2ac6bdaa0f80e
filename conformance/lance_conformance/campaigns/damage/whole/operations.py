"""Operations: all that is put to a hostile table, readers first, each by its name.

Of the tables that an operation read no row of the victim may be among the rows. The first rows of a
whole scan are also compared with those of the undamaged table.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import lanceref
import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError
from lanceref_testing.table_operations import OPERATIONS as OF_TABLES
from pylanceref.references import VersionRef

from lance_conformance.campaigns.damage.whole.bases import Base

T = TypeVar("T")

MOST_NAMES = 6
"""Tags and branches that are checked out, and indices that are asked for statistics."""

MOST_FILES = 12
"""Files of a table that are explained one by one: the newest, which an attack has written."""

WHOLE = "to_table"
"""The operation whose rows are compared with those of the undamaged table."""


@dataclass(frozen=True)
class Visit:
    """A hostile table, opened by the first that needs it."""

    root: Path
    base: Base

    @cached_property
    def table(self) -> pylanceref.LanceDataset:
        """The latest version of the table."""
        return pylanceref.dataset(str(self.root))


Operation = Callable[[Visit], object]
"""Returns a table, several, or anything else, which is not looked at."""


def _each(items: Iterable[T], ask: Callable[[T], object]) -> list[object]:
    """Ask of every item; a refusal of one does not keep the others from being asked."""
    found, refused = list[object](), None
    for item in items:
        try:
            found.append(ask(item))
        except LanceError as error:
            refused = error
    if refused is not None and not found:
        raise refused
    return found


def _of_names(visit: Visit, ask: Callable[[pylanceref.LanceDataset], object]) -> list[object]:
    """Ask every tag and branch."""
    tags = list(visit.table.tags.list())[:MOST_NAMES]
    branches = list(visit.table.branches.list())[:MOST_NAMES]
    names: list[VersionRef] = [*tags, *((branch, None) for branch in branches)]
    return _each(names, lambda name: ask(visit.table.checkout_version(name)))


def _appended(rows: pa.Table, to: str | pylanceref.LanceDataset) -> pa.Table:
    """Append rows, and return all that there are then."""
    made = pylanceref.write_dataset(rows, to, mode="append")
    return made.to_table(columns=["id", "text"])


def _indices(visit: Visit) -> None:
    for index in visit.table.describe_indices()[:MOST_NAMES]:
        visit.table.index_statistics(index.name)


def _explain(visit: Visit) -> None:
    found = [path for path in _files_below(visit.root) if _is_asked(path, visit.root)]
    newest = sorted(found, key=lambda path: -path.lstat().st_mtime)[:MOST_FILES]
    _each(newest, lambda path: lanceref.explain(str(path)).size)  # one tree at a time


def _files_below(root: Path) -> Iterator[Path]:
    """Yield what is no folder, however deep, links to folders too."""
    waiting = [str(root)]
    while waiting:
        with suppress(PermissionError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield Path(entry.path)


def _is_asked(path: Path, root: Path) -> bool:
    """Whether `explain` is asked of a path: not of a link that leads out, which it may open."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _compact(visit: Visit) -> pa.Table:
    opened = visit.table
    opened.optimize.compact_files(target_rows_per_fragment=10**6)
    return opened.to_table(columns=["id", "text"])


def _done(name: str) -> Operation:
    """Return an operation of those that are interrupted elsewhere."""
    return lambda visit: OF_TABLES[name](pylanceref, str(visit.root))


READING: dict[str, Operation] = {
    "open": lambda visit: visit.table.count_rows(),
    WHOLE: lambda visit: visit.table.to_table(blob_handling="all_binary"),
    "take": lambda visit: visit.table.take([0, 20, 1]),
    "count_rows": lambda visit: visit.table.count_rows(filter="id > 10"),
    "search": lambda visit: visit.table.to_table(columns=["id", "text"], **visit.base.search),
    "versions": lambda visit: (visit.table.versions(), visit.table.get_transactions(10)),
    "indices": _indices,
    "files": lambda visit: visit.table.stats.dataset_stats(),
    "names": lambda visit: (visit.table.tags.list(), visit.table.branches.list()),
    "check out": lambda visit: _of_names(visit, lambda one: one.to_table(columns=["id", "text"])),
    "validate": lambda visit: lanceref.validate(str(visit.root), deep=True),
    "explain": _explain,
}

WRITING: dict[str, Operation] = {
    "append to names": lambda visit: _of_names(
        visit, partial(_appended, visit.base.new_rows(range(500, 503)))
    ),
    "append": lambda visit: _appended(visit.base.rows(500, 3), str(visit.root)),
    **{name: _done(name) for name in ("delete", "update", "BTREE", "optimize indices", "tag")},
    **{name: _done(name) for name in ("branch", "configure")},
    "compact": _compact,
    "clean up": _done("clean up"),
}

FILTERING = frozenset({"count_rows", "search"})
"""Readers that evaluate a filter."""

OPERATIONS: dict[str, Operation] = READING | WRITING
"""Operations by name, in the order they are put."""


def perform(name: str, visit: Visit) -> list[pa.Table]:
    """Put one operation to a table; return the tables it read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = OPERATIONS[name](visit)
    read = found if isinstance(found, list) else [found]
    return [one for one in read if isinstance(one, pa.Table)]

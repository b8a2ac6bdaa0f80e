"""Operations: everything that runs on a hostile table, by name, reads before writes.

Each returns the tables that it read, which must not have a row of the outside table. The rows of a
full scan are also compared with those of the undamaged table.
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
from lanceref_testing.table_operations import OPERATIONS as TABLE_OPERATIONS
from pylanceref.references import VersionRef

from lance_conformance.campaigns.damage.tables.bases import Base

T = TypeVar("T")

MAX_NAMES, MAX_FILES = 6, 12
"""Most tags, branches and indices that are read, and most files, the newest, to explain."""

FULL_SCAN = "to_table"
"""The operation whose rows are compared with those of the undamaged table."""


@dataclass(frozen=True)
class HostileTable:
    """A hostile table, opened on first use."""

    root: Path
    base: Base

    @cached_property
    def table(self) -> pylanceref.LanceDataset:
        """The latest version of the table."""
        return pylanceref.dataset(str(self.root))


Operation = Callable[[HostileTable], object]
"""Returns a table, a list of tables, or anything else, which is ignored."""


def _for_each(items: Iterable[T], function: Callable[[T], object]) -> list[object]:
    """Call a function for every item; raise its error only if it fails for all."""
    results, refusal = list[object](), None
    for item in items:
        try:
            results.append(function(item))
        except LanceError as error:
            refusal = error
    if refusal is not None and not results:
        raise refusal
    return results


def _for_references(
    hostile: HostileTable, function: Callable[[pylanceref.LanceDataset], object]
) -> list[object]:
    """Call a function for the table at tags and branches."""
    tags = list(hostile.table.tags.list())[:MAX_NAMES]
    branches = list(hostile.table.branches.list())[:MAX_NAMES]
    names: list[VersionRef] = [*tags, *((branch, None) for branch in branches)]
    return _for_each(names, lambda name: function(hostile.table.checkout_version(name)))


def _append(rows: pa.Table, to: str | pylanceref.LanceDataset) -> pa.Table:
    """Append rows, and return all rows."""
    table = pylanceref.write_dataset(rows, to, mode="append")
    return table.to_table(columns=["id", "text"])


def _read_statistics(hostile: HostileTable) -> None:
    for index in hostile.table.describe_indices()[:MAX_NAMES]:
        hostile.table.index_statistics(index.name)


def _explain(hostile: HostileTable) -> None:
    paths = [path for path in _files_below(hostile.root) if _is_inside(path, hostile.root)]
    newest = sorted(paths, key=lambda path: -path.lstat().st_mtime)[:MAX_FILES]
    _for_each(newest, lambda path: lanceref.explain(str(path)).size)  # keeps no tree of spans


def _files_below(root: Path) -> Iterator[Path]:
    """Yield files, links and others at any depth, but no folders."""
    folders = [str(root)]
    while folders:
        with suppress(PermissionError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    yield Path(entry.path)


def _is_inside(path: Path, root: Path) -> bool:
    """Whether a path is no link out of the table: `explain` may follow those."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _compact(hostile: HostileTable) -> pa.Table:
    table = hostile.table
    table.optimize.compact_files(target_rows_per_fragment=10**6)
    return table.to_table(columns=["id", "text"])


def _table_operation(name: str) -> Operation:
    """Return one of the operations of `lanceref_testing.table_operations`."""
    return lambda hostile: TABLE_OPERATIONS[name](pylanceref, str(hostile.root))


READING: dict[str, Operation] = {
    "open": lambda hostile: hostile.table.count_rows(),
    FULL_SCAN: lambda hostile: hostile.table.to_table(blob_handling="all_binary"),
    "take": lambda hostile: hostile.table.take([0, 20, 1]),
    "count_rows": lambda hostile: hostile.table.count_rows(filter="id > 10"),
    "search": lambda hostile: hostile.table.to_table(columns=["id", "text"], **hostile.base.search),
    "versions": lambda hostile: (hostile.table.versions(), hostile.table.get_transactions(10)),
    "indices": _read_statistics,
    "files": lambda hostile: hostile.table.stats.dataset_stats(),
    "names": lambda hostile: (hostile.table.tags.list(), hostile.table.branches.list()),
    "check out": lambda hostile: _for_references(
        hostile, lambda one: one.to_table(columns=["id", "text"])
    ),
    "validate": lambda hostile: lanceref.validate(str(hostile.root), deep=True),
    "explain": _explain,
}

WRITING: dict[str, Operation] = {
    "append to names": lambda hostile: _for_references(
        hostile, partial(_append, hostile.base.new_rows(range(500, 503)))
    ),
    "append": lambda hostile: _append(hostile.base.rows(500, 3), str(hostile.root)),
    **{
        name: _table_operation(name)
        for name in ("delete", "update", "BTREE", "optimize indices", "tag")
    },
    **{name: _table_operation(name) for name in ("branch", "configure")},
    "compact": _compact,
    "clean up": _table_operation("clean up"),
}

FILTERING = frozenset({"count_rows", "search"})
"""Reads that evaluate a filter."""

OPERATIONS: dict[str, Operation] = READING | WRITING
"""Operations by name, in the order in which they run."""


def run_operation(name: str, hostile: HostileTable) -> list[pa.Table]:
    """Run one operation on a table; return the tables that it read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = OPERATIONS[name](hostile)
    results = result if isinstance(result, list) else [result]
    return [one for one in results if isinstance(one, pa.Table)]

"""Operations: all that is put to a hostile table, readers first, each by its name.

An operation returns the tables it read: no row of the victim may be among them. The first rows of a
whole scan are also compared with those of the undamaged table.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError
from pylanceref.references import VersionRef

from lance_conformance.campaigns.damage.whole.bases import Base

MOST_NAMES = 6
"""Tags and branches that are checked out, and indices that are asked for statistics."""

MOST_FILES = 12
"""Files of a table that are explained one by one: the newest, which an attack has written."""

WHOLE = "to_table"
"""The operation whose rows are compared with those of the undamaged table."""


@dataclass(slots=True)
class Visit:
    """A hostile table, opened by the first operation that needs it."""

    root: Path
    base: Base
    _opened: pylanceref.LanceDataset | None = field(default=None)

    @property
    def table(self) -> pylanceref.LanceDataset:
        """The latest version of the table."""
        if self._opened is None:
            self._opened = pylanceref.dataset(str(self.root))
        return self._opened

    def rows(self) -> pa.Table:
        """Rows that fit the table."""
        return self.base.rows(500, 3)


Operation = Callable[[Visit], list[pa.Table]]


def _open(visit: Visit) -> list[pa.Table]:
    return [pa.table({"rows": [visit.table.count_rows()]})]


def _to_table(visit: Visit) -> list[pa.Table]:
    return [visit.table.to_table(blob_handling="all_binary")]


def _take(visit: Visit) -> list[pa.Table]:
    return [visit.table.take([0, 50, 1])]


def _count(visit: Visit) -> list[pa.Table]:
    return [pa.table({"rows": [visit.table.count_rows(filter="id > 10")]})]


def _search(visit: Visit) -> list[pa.Table]:
    return [visit.table.to_table(columns=["id", "text"], **visit.base.search)]


def _versions(visit: Visit) -> list[pa.Table]:
    visit.table.versions()
    visit.table.get_transactions(10)
    return []


def _indices(visit: Visit) -> list[pa.Table]:
    for index in visit.table.describe_indices()[:MOST_NAMES]:
        visit.table.index_statistics(index.name)
    return []


def _files(visit: Visit) -> list[pa.Table]:
    visit.table.stats.dataset_stats()
    return []


def _names(visit: Visit) -> list[pa.Table]:
    visit.table.tags.list()
    visit.table.branches.list()
    return []


def _check_out(visit: Visit) -> list[pa.Table]:
    return _each(visit, lambda found: [found.to_table(columns=["id", "text"])])


def _append_to_names(visit: Visit) -> list[pa.Table]:
    def append(found: pylanceref.LanceDataset) -> list[pa.Table]:
        made = pylanceref.write_dataset(visit.rows(), found, mode="append")
        return [made.to_table(columns=["id", "text"])]

    return _each(visit, append)


def _each(visit: Visit, ask: Callable[[pylanceref.LanceDataset], list[pa.Table]]) -> list[pa.Table]:
    """Ask every tag and branch; a refusal of one does not keep the others from being asked."""
    tables: list[pa.Table] = []
    refused: LanceError | None = None
    tags = list(visit.table.tags.list())[:MOST_NAMES]
    branches = list(visit.table.branches.list())[:MOST_NAMES]
    names: list[VersionRef] = [*tags, *((branch, None) for branch in branches)]
    for name in names:
        try:
            tables += ask(visit.table.checkout_version(name))
        except LanceError as error:
            refused = error
    if refused is not None and not tables:
        raise refused
    return tables


def _validate(visit: Visit) -> list[pa.Table]:
    lanceref.validate(str(visit.root), deep=True)
    return []


def _explain(visit: Visit) -> list[pa.Table]:
    refused: LanceError | None = None
    explained = 0
    found = [path for path in _files_below(visit.root) if _is_asked(path, visit.root)]
    for path in sorted(found, key=lambda path: -path.lstat().st_mtime)[:MOST_FILES]:
        try:
            lanceref.explain(str(path))
            explained += 1
        except LanceError as error:
            refused = error
    if refused is not None and not explained:
        raise refused
    return []


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


def _append(visit: Visit) -> list[pa.Table]:
    made = pylanceref.write_dataset(visit.rows(), str(visit.root), mode="append")
    return [made.to_table(columns=["id", "text"])]


def _delete(visit: Visit) -> list[pa.Table]:
    pylanceref.dataset(str(visit.root)).delete("id = 11")
    return []


def _index(visit: Visit) -> list[pa.Table]:
    opened = pylanceref.dataset(str(visit.root))
    opened.create_scalar_index("id", "BTREE", name="another")
    opened.optimize.optimize_indices()
    return []


def _name(visit: Visit) -> list[pa.Table]:
    opened = pylanceref.dataset(str(visit.root))
    opened.tags.create("made", opened.version)
    pylanceref.write_dataset(visit.rows(), opened.create_branch("made"), mode="append")
    return []


def _compact(visit: Visit) -> list[pa.Table]:
    opened = pylanceref.dataset(str(visit.root))
    opened.optimize.compact_files(target_rows_per_fragment=10**6)
    return [opened.to_table(columns=["id", "text"])]


def _clean_up(visit: Visit) -> list[pa.Table]:
    opened = pylanceref.dataset(str(visit.root))
    opened.cleanup_old_versions(
        older_than=timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False
    )
    return []


READING: dict[str, Operation] = {
    "open": _open,
    WHOLE: _to_table,
    "take": _take,
    "count_rows": _count,
    "search": _search,
    "versions": _versions,
    "indices": _indices,
    "files": _files,
    "names": _names,
    "check out": _check_out,
    "validate": _validate,
    "explain": _explain,
}

WRITING: dict[str, Operation] = {
    "append to names": _append_to_names,
    "append": _append,
    "delete": _delete,
    "index": _index,
    "name": _name,
    "compact": _compact,
    "clean up": _clean_up,
}

OPERATIONS: dict[str, Operation] = READING | WRITING
"""Operations by name, in the order they are put."""


def perform(name: str, visit: Visit) -> list[pa.Table]:
    """Put one operation to a table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return OPERATIONS[name](visit)

"""Passes: the ways in which bytes are made smaller, from the coarsest to the finest.

Each keeps the kind of disagreement it was given; `holds` asks both adapters.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
from lanceref.core.errors import LanceError
from pylanceref.file import LanceFileReader, LanceFileWriter

from lance_conformance.recipes.model import DATA
from lance_conformance.shrink.disagreement import Files, Pair
from lance_conformance.shrink.minimal import minimal, zeroed
from lance_conformance.shrink.parts import (
    Parts,
    data_end,
    put_together,
    taken_apart,
    with_fields,
    with_pages,
)

Holds = Callable[[Files], bool]
"""Whether the adapters disagree about these bytes as they did about the first ones."""

VERSIONS = {(0, 3): "2.0", (2, 0): "2.0", (2, 1): "2.1", (2, 2): "2.2", (2, 3): "2.3"}
"""File versions by the two numbers at the end of a file."""


def without_files(files: Files, holds: Holds) -> Files:
    """Leave out files of a table that the disagreement does not need."""
    kept = minimal(sorted(files), lambda names: holds({name: files[name] for name in names}))
    return {name: files[name] for name in kept}


def written_anew(files: Files, holds: Holds) -> Files:
    """Write the rows of a file anew with fewer columns and rows, if it is the rows that matter."""
    data = files.get(DATA, b"")
    version = VERSIONS.get((_u16(data, -8), _u16(data, -6)))
    table = _rows(data) if version else None
    if table is None or version is None or not holds({DATA: _file(table, version)}):
        return files

    def of(columns: Sequence[str], rows: Sequence[int]) -> Files:
        return {DATA: _file(table.select(list(columns)).take(pa.array(rows, pa.int64())), version)}

    every = range(table.num_rows)
    columns = minimal(table.column_names, lambda names: holds(of(names, every)))
    rows = minimal(every, lambda some: holds(of(columns, some))) if table.num_rows else []
    return of(columns, rows)


def without_parts(files: Files, holds: Holds) -> Files:
    """Leave out fields and pages of each data file, without decoding anything."""
    for name in sorted(files):
        try:
            parts = taken_apart(files[name])
        except LanceError:
            continue
        files = {**files, name: _fewer(parts, _of_one(files, name, holds))}
    return files


def without_content(files: Files, holds: Holds) -> Files:
    """Set bytes of the data to 0 where that makes no difference."""
    for name in sorted(files):
        data = files[name]
        if data[-4:] == b"LANC" and name.endswith(".lance"):
            files = {**files, name: zeroed(data, data_end(data), _of_one(files, name, holds))}
    return files


def _of_one(files: Files, name: str, holds: Holds) -> Callable[[bytes], bool]:
    """Return the question about one file among others that stay."""
    return lambda data: holds({**files, name: data})


PASSES = {
    "without files": without_files,
    "written anew": written_anew,
    "without parts": without_parts,
    "without content": without_content,
}
"""Every pass by its name, in the order in which they are taken."""


def shrunk(files: Files, pair: Pair, budget: int, tell: Callable[[str, Files], None]) -> Files:
    """Return the smallest bytes found with `budget` questions; `tell` hears what a pass left.

    The pair must disagree about `files`. When the budget is spent, nothing smaller holds any more.
    """
    kind = pair.signature(files)

    def holds(tried: Files) -> bool:
        return pair.num_questions < budget and pair.signature(tried) == kind

    for name, one in PASSES.items():
        files = one(files, holds)
        tell(name, files)
    return files


def _fewer(parts: Parts, holds: Callable[[bytes], bool]) -> bytes:
    """Return a file with as few fields as hold, then pages; as it was where nothing may move."""
    if not holds(put_together(parts)):
        return parts.data
    parts = _least(parts, parts.num_fields, with_fields, holds)
    return put_together(_least(parts, parts.num_pages, with_pages, holds))


def _least(
    parts: Parts,
    count: int,
    some_of: Callable[[Parts, Sequence[int]], Parts],
    holds: Callable[[bytes], bool],
) -> Parts:
    if count < 2:
        return parts
    return some_of(
        parts, minimal(range(count), lambda some: holds(put_together(some_of(parts, some))))
    )


def _rows(data: bytes) -> pa.Table | None:
    """Return what the reference reads; None when it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        path.write_bytes(data)
        try:
            return LanceFileReader(str(path)).read_all().to_table()
        except LanceError:
            return None


def _file(table: pa.Table, version: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        with LanceFileWriter(str(path), table.schema, version=version) as writer:
            writer.write_batch(table)
        return path.read_bytes()


def _u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little") if len(data) >= -at else -1

"""Passes: the ways to reduce bytes, from the coarsest to the finest.

Each preserves the kind of the disagreement, which `holds` checks with both adapters.
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
from lance_conformance.shrink.minimal import minimal, zero_runs
from lance_conformance.shrink.parts import (
    Parts,
    assemble,
    data_end,
    parse_file,
    with_fields,
    with_pages,
)

Holds = Callable[[Files], bool]
"""Whether the adapters disagree about these bytes as about the original ones."""

VERSIONS = {(0, 3): "2.0", (2, 0): "2.0", (2, 1): "2.1", (2, 2): "2.2", (2, 3): "2.3"}
"""File versions by the two numbers at the end of a file."""


def remove_files(files: Files, holds: Holds) -> Files:
    """Remove the files of a table that the disagreement does not need."""
    needed = minimal(sorted(files), lambda names: holds({name: files[name] for name in names}))
    return {name: files[name] for name in needed}


def rewrite_rows(files: Files, holds: Holds) -> Files:
    """Rewrite a file with fewer columns and rows, if the disagreement depends on its rows."""
    data = files.get(DATA, b"")
    version = VERSIONS.get((_u16(data, -8), _u16(data, -6)))
    table = _rows(data) if version else None
    if table is None or version is None or not holds({DATA: _file(table, version)}):
        return files

    def rewrite(columns: Sequence[str], rows: Sequence[int]) -> Files:
        return {DATA: _file(table.select(list(columns)).take(pa.array(rows, pa.int64())), version)}

    every = range(table.num_rows)
    columns = minimal(table.column_names, lambda names: holds(rewrite(names, every)))
    rows = minimal(every, lambda some: holds(rewrite(columns, some))) if table.num_rows else []
    return rewrite(columns, rows)


def remove_parts(files: Files, holds: Holds) -> Files:
    """Remove fields and pages of each data file, without decoding."""
    for name in sorted(files):
        try:
            parts = parse_file(files[name])
        except LanceError:
            continue
        files = {**files, name: _fewer(parts, _holds_for(files, name, holds))}
    return files


def zero_bytes(files: Files, holds: Holds) -> Files:
    """Set bytes of buffers to 0 where the disagreement does not need them."""
    for name in sorted(files):
        data = files[name]
        if data[-4:] == b"LANC" and name.endswith(".lance"):
            files = {**files, name: zero_runs(data, data_end(data), _holds_for(files, name, holds))}
    return files


def _holds_for(files: Files, name: str, holds: Holds) -> Callable[[bytes], bool]:
    """Return `holds` as a function of one file, beside the other files."""
    return lambda data: holds({**files, name: data})


PASSES = {
    "without files": remove_files,
    "written anew": rewrite_rows,
    "without parts": remove_parts,
    "without content": zero_bytes,
}
"""Passes by name, in the order in which they run."""


def shrink_files(
    files: Files, pair: Pair, budget: int, report: Callable[[str, Files], None]
) -> Files:
    """Return the smallest bytes found with `budget` comparisons; `report` gets those of each pass.

    The pair must disagree about `files`.
    """
    kind = pair.signature(files)

    def holds(candidate: Files) -> bool:
        return pair.num_comparisons < budget and pair.signature(candidate) == kind

    for name, one in PASSES.items():
        files = one(files, holds)
        report(name, files)
    return files


def _fewer(parts: Parts, holds: Callable[[bytes], bool]) -> bytes:
    """Return a file with as few fields and pages as hold, or the same if no buffer can move."""
    if not holds(assemble(parts)):
        return parts.data
    parts = _minimal_parts(parts, parts.num_fields, with_fields, holds)
    return assemble(_minimal_parts(parts, parts.num_pages, with_pages, holds))


def _minimal_parts(
    parts: Parts,
    count: int,
    select: Callable[[Parts, Sequence[int]], Parts],
    holds: Callable[[bytes], bool],
) -> Parts:
    if count < 2:
        return parts
    return select(parts, minimal(range(count), lambda some: holds(assemble(select(parts, some)))))


def _rows(data: bytes) -> pa.Table | None:
    """Return the rows that the reference reads, or None if it refuses."""
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

"""Data frames: the rows of a scan for pandas, blobs as files (face).

Has the arguments of pylance's `to_pandas`. A blob is found by the address of its row and by the
column it comes from, under whatever name that is shown; in a struct it is an entry of a dict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.errors import NotFound
from lanceref.file.schema import Field, project
from lanceref.search.take_blobs import locate_blobs
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS

from pylanceref.blob import BlobFile
from pylanceref.scanner import LanceScanner

if TYPE_CHECKING:
    import pandas as pd

MODES = ("lazy", "bytes", "descriptions")
"""What blobs become: files, their bytes, or where they lie."""


def data_frame(scan: LanceScanner, mode: str, options: Mapping[str, object]) -> pd.DataFrame:
    """Return the rows of a scan; `options` are those of pyarrow. Raises ValueError."""
    if mode not in MODES:
        raise ValueError(f"blob_mode must be one of: {', '.join(map(repr, MODES))}")
    blobs = {} if mode == "descriptions" else dict(_blobs(scan))
    if not blobs:
        return scan.to_table().to_pandas(**options)
    table = scan.with_addresses().to_table()
    addresses = table[ROW_ADDRESS].combine_chunks()
    frame = table.select(scan.projected_schema.names).to_pandas(**options)
    for (name, *below), source in blobs.items():
        found = locate_blobs(scan._snapshot, source, None, addresses, None)
        files = [None if blob is None else BlobFile(blob) for _, blob in found]
        values = [one if mode == "lazy" or one is None else one.read() for one in files]
        if not below:
            frame[name] = values
            continue
        for row, value in zip(frame[name], values, strict=True):
            _put(row, below, value)
    return frame


def _put(row: dict[str, object] | None, path: list[str], value: object) -> None:
    """Set an entry of a dict of dicts; none where one of them is null."""
    for name in path[:-1]:
        row = None if row is None else row[name]  # type: ignore[assignment]
    if row is not None:
        row[path[-1]] = value


def _blobs(scan: LanceScanner) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where the result shows descriptions of blobs, and the path of their column."""
    schema = scan._snapshot.schema(BlobHandling.DESCRIPTIONS)
    shown = scan.projected_schema
    for name, source in _sources(scan):
        try:
            field = _below(project(schema, [source])[0], source.count("."))
        except NotFound:  # a column of the system
            continue
        if field.arrow.type == shown.field(name).type:
            for path in _paths(field):
                yield (name, *path), ".".join([source, *path])


def _sources(scan: LanceScanner) -> Iterator[tuple[str, str]]:
    """Yield each column of the result that may be one of the table, and the path of that."""
    computed = scan._options.computed
    if computed is None:
        yield from ((name, name) for name in scan._projection.storage.names)
        return
    for name, bound in zip(computed.schema.names, computed.bound, strict=True):
        if len(bound.paths) == 1:
            yield name, *bound.paths


def _below(field: Field, depth: int) -> Field:
    """Return the field at the end of a path that was cut out of a schema."""
    for _ in range(depth):
        field = field.children[0] if len(field.children) == 1 else field
    return field


def _paths(field: Field) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the blobs in a field, through structs only."""
    if field.is_blob or field.is_blob_v2:
        yield ()
    elif pa.types.is_struct(field.arrow.type):
        for child in field.children:
            yield from ((child.name, *path) for path in _paths(child))

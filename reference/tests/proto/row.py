"""A row of the inventory: how the oracle is made to write a feature, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa


class Row:
    """`make` writes files into a folder; they hold the fields `shows`, named `Message.field`."""

    def __init__(self, make: Callable[[Path], object], *shows: str) -> None:
        self.make = make
        self.shows = shows


def one_file(
    array: pa.Array,
    version: str,
    *shows: str,
    batches: int = 1,
    metadata: dict[str, str] | None = None,
    **encoding: str,
) -> Row:
    """Make a row of one file with one column; `encoding` are `lance-encoding:` metadata."""
    keys = {f"lance-encoding:{key.replace('_', '-')}": value for key, value in encoding.items()}
    field = pa.field("c", array.type, metadata={**keys, **(metadata or {})})
    table = pa.Table.from_arrays([array], schema=pa.schema([field]))
    return Row(lambda folder: write_file(folder, table, version, batches), *shows)


def write_file(
    folder: Path, table: pa.Table, version: str, batches: int = 1, **options: int
) -> None:
    """Let the oracle write a bare data file, each batch a page where there are several."""
    from lance.file import LanceFileWriter

    if batches > 1:
        options = {"data_cache_bytes": 1024, **options}
    path = str(folder / "file.lance")
    with LanceFileWriter(path, table.schema, version=version, **options) as writer:
        size = -(-len(table) // batches)
        for at in range(0, len(table), size or 1):
            writer.write_batch(table.slice(at, size))

"""A row of the inventory: how the oracle is made to write a feature, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import lance

Change = Callable[["lance.LanceDataset"], object]


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


def table(start: int, rows: int) -> pa.Table:
    """Make rows `a` = start, start + 1 ... and `s`."""
    numbers = list(range(start, start + rows))
    return pa.table({"a": numbers, "s": [f"row {i}" for i in numbers]})


def dataset_row(change: Change | None, *shows: str, rows: int = 20, **options: Any) -> Row:
    """Make a row of one dataset of several fragments that is changed once."""

    def make(folder: Path) -> None:
        change_of = change or (lambda dataset: None)
        change_of(create(folder, rows, **options))

    return Row(make, *shows)


def create(folder: Path, rows: int = 20, **options: Any) -> lance.LanceDataset:
    """Write a dataset in two fragments."""
    import lance

    options = {"max_rows_per_file": -(-rows // 2), **options}
    return lance.write_dataset(table(0, rows), folder / "table.lance", **options)

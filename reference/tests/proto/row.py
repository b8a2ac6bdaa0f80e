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

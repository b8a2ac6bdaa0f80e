"""A small table in two fragments."""

from pathlib import Path

import pyarrow as pa
import pylanceref


def table(path: Path, *, stable: bool = False) -> pylanceref.LanceDataset:
    """Ten rows in two fragments; row 1 is deleted."""
    data = {
        "a": range(10),
        "b": [10 * number for number in range(10)],
        "s": [{"x": number, "y": str(number)} for number in range(10)],
    }
    made = pylanceref.write_dataset(
        pa.table(data), path, max_rows_per_file=5, enable_stable_row_ids=stable
    )
    made.delete("a = 1")
    return made


def column(made: pylanceref.LanceDataset, name: str) -> list[object]:
    """The values of a column."""
    return made.to_table([name])[name].to_pylist()

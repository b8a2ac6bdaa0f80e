"""Tables that the reference writes, some of their rows deleted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pylanceref
import pyroaring
from pylanceref.fragment import DeletionFile


def write(table: pa.Table, root: Path, **options) -> pylanceref.LanceDataset:
    """Write a table to a new folder."""
    return pylanceref.write_dataset(table, root / "t", **options)


def without(
    dataset: pylanceref.LanceDataset, gone: dict[int, list[int]]
) -> pylanceref.LanceDataset:
    """Delete rows by fragment and offset."""
    folder = Path(dataset.uri) / "_deletions"
    folder.mkdir(exist_ok=True)
    updated = []
    for fragment, rows in gone.items():
        entry = DeletionFile(1, 1, "bitmap", len(rows))
        (folder / f"{fragment}-1-1.bin").write_bytes(pyroaring.BitMap(rows).serialize())
        metadata = dataset.get_fragment(fragment).metadata
        updated.append(replace(metadata, deletion_file=entry))
    operation = pylanceref.LanceOperation.Delete(updated, [], "gone")
    return pylanceref.LanceDataset.commit(dataset.uri, operation, dataset.version)

"""Tables with overlays, made for tests."""

from pathlib import Path

import pyarrow as pa
import pylanceref
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

ROWS = pa.table({"a": range(6), "s": list("abcdef"), "n": [{"x": n, "y": n} for n in range(6)]})
"""Fields 0, 1, and 2 with 3 and 4 below it."""


def table(path, **options):
    """Write the rows in fragments of three."""
    given = {"data_storage_version": "2.1", **options}
    return pylanceref.write_dataset(ROWS, str(path), max_rows_per_file=3, **given)


def group(dataset, offsets, rows, fields, fragment=0):
    """Write a file of values and return the group that puts it over a fragment."""
    name = f"o{len(list(Path(dataset.uri, 'data').iterdir()))}.lance"
    path = Path(dataset.uri, "data", name)
    with LanceFileWriter(str(path), rows.schema, version="2.1") as writer:
        writer.write_batch(rows)
    file = DataFile(name, fields, list(range(len(fields))), 2, 1, path.stat().st_size)
    return Op.DataOverlayGroup(fragment, [Op.DataOverlayFile(file, offsets)])


def overlay(dataset, offsets, rows, fields, fragment=0):
    """Commit new values over the latest version and return what follows."""
    given = Op.DataOverlay([group(dataset, offsets, pa.table(rows), fields, fragment)])
    read = pylanceref.dataset(dataset.uri).version
    return pylanceref.LanceDataset.commit(dataset.uri, given, read_version=read)

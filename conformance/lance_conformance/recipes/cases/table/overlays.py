"""Cases of overlays: new values in the place of old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pylanceref
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile as metadata_DataFile
from pylanceref.operation import LanceOperation as Op
from pyroaring import BitMap

from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import SECOND, data_file, fragment, index, manifest_of, put
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.model import DATA, Maker, Paths, Recipe
from lance_conformance.recipes.oracle_made import dataset, file

_BASE = pa.table({"a": pa.array(range(6), pa.int64()),
    "s": pa.array(["a", "b", "c", "d", "e", "f"]), "n": pa.array([{"x": n, "y": f"{n}"}
    for n in range(6)])})  # fmt: skip
"""Fields 0, 1, 2 and 3, 4 below 2, in two fragments of three rows."""


def _write(uri: str) -> None:
    pylanceref.write_dataset(_BASE, uri, data_storage_version="2.1", max_rows_per_file=3)


def overlay_file(
    uri: str, number: int, offsets: list[int] | list[list[int]], rows: pa.Table, fields: list[int]
) -> None:
    """Commit an overlay of the first fragment; a column of the file for each field, in order."""
    name = f"overlay-{number}.lance"
    path = Path(uri, "data", name)
    with LanceFileWriter(str(path), rows.schema, version="2.1") as writer:
        writer.write_batch(rows)
    columns = list(range(len(fields)))
    file = metadata_DataFile(name, fields, columns, 2, 1, path.stat().st_size)
    given: Iterable[int] | list[Iterable[int]] = [*offsets]
    group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, given)])
    version = pylanceref.dataset(uri).version
    pylanceref.LanceDataset.commit(uri, Op.DataOverlay([group]), read_version=version)


def _with(rows: pa.Table, column: str, values: list[object]) -> pa.Table:
    number = rows.schema.get_field_index(column)
    return rows.set_column(number, rows.field(number), pa.array(values, rows.field(number).type))


def _shared(uri: str) -> pa.Table:
    """Two fields of rows 0 and 2."""
    _write(uri)
    overlay_file(uri, 0, [0, 2], pa.table({"a": [100, 102], "s": ["X", None]}), [0, 1])
    rows = _with(_BASE, "a", [100, 1, 102, 3, 4, 5])
    return _with(rows, "s", ["X", "b", None, "d", "e", "f"])


def _each(uri: str) -> pa.Table:
    """Row 1 of one field, rows 0 and 2 of another."""
    _write(uri)
    rows = pa.table({"a": pa.array([101, None], pa.int64()), "s": ["X", "Z"]})
    overlay_file(uri, 0, [[1], [0, 2]], rows, [0, 1])
    rows = _with(_BASE, "a", [0, 101, 2, 3, 4, 5])
    return _with(rows, "s", ["X", "b", "Z", "d", "e", "f"])


def _newest(uri: str) -> pa.Table:
    """Row 2 is covered twice, and row 0 is deleted afterwards."""
    _write(uri)
    overlay_file(uri, 0, [0, 2], pa.table({"a": [100, 102]}), [0])
    overlay_file(uri, 1, [2], pa.table({"a": [202]}), [0])
    pylanceref.dataset(uri).delete("a = 100")
    return _with(_BASE, "a", [100, 1, 202, 3, 4, 5]).slice(1)


def _nested(uri: str) -> pa.Table:
    """A field of a struct, in a file that has it inside of the struct, and then the other one."""
    _write(uri)
    overlay_file(uri, 0, [1], pa.table({"n": pa.array([{"x": 101}])}), [3])
    overlay_file(uri, 1, [1], pa.table({"n": pa.array([{"y": "X"}])}), [4])
    held = [{"x": 101, "y": "X"} if n == 1 else {"x": n, "y": f"{n}"} for n in range(6)]
    return _with(_BASE, "n", [*held])


def _indexed(uri: str) -> pa.Table:
    """A field with an index that is older."""
    _write(uri)
    pylanceref.dataset(uri).create_scalar_index("a", "BTREE")
    overlay_file(uri, 0, [0, 2], pa.table({"a": [100, 4]}), [0])
    return _with(_BASE, "a", [100, 1, 4, 3, 4, 5])


def _two_pages(uri: str) -> pa.Table:
    """Write a column of two pages, and new values for a row of each."""
    table = pa.table({"a": pa.array(range(8), pa.int64())})
    pylanceref.write_dataset(table, uri, data_storage_version="2.0")
    (path,) = Path(uri, "data").iterdir()
    made = file(table, "2.0", batches=2, data_cache_bytes=1)()
    path.write_bytes(made.files[DATA])
    overlay_file(uri, 0, [1, 6], pa.table({"a": pa.array([101, 106], pa.int64())}), [0])
    return pa.table({"a": pa.array([0, 101, 2, 3, 4, 5, 106, 7], pa.int64())})


def _new_lists(uri: str) -> pa.Table:
    """Write lists, and others in the place of two."""
    table = pa.table({"a": pa.array([[1], [2, 3], None, [4]], pa.list_(pa.int16()))})
    pylanceref.write_dataset(table, uri, data_storage_version="2.1")
    new = pa.table({"a": pa.array([[9, 9, 9], None], pa.list_(pa.int16()))})
    overlay_file(uri, 0, [1, 3], new, [1])
    return pa.table({"a": pa.array([[1], [9, 9, 9], None, None], pa.list_(pa.int16()))})


def _case(
    steps: Callable[[str], pa.Table], change: Callable[[Maker], Maker] = lambda make: make
) -> Maker:
    """Return a maker of what the reference writes by steps, and of what a change makes of it."""
    make = change(dataset(steps))
    return lambda: replace(make(), made_by="reference")


def _first(edit: Paths) -> Paths:
    """Return new values of the first overlay."""
    return {f"overlays.0.{path}": value for path, value in edit.items()}


CASES: tuple[Recipe, ...] = (
    case("table/any/overlays/shared", "new values of two fields, for two rows of a fragment",
        ("L.table.overlay.value", "L.table.overlay.bitmap", "L.table.overlay.values",
            "L.table.overlay.version", "L.table.overlay.range", "L.txn.op.data-overlay"),
        _case(_shared)),
    fault("bitmap", "offsets that are no bitmap", "L.table.overlay.bitmap",
        fragment(_first({"shared_offset_bitmap": lambda old: b"\x00" + old[1:]}), manifest_of(2))),
    fault("version", "an overlay that says it is a file of 0.1", "L.table.overlay.version",
        fragment(_first({"data_file.file_major_version": 0, "data_file.file_minor_version": 2}),
            manifest_of(2))),
    lint("stamp", "an overlay of another version than that of its commit", "L.txn.op.data-overlay",
        fragment(_first({"committed_version": 1}), manifest_of(2))),
    case("table/any/overlays/each", "new values of two fields, for other rows of each",
        "L.table.overlay.coverage", _case(_each)),
    fault("coverage", "two fields and one set of offsets", "L.table.overlay.coverage",
        fragment(_first({"field_coverage.offset_bitmaps": lambda old: old[:-1]}), manifest_of(2))),
    lint("each-range", "an offset of one field beyond the rows of the fragment",
        "L.table.overlay.range", fragment(_first({"field_coverage.offset_bitmaps.0":
        BitMap([1, 9]).serialize()}), manifest_of(2))),
    case("table/any/overlays/newest", "a row that two overlays cover, beside a deleted one",
        ("L.table.overlay.newest", "L.table.overlay.order"), _case(_newest)),
    fault("values", "two rows covered by a file of one", "L.table.overlay.values",
        fragment(lambda m: put(m,
        {"overlays.1.shared_offset_bitmap": m.overlays[0].shared_offset_bitmap}), manifest_of(4))),
    lint("range", "an offset beyond the rows of the fragment", "L.table.overlay.range",
        fragment(_first({"shared_offset_bitmap": lambda old: old[:-2] + b"\t\x00"}),
            manifest_of(4))),
    case("table/any/overlays/nested", "new values below a struct, one field after the other",
        "L.table.overlay.value", _case(_nested)),
    lint("overlay-order", "a newer overlay before an older one", "L.table.overlay.order",
        fragment({"overlays.0.committed_version": 9}, manifest_of(3))),
    case("table/any/overlays/indexed", "new values of a field that an older index is over",
        "L.table.overlay.index", _case(_indexed)),
    lint("index-current", "an index with old values that is said to know the new ones",
        "L.index.segment.complete", index({"dataset_version": 3}, manifest_of(3))),
    case("table/any/overlays/two-pages", "new values for a row of each of two pages",
        "L.table.overlay.value", _case(_two_pages, lambda make: reworked(make,
        data_file({"file_size_bytes": None}, SECOND)))),
    case("table/any/overlays/lists", "new lists in the place of others", "L.table.overlay.value",
        _case(_new_lists)),
)  # fmt: skip

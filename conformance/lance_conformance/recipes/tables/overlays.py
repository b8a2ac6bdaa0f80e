"""Overlay files: positive cases of each kind of coverage, and a single fault in each part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.proto.table_pb2 import DataFragment, DataOverlayFile
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.messages import fragment
from lance_conformance.recipes.model import Made, Negative, Positive
from lance_conformance.recipes.oracle_made import dataset
from lance_conformance.recipes.tables.datasets import table_case
from lance_conformance.recipes.tables.edits import table_fault

_BASE = pa.table(
    {
        "a": pa.array(range(6), pa.int64()),
        "s": pa.array(["a", "b", "c", "d", "e", "f"]),
        "n": pa.array([{"x": n, "y": f"{n}"} for n in range(6)]),
    }
)
"""Fields 0, 1, 2 and 3, 4 below 2, in two fragments of three rows."""

Offsets = list[int] | list[list[int]]


def _write(uri: str) -> None:
    pylanceref.write_dataset(_BASE, uri, data_storage_version="2.1", max_rows_per_file=3)


def overlay(uri: str, number: int, offsets: Offsets, rows: pa.Table, fields: list[int]) -> None:
    """Commit an overlay of the first fragment; a column of the file for each field, in order."""
    name = f"overlay-{number}.lance"
    path = Path(uri, "data", name)
    with LanceFileWriter(str(path), rows.schema, version="2.1") as writer:
        writer.write_batch(rows)
    columns = list(range(len(fields)))
    file = DataFile(name, fields, columns, 2, 1, path.stat().st_size)
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
    overlay(uri, 0, [0, 2], pa.table({"a": [100, 102], "s": ["X", None]}), [0, 1])
    rows = _with(_BASE, "a", [100, 1, 102, 3, 4, 5])
    return _with(rows, "s", ["X", "b", None, "d", "e", "f"])


def _each(uri: str) -> pa.Table:
    """Row 1 of one field, rows 0 and 2 of another."""
    _write(uri)
    rows = pa.table({"a": pa.array([101, None], pa.int64()), "s": ["X", "Z"]})
    overlay(uri, 0, [[1], [0, 2]], rows, [0, 1])
    rows = _with(_BASE, "a", [0, 101, 2, 3, 4, 5])
    return _with(rows, "s", ["X", "b", "Z", "d", "e", "f"])


def _newest(uri: str) -> pa.Table:
    """Row 2 is covered twice, and row 0 is deleted afterwards."""
    _write(uri)
    overlay(uri, 0, [0, 2], pa.table({"a": [100, 102]}), [0])
    overlay(uri, 1, [2], pa.table({"a": [202]}), [0])
    pylanceref.dataset(uri).delete("a = 100")
    return _with(_BASE, "a", [100, 1, 202, 3, 4, 5]).slice(1)


def _nested(uri: str) -> pa.Table:
    """A field of a struct, in a file that has it inside of the struct, and then the other one."""
    _write(uri)
    overlay(uri, 0, [1], pa.table({"n": pa.array([{"x": 101}])}), [3])
    overlay(uri, 1, [1], pa.table({"n": pa.array([{"y": "X"}])}), [4])
    held = [{"x": 101, "y": "X"} if n == 1 else {"x": n, "y": f"{n}"} for n in range(6)]
    return _with(_BASE, "n", [*held])


def _indexed(uri: str) -> pa.Table:
    """A field with an index that is older."""
    _write(uri)
    pylanceref.dataset(uri).create_scalar_index("a", "BTREE")
    overlay(uri, 0, [0, 2], pa.table({"a": [100, 4]}), [0])
    return _with(_BASE, "a", [100, 1, 4, 3, 4, 5])


def _case(
    slug: str, title: str, clauses: tuple[str, ...], steps: Callable[[str], pa.Table]
) -> Positive:
    def make() -> Made:
        return replace(dataset(steps)(), made_by="reference")

    return table_case(f"overlays/{slug}", title, clauses, make)


POSITIVES: tuple[Positive, ...] = (
    _case("shared", "new values of two fields, for two rows of a fragment",
          ("L.table.overlay.value", "L.table.overlay.bitmap", "L.table.overlay.values",
           "L.table.overlay.version", "L.table.overlay.range", "L.txn.op.data-overlay"), _shared),
    _case("each", "new values of two fields, for other rows of each",
          ("L.table.overlay.coverage",), _each),
    _case("newest", "a row that two overlays cover, beside a deleted one",
          ("L.table.overlay.newest", "L.table.overlay.order"), _newest),
    _case("nested", "new values below a struct, one field after the other",
          ("L.table.overlay.value",), _nested),
    _case("indexed", "new values of a field that an older index is over",
          ("L.table.overlay.index",), _indexed),
)  # fmt: skip
"""Every kind of overlay."""


def _first(edit: Callable[[DataOverlayFile], None]) -> Callable[[DataFragment], None]:
    return lambda message: edit(message.overlays[0])


def _without_last(overlay: DataOverlayFile) -> None:
    del overlay.field_coverage.offset_bitmaps[-1]


def _bitmap(overlay: DataOverlayFile) -> None:
    overlay.shared_offset_bitmap = b"\0" + overlay.shared_offset_bitmap[1:]


def _legacy(overlay: DataOverlayFile) -> None:
    overlay.data_file.file_major_version, overlay.data_file.file_minor_version = 0, 2


def _beyond(overlay: DataOverlayFile) -> None:
    overlay.shared_offset_bitmap = overlay.shared_offset_bitmap[:-2] + b"\x09\0"


def _more(message: DataFragment) -> None:
    """Let the shorter file have the rows of the longer one."""
    message.overlays[1].shared_offset_bitmap = message.overlays[0].shared_offset_bitmap


def _newer(message: DataFragment) -> None:
    message.overlays[0].committed_version = 9


def _stamp(overlay: DataOverlayFile) -> None:
    overlay.committed_version = 1


def _at(version: int) -> str:
    return f"_versions/{2**64 - 1 - version}.manifest"


def _fault(
    parent: str, slug: str, title: str, clause: str, edit: Callable[[DataFragment], None],
    version: int = 2, kind: str = "negative-dataset",
) -> Negative:  # fmt: skip
    change = fragment(edit, _at(version))
    return table_fault(f"table/any/overlays/{parent}", slug, title, clause, change, kind=kind)


NEGATIVES: tuple[Negative, ...] = (
    _fault("each", "coverage", "two fields and one set of offsets",
           "L.table.overlay.coverage", _first(_without_last)),
    _fault("shared", "bitmap", "offsets that are no bitmap", "L.table.overlay.bitmap",
           _first(_bitmap)),
    _fault("shared", "version", "an overlay that says it is a file of 0.1",
           "L.table.overlay.version", _first(_legacy)),
    _fault("newest", "values", "two rows covered by a file of one", "L.table.overlay.values",
           _more, 4),
    _fault("nested", "overlay-order", "a newer overlay before an older one",
           "L.table.overlay.order", _newer, 3, "lint"),
    _fault("newest", "range", "an offset beyond the rows of the fragment",
           "L.table.overlay.range", _first(_beyond), 4, "lint"),
    _fault("shared", "stamp", "an overlay of another version than that of its commit",
           "L.txn.op.data-overlay", _first(_stamp), kind="lint"),
)  # fmt: skip
"""One fault in each part of an overlay."""

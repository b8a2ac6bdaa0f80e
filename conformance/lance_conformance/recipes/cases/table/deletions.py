"""Cases of deletion files, Arrow or bitmaps of Roaring, and of overlays, which change rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
from lanceref.proto.table_pb2 import DeletionFile
from pylanceref.operation import LanceOperation as Op
from pyroaring import BitMap

from lance_conformance.recipes import edits, model
from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.columns import numbered, with_column
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import LAST, SECOND, fragment, manifest
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.model import Recipe, Resize, SpanPatch
from lance_conformance.recipes.oracle_files import dataset, file, stored


def _left(rows: int, *gone: int) -> pa.Table:
    return numbered(0, rows).take([row for row in range(rows) if row not in gone])


def _deletions(dataset: Any) -> Path:
    (path,) = Path(dataset.uri, "_deletions").iterdir()
    return path


def _to_bitmap(dataset: Any) -> None:
    """Put a bitmap, of runs where they are shorter, in place of the Arrow file."""
    path = _deletions(dataset)
    bitmap = BitMap(pa.ipc.open_file(path.read_bytes()).read_all()["row_id"].to_pylist())
    bitmap.run_optimize()
    path.unlink()
    path.with_suffix(".bin").write_bytes(bitmap.serialize())


def _listed(dataset: Any, *rows: int, compression: str | None = None) -> None:
    """List rows in the file anew, those that it has unless told."""
    read = pa.ipc.open_file(_deletions(dataset).read_bytes()).read_all()
    held = pa.table([pa.array(rows, pa.uint32())], schema=read.schema) if rows else read
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(_deletions(dataset), held.schema, options=options) as writer:
        writer.write_table(held)


_RUNS = (*range(2, 12), *range(15, 25))
_BITS = pa.table({"a": [row in (1, 65537) for row in range(65_560)]})
"""Rows of which some have more than 16 bits."""

_EVEN = pa.table({"a": [row % 2 == 1 for row in range(8192)]})
_SPARSE = pa.table({"a": [row % 2**16 in range(1, 6) for row in range(3 * 2**16 + 20)]})
"""Rows of which five follow each other in each of four containers."""

_HALF = numbered(0, 12000).take(pa.array(range(0, 12000, 2)))
_BIN = "_deletions/*.bin"
_RUN_COOKIE = 12347


def _arrow(**columns: pa.Array) -> Resize:
    """Put another table in the place of the deleted rows."""
    table, sink = (pa.table(columns), pa.BufferOutputStream())
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return edits.swap(sink.getvalue().to_pybytes(), "_deletions/*.arrow")


def _bitmap(*parts: bytes) -> Resize:
    return edits.swap(b"".join(parts), _BIN)


def _values(*values: int) -> Resize:
    """One container of an array of values."""
    head = words(12346, 1, width=4) + words(0, len(values) - 1, width=2) + words(16, width=4)
    return _bitmap(head, words(*values, width=2))


def _runs(cardinality: int, *pairs: int) -> Resize:
    """One container of runs: pairs of a start and a length less one."""
    head = words(_RUN_COOKIE, width=4) + b"\x01" + words(0, cardinality - 1, width=2)
    return _bitmap(head, words(len(pairs) // 2, *pairs, width=2))


_OTHER_COLUMNS = (
    ("name", "deleted rows in a column of another name", {"rows": pa.array([1, 3], pa.uint32())}),
    ("type", "deleted rows of 64 bits", {"row_id": pa.array([1, 3], pa.uint64())}),
    ("signed", "deleted rows that are signed", {"row_id": pa.array([1, 3], pa.int32())}),
    ("null", "a deleted row that is null", {"row_id": pa.array([1, None], pa.uint32())}),
    ("columns", "a second column beside the deleted rows",
        {"row_id": pa.array([1, 3], pa.uint32()), "more": pa.array([0, 0], pa.uint32())}),
)  # fmt: skip
_FULL = 300
"""Containers of all values: more than a reader expands of so few bytes."""


def _full() -> Resize:
    """Very many containers of one run each, which has all values."""
    keys = b"".join(words(key, 2**16 - 1, width=2) for key in range(_FULL))
    head = words(_RUN_COOKIE | _FULL - 1 << 16, width=4) + b"\xff" * ((_FULL + 7) // 8)
    run = words(1, 0, 2**16 - 1, width=2)
    first = len(head) + len(keys) + 4 * _FULL
    offsets = words(*(first + len(run) * number for number in range(_FULL)), width=4)
    return _bitmap(head, keys, offsets, run * _FULL)


def _move_last(bitmap: bytes) -> bytes:
    """Clear the first value of a bitmap and set its last bit: as many values, one out of range."""
    first = next((i for i, byte in enumerate(bitmap) if byte))
    cleared = bitmap[first] & bitmap[first] - 1
    return bitmap[:first] + bytes([cleared]) + bitmap[first + 1 : -1] + b"\x80"


_BASE = pa.table(
    {"a": pa.array(range(6), pa.int64()), "s": pa.array(["a", "b", "c", "d", "e", "f"]),
        "n": pa.array([{"x": n, "y": f"{n}"} for n in range(6)])})  # fmt: skip
"""Fields 0, 1, 2 and 3, 4 below 2, in two fragments of three rows."""


def overlay_file(
    uri: str, number: int, offsets: list[int] | list[list[int]], rows: pa.Table, fields: list[int]
) -> None:
    """Commit an overlay of the first fragment; a column of the file for each field, in order."""
    listed = commits.data_file(uri, f"overlay-{number}", rows, fields)
    size = Path(uri, "data", listed.path).stat().st_size
    file = replace(listed, file_size_bytes=size)
    given: Iterable[int] | list[Iterable[int]] = [*offsets]
    group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, given)])
    version = pylanceref.dataset(uri).version
    pylanceref.LanceDataset.commit(uri, Op.DataOverlay([group]), read_version=version)


_case = partial(dataset, by="reference")
"""Returns a maker of what the reference writes by steps."""


def _overlaid(
    *overlays: tuple[list[int] | list[list[int]], pa.Table, list[int]],
    before: Callable[[Any], object] = lambda dataset: None,
    after: Callable[[Any], object] = lambda dataset: None,
    gone: int = 0,
    **held: list[Any],
) -> model.Maker:
    """Return a maker of the base with overlays, without the rows that are gone at its start."""

    def steps(uri: str) -> pa.Table:
        pylanceref.write_dataset(_BASE, uri, data_storage_version="2.1", max_rows_per_file=3)
        before(pylanceref.dataset(uri))
        for number, (offsets, rows, fields) in enumerate(overlays):
            overlay_file(uri, number, offsets, rows, fields)
        after(pylanceref.dataset(uri))
        table = _BASE
        for name, values in held.items():
            table = with_column(table, name, values)
        return table.slice(gone)

    return _case(steps)


def _in_two_pages(uri: str, change: Callable[[Any], object] = lambda dataset: None) -> None:
    """Write a column of eight rows in two pages, and change the table."""
    change(pylanceref.write_dataset(numbered(0, 8), uri, data_storage_version="2.0"))
    (path,) = Path(uri, "data").iterdir()
    made = file(numbered(0, 8), "2.0", batches=2, data_cache_bytes=1)()
    path.write_bytes(made.files[model.DATA])


def _two_pages_left(uri: str) -> pa.Table:
    """Delete a row of each page."""
    _in_two_pages(uri, lambda dataset: dataset.delete("a = 1 or a = 6"))
    return _left(8, 1, 6)


def _two_pages(uri: str) -> pa.Table:
    """Write new values for a row of each page."""
    _in_two_pages(uri)
    overlay_file(uri, 0, [1, 6], pa.table({"a": pa.array([101, 106], pa.int64())}), [0])
    return pa.table({"a": pa.array([0, 101, 2, 3, 4, 5, 106, 7], pa.int64())})


def _new_lists(uri: str) -> pa.Table:
    """Write lists, and others in the place of two."""
    table = pa.table({"a": pa.array([[1], [2, 3], None, [4]], pa.list_(pa.int16()))})
    pylanceref.write_dataset(table, uri, data_storage_version="2.1")
    new = pa.table({"a": pa.array([[9, 9, 9], None], pa.list_(pa.int16()))})
    overlay_file(uri, 0, [1, 3], new, [1])
    return pa.table({"a": pa.array([[1], [9, 9, 9], None, None], pa.list_(pa.int16()))})


def _first(edit: model.Paths) -> model.Paths:
    """Return new values of the first overlay."""
    return {f"overlays.0.{path}": value for path, value in edit.items()}


_SAID_BITMAP = {"fragments.0.deletion_file.file_type": DeletionFile.BITMAP}


def _marked(table: pa.Table, *gone: int) -> model.Maker:
    """Delete by a bitmap the rows in which a flag is set, or of some numbers."""
    remaining = _left(len(table), *gone) if gone else table.filter(pc.invert(table["a"]))
    where = f"a in {gone}" if gone else "a"
    made = stored(table, lambda dataset: dataset.delete(where), _to_bitmap, holds=remaining)
    return edited(made, manifest(_SAID_BITMAP, SECOND))


CASES: tuple[Recipe, ...] = (
    case("table/any/deletions/named", "a bitmap that is named by its fragment",
        "L.table.deletions.name",
        stored(numbered(0, 12000), lambda ds: ds.delete("a % 2 = 1"), holds=_HALF)),
    case("table/any/deletions/arrow", "two rows deleted: an Arrow deletion file",
        ("L.table.deletions.arrow", "L.table.deletions.applied"),
        stored(numbered(0, 10), lambda ds: ds.delete("a = 3 or a = 7"), holds=_left(10, 3, 7))),
    *(fault(f"arrow-{slug}", title, "L.table.deletions.arrow", _arrow(**columns))
        for slug, title, columns in _OTHER_COLUMNS),
    fault("arrow-range", "a deleted row one after the last", "L.table.deletions.range",
        _arrow(row_id=pa.array([1, 10], pa.uint32()))),
    fault("arrow-fewer", "one deleted row where two are stated", "L.table.deletions.count",
        _arrow(row_id=pa.array([1], pa.uint32()))),
    fault("arrow-batches", "a batch that lies after the file", "L.table.deletions.arrow",
        SpanPatch(("footer",), lambda old: old[:-16] + b"\xff" * 4 + old[-12:],
            target="_deletions/*.arrow")),
    fault("count-rows", "more deleted rows than rows", "L.table.deletions.count",
        fragment({"deletion_file.num_deleted_rows": 11}, LAST)),
    fault("other-type", "an Arrow file told as a bitmap", "L.table.files.exist",
        fragment({"deletion_file.file_type": DeletionFile.BITMAP}, LAST)),
    lint("deletion-flag", "a deletion file without its flag", "L.table.flags.content",
        manifest({"reader_feature_flags": 0, "writer_feature_flags": 0}, LAST)),
    fault("missing", "the deletion file is gone", "L.table.files.exist",
        model.Remove("_deletions/*.arrow")),
    fault("count", "three deleted rows stated, two in the file", "L.table.deletions.count",
        fragment({"deletion_file.num_deleted_rows": 3}, LAST)),
    fault("type", "a deletion file of type 7", "L.table.deletions.type",
        fragment({"deletion_file.file_type": 7}, LAST)),
    fault("arrow", "an Arrow file that is cut short", "L.table.deletions.arrow",
        Resize(keep=-20, target="_deletions/*.arrow")),
    fault("rows-deleted", "more rows than the file has, of which some are deleted",
        "L.table.fragments.rows", fragment({"physical_rows": 11}, SECOND)),
    lint("deletion-flag-reader", "a deletion file, with its flag for readers alone",
        "L.table.flags.content",
        manifest({"reader_feature_flags": 1, "writer_feature_flags": 0}, SECOND)),
    case("table/any/deletions/bitmap", "6 000 rows deleted: a Roaring deletion file",
        ("L.table.deletions.bitmap", "L.table.deletions.applied"),
        stored(numbered(0, 12000), lambda ds: ds.delete("a % 2 = 1"), holds=_HALF)),
    fault("range", "a deleted row after the last", "L.table.deletions.range",
        SpanPatch(("container 0",), _move_last, target=_BIN)),
    fault("cookie", "a bitmap with another cookie", "L.table.roaring.cookie",
        SpanPatch(("cookie",), 12345, target=_BIN)),
    fault("containers", "a bitmap that claims 2**16 containers", "L.table.roaring.containers",
        SpanPatch(("containers",), 2 ** 16, target=_BIN)),
    fault("trailing", "a byte after the bitmap", "L.table.roaring.end",
        Resize(append=b"\x00", target=_BIN)),
    lint("container-offset", "a container said to stand one byte before its place",
        "L.table.roaring.offsets", SpanPatch(("container offsets",), 15, target=_BIN)),
    fault("renamed", "a deletion file under another name", "L.table.files.exist",
        model.Rename(_BIN, "_deletions/0.bin"), also="L.table.deletions.name"),
    fault("no-bitmap", "a deletion file that is no bitmap", "L.table.roaring.cookie",
        SpanPatch(("*cookie*",), 1, target=_BIN), also="L.table.deletions.bitmap"),
    case("table/any/deletions/fragment", "a fragment without a row left is gone",
        "L.table.fragments.order", stored(numbered(0, 9), lambda ds: ds.delete("a >= 3 and a < 6"),
            holds=_left(9, 3, 4, 5), max_rows_per_file=3)),
    case("table/any/deletions/arrow-three", "three deleted rows in an Arrow file",
        "L.table.deletions.arrow-distinct",
        stored(numbered(0, 10), lambda ds: ds.delete("a in (2, 5, 8)"), holds=_left(10, 2, 5, 8))),
    fault("arrow-distinct", "a row deleted twice", "L.table.deletions.arrow-distinct",
        SpanPatch(("row_id",), words(2, 2, 8, width=4), target="_deletions/*.arrow")),
    case("table/any/deletions/bitmap-array", "a bitmap with one array container",
        "L.table.roaring.order",
        _marked(numbered(0, 5), 1, 3), reachable=True),
    fault("deleted-next", "a row one after the last", "L.table.deletions.range", _values(1, 5)),
    fault("bitmap-order", "values of a container that fall", "L.table.roaring.order",
        SpanPatch(("container 0",), words(3, 1, width=2), target=_BIN)),
    fault("bitmap-short", "a bitmap of three bytes", "L.table.roaring.cookie", _bitmap(b":0\x00")),
    fault("bitmap-keys", "two containers of one key", "L.table.roaring.order",
        _bitmap(words(12346, 2, width=4), words(0, 0, 0, 0, width=2), words(24, 26, width=4),
            words(1, 3, width=2))),
    fault("bitmap-same", "a value that comes twice", "L.table.roaring.order", _values(1, 1)),
    fault("bitmap-end", "a container that ends early", "L.table.roaring.containers",
        Resize(keep=-1, target=_BIN)),
    fault("bitmap-table", "a table of containers that ends early", "L.table.roaring.containers",
        _bitmap(words(12346, 1, width=4), b"\x00\x00\x01")),
    fault("bitmap-offsets", "offsets of containers that end early", "L.table.roaring.offsets",
        _bitmap(words(12346, 1, width=4), words(0, 1, width=2), b"\x10\x00\x00")),
    fault("runs-overlap", "runs that share a value", "L.table.roaring.order", _runs(4, 0, 1, 1, 1)),
    fault("runs-past", "a run that leaves 16 bits", "L.table.roaring.order",
        _runs(2, 2 ** 16 - 1, 1)),
    fault("runs-last", "a run to the last of 16 bits, in a fragment of fewer rows",
        "L.table.deletions.range", _runs(2, 2 ** 16 - 2, 1)),
    fault("runs-fewer", "runs of fewer values than stated", "L.table.roaring.containers",
        _runs(3, 0, 1)),
    fault("runs-end", "runs that end early", "L.table.roaring.containers",
        _bitmap(words(_RUN_COOKIE, width=4), b"\x01", words(0, 1, 2, 0, 1, width=2))),
    fault("runs-mask", "no bytes to say which containers have runs", "L.table.roaring.containers",
        _bitmap(words(_RUN_COOKIE | 7 << 16, width=4))),
    fault("bitmap-full", "300 containers of all values", "L.table.limits.bitmap", _full()),
    fault("bitmap-count", "three deleted rows where two are stated", "L.table.deletions.count",
        _values(1, 2, 3)),
    case("table/any/deletions/bitmap-runs-two", "a bitmap with a container of two runs",
        ("L.table.roaring.order", "L.table.roaring.containers"),
        _marked(numbered(0, 30), *_RUNS), reachable=True),
    case("table/any/deletions/bitmap-keys-two", "a bitmap with a container for rows above 65535",
        "L.table.roaring.order", _marked(_BITS), reachable=True),
    case("table/any/deletions/bitmap-4096", "a bitmap with the most values of an array container",
        "L.table.roaring.containers", _marked(_EVEN), reachable=True),
    case("table/any/deletions/arrow-zstd", "a deletion file whose Arrow body is compressed",
        ("L.table.deletions.arrow-magic", "L.table.limits.deletions"),
        edited(stored(numbered(0, 50), lambda ds: ds.delete("a >= 10 and a < 15"),
                partial(_listed, compression="zstd"), holds=_left(50, *range(10, 15))))),
    fault("arrow-magic", "an Arrow file that begins with ARROWX", "L.table.deletions.arrow-magic",
        SpanPatch(("magic",), lambda old: b"ARROWX"[:len(old)], target="_deletions/*.arrow")),
    fault("arrow-bomb", "a compressed batch that claims 2**40 bytes", "L.table.limits.deletions",
        SpanPatch(("plain size of row_id",), 2 ** 40, target="_deletions/*.arrow")),
    fault("arrow-claim", "a compressed batch that claims 2**30 bytes", "L.table.limits.deletions",
        SpanPatch(("plain size of row_id",), 2 ** 30, target="_deletions/*.arrow")),
    case("table/any/deletions/bitmap-four", "a bitmap of four containers, which all have runs",
        "L.table.roaring.offsets", _marked(_SPARSE), reachable=True),
    case("table/any/deletions/two-pages", "deleted rows of each of two pages",
        "L.table.deletions.applied", edited(_case(_two_pages_left),
            edits.data_file({"file_size_bytes": None}, SECOND), by="reference")),
    case("table/any/deletions/every-row", "a fragment whose rows are all deleted",
        ("L.table.deletions.count", "L.table.deletions.applied"),
        edited(stored(numbered(0, 6), lambda ds: ds.delete("a < 2"), lambda ds: _listed(ds, 0, 1,
                    2), holds=numbered(3, 6), max_rows_per_file=3), manifest(
                {"fragments.0.deletion_file.num_deleted_rows": 3, **edits.UNLOGGED}, SECOND))),
    case("table/any/overlays/shared", "new values of two fields, for two rows of a fragment",
        ("L.table.overlay.value", "L.table.overlay.bitmap", "L.table.overlay.values",
            "L.table.overlay.version", "L.table.overlay.range", "L.txn.op.data-overlay"),
        _overlaid(([0, 2], pa.table({"a": [100, 102], "s": ["X", None]}), [0, 1]),
            a=[100, 1, 102, 3, 4, 5], s=["X", "b", None, "d", "e", "f"])),
    fault("bitmap", "offsets that are no bitmap", "L.table.overlay.bitmap",
        fragment(_first({"shared_offset_bitmap": lambda old: b"\x00" + old[1:]}), SECOND)),
    fault("version", "an overlay that says it is a file of 0.1", "L.table.overlay.version",
        fragment(_first({"data_file.file_major_version": 0, "data_file.file_minor_version": 2}),
            SECOND)),
    lint("stamp", "an overlay of another version than that of its commit", "L.txn.op.data-overlay",
        fragment(_first({"committed_version": 1}), SECOND)),
    case("table/any/overlays/each", "new values of two fields, for other rows of each",
        "L.table.overlay.coverage", _overlaid(([[1], [0, 2]],
                pa.table({"a": pa.array([101, None], pa.int64()), "s": ["X", "Z"]}), [0, 1]),
            a=[0, 101, 2, 3, 4, 5], s=["X", "b", "Z", "d", "e", "f"])),
    fault("coverage", "two fields and one set of offsets", "L.table.overlay.coverage",
        fragment(_first({"field_coverage.offset_bitmaps": lambda old: old[:-1]}), SECOND)),
    lint("each-range", "an offset of one field beyond the rows of the fragment",
        "L.table.overlay.range",
        fragment(_first({"field_coverage.offset_bitmaps.0": BitMap([1, 9]).serialize()}), SECOND)),
    case("table/any/overlays/newest", "a row that two overlays cover, beside a deleted one",
        ("L.table.overlay.newest", "L.table.overlay.order"),
        _overlaid(([0, 2], pa.table({"a": [100, 102]}), [0]), ([2], pa.table({"a": [202]}), [0]),
            after=lambda dataset: dataset.delete("a = 100"), gone=1, a=[100, 1, 202, 3, 4, 5])),
    fault("values", "two rows covered by a file of one", "L.table.overlay.values",
        fragment(lambda m: edits.update(m,
                {"overlays.1.shared_offset_bitmap": m.overlays[0].shared_offset_bitmap}),
            edits.FOURTH)),
    lint("range", "an offset beyond the rows of the fragment", "L.table.overlay.range",
        fragment(_first({"shared_offset_bitmap": lambda old: old[:-2] + b"\t\x00"}), edits.FOURTH)),
    case("table/any/overlays/nested", "new values below a struct, one field after the other",
        "L.table.overlay.value", _overlaid(([1], pa.table({"n": pa.array([{"x": 101}])}), [3]),
            ([1], pa.table({"n": pa.array([{"y": "X"}])}), [4]),
            n=[{"x": 101, "y": "X"} if n == 1 else {"x": n, "y": f"{n}"} for n in range(6)])),
    lint("overlay-order", "a newer overlay before an older one", "L.table.overlay.order",
        fragment({"overlays.0.committed_version": 9}, edits.THIRD)),
    case("table/any/overlays/indexed", "new values of a field that an older index is over",
        "L.table.overlay.index", _overlaid(([0, 2], pa.table({"a": [100, 4]}), [0]),
            before=lambda dataset: dataset.create_scalar_index("a", "BTREE"),
            a=[100, 1, 4, 3, 4, 5])),
    lint("index-current", "an index with old values that is said to know the new ones",
        "L.index.segment.complete", edits.index({"dataset_version": 3}, edits.THIRD)),
    case("table/any/overlays/two-pages", "new values for a row of each of two pages",
        "L.table.overlay.value", edited(_case(_two_pages),
            edits.data_file({"file_size_bytes": None}, SECOND), by="reference")),
    case("table/any/overlays/lists", "new lists in the place of others", "L.table.overlay.value",
        _case(_new_lists)),
)  # fmt: skip

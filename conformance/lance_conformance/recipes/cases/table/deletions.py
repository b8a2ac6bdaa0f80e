"""Cases of deletion files: Arrow, and bitmaps of Roaring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyroaring
from lanceref.proto.table_pb2 import DeletionFile

from lance_conformance.recipes.columns import numbered
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import (
    FORGOTTEN,
    LAST,
    SECOND,
    anew,
    fragment,
    manifest,
)
from lance_conformance.recipes.handmade_files import reworked, words
from lance_conformance.recipes.model import Recipe, Remove, Rename, Resize, SpanPatch
from lance_conformance.recipes.oracle_made import stored


def _left(rows: int, *gone: int) -> pa.Table:
    return numbered(0, rows).take([row for row in range(rows) if row not in gone])


def _deletions(dataset: Any) -> Path:
    (path,) = Path(dataset.uri, "_deletions").iterdir()
    return path


def _to_bitmap(dataset: Any) -> None:
    """Put a bitmap, of runs where they are shorter, in place of the Arrow file."""
    path = _deletions(dataset)
    bitmap = pyroaring.BitMap(pa.ipc.open_file(path.read_bytes()).read_all()["row_id"].to_pylist())
    bitmap.run_optimize()
    path.unlink()
    path.with_suffix(".bin").write_bytes(bitmap.serialize())


def _compressed(dataset: Any) -> None:
    """Compress the file that lists the rows."""
    listed = pa.ipc.open_file(_deletions(dataset).read_bytes()).read_all()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(_deletions(dataset), listed.schema, options=options) as writer:
        writer.write_table(listed)


def _all_three(dataset: Any) -> None:
    """Let the file say that all three rows of a fragment are deleted."""
    schema = pa.schema([pa.field("row_id", pa.uint32(), False)])
    with pa.ipc.new_file(_deletions(dataset), schema) as writer:
        writer.write_table(pa.table([pa.array([0, 1, 2], pa.uint32())], schema=schema))


_RUNS = (*range(2, 12), *range(15, 25))


_FAR_ROWS = 65_560
"""Rows of which some have more than 16 bits."""

_BITS = pa.table({"a": pa.array([n in (1, 65537) for n in range(_FAR_ROWS)])})

_HALF = numbered(0, 12000).take(pa.array(range(0, 12000, 2)))
_BIN = "_deletions/*.bin"
_RUN_COOKIE = 12347


def _arrow(**columns: pa.Array) -> Resize:
    """Put another table in the place of the deleted rows."""
    table, sink = (pa.table(columns), pa.BufferOutputStream())
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return anew(sink.getvalue().to_pybytes(), "_deletions/*.arrow")


def _bitmap(*parts: bytes) -> Resize:
    return anew(b"".join(parts), _BIN)


def _values(*values: int) -> Resize:
    """One container of an array of values."""
    head = words(12346, 1, width=4) + words(0, len(values) - 1, width=2) + words(16, width=4)
    return _bitmap(head, words(*values, width=2))


def _runs(cardinality: int, *pairs: int) -> Resize:
    """One container of runs: pairs of a start and a length less one."""
    head = words(_RUN_COOKIE, width=4) + b"\x01" + words(0, cardinality - 1, width=2)
    return _bitmap(head, words(len(pairs) // 2, *pairs, width=2))


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


CASES: tuple[Recipe, ...] = (
    case("table/any/deletions/named", "a bitmap that is named by its fragment",
        "L.table.deletions.name",
        stored(numbered(0, 12000), lambda ds: ds.delete("a % 2 = 1"), holds=_HALF)),
    case("table/any/deletions/arrow", "two rows deleted: an Arrow deletion file",
        ("L.table.deletions.arrow", "L.table.deletions.applied"),
        stored(numbered(0, 10), lambda ds: ds.delete("a = 3 or a = 7"), holds=_left(10, 3, 7))),
    fault("arrow-name", "deleted rows in a column of another name", "L.table.deletions.arrow",
        _arrow(rows=pa.array([1, 3], pa.uint32()))),
    fault("arrow-type", "deleted rows of 64 bits", "L.table.deletions.arrow",
        _arrow(row_id=pa.array([1, 3], pa.uint64()))),
    fault("arrow-signed", "deleted rows that are signed", "L.table.deletions.arrow",
        _arrow(row_id=pa.array([1, 3], pa.int32()))),
    fault("arrow-null", "a deleted row that is null", "L.table.deletions.arrow",
        _arrow(row_id=pa.array([1, None], pa.uint32()))),
    fault("arrow-columns", "a second column beside the deleted rows", "L.table.deletions.arrow",
        _arrow(row_id=pa.array([1, 3], pa.uint32()), more=pa.array([0, 0], pa.uint32()))),
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
        Remove("_deletions/*.arrow")),
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
        Rename(_BIN, "_deletions/0.bin"), also="L.table.deletions.name"),
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
        "L.table.roaring.order", reworked(stored(numbered(0, 5),
        lambda ds: ds.delete("a in (1, 3)"), _to_bitmap, holds=_left(5, 1, 3)),
        manifest({"fragments.0.deletion_file.file_type": DeletionFile.BITMAP}, SECOND))),
    fault("deleted-next", "a row one after the last", "L.table.deletions.range", _values(1, 5)),
    fault("bitmap-order", "values of a container that fall", "L.table.roaring.order",
        SpanPatch(("container 0",), words(3, 1, width=2), target=_BIN)),
    fault("bitmap-short", "a bitmap of three bytes", "L.table.roaring.cookie", _bitmap(b":0\x00")),
    fault("bitmap-keys", "two containers of one key", "L.table.roaring.order", _bitmap(words(12346,
        2, width=4), words(0, 0, 0, 0, width=2), words(24, 26, width=4), words(1, 3, width=2))),
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
        ("L.table.roaring.order", "L.table.roaring.containers"), reworked(stored(numbered(0, 30),
        lambda ds: ds.delete(f"a in {_RUNS}"), _to_bitmap, holds=_left(30, *_RUNS)),
        manifest({"fragments.0.deletion_file.file_type": DeletionFile.BITMAP}, SECOND))),
    case("table/any/deletions/bitmap-keys-two", "a bitmap with a container for rows above 65535",
        "L.table.roaring.order", reworked(stored(_BITS, lambda ds: ds.delete("a"), _to_bitmap,
        holds=_BITS.take(pa.array([n for n in range(_FAR_ROWS) if n not in (1, 65537)]))),
        manifest({"fragments.0.deletion_file.file_type": DeletionFile.BITMAP}, SECOND))),
    case("table/any/deletions/arrow-zstd", "a deletion file whose Arrow body is compressed",
        ("L.table.deletions.arrow-magic", "L.table.limits.deletions"),
        reworked(stored(numbered(0, 50), lambda ds: ds.delete("a >= 10 and a < 15"), _compressed,
                holds=_left(50, *range(10, 15)))), reachable=False),
    fault("arrow-magic", "an Arrow file that begins with ARROWX", "L.table.deletions.arrow-magic",
        SpanPatch(("magic",), lambda old: b"ARROWX"[:len(old)], target="_deletions/*.arrow")),
    fault("arrow-bomb", "a compressed batch that claims 2**40 bytes", "L.table.limits.deletions",
        SpanPatch(("plain size of row_id",), 2 ** 40, target="_deletions/*.arrow")),
    fault("arrow-claim", "a compressed batch that claims 2**30 bytes", "L.table.limits.deletions",
        SpanPatch(("plain size of row_id",), 2 ** 30, target="_deletions/*.arrow")),
    case("table/any/deletions/every-row", "a fragment whose rows are all deleted",
        ("L.table.deletions.count", "L.table.deletions.applied"), reworked(stored(numbered(0, 6),
        lambda ds: ds.delete("a < 2"), _all_three, holds=numbered(3, 6), max_rows_per_file=3),
        manifest({"fragments.0.deletion_file.num_deleted_rows": 3, **FORGOTTEN}, SECOND)),
        reachable=False),
)  # fmt: skip

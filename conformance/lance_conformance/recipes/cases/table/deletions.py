"""Cases of deletion files: Arrow, and bitmaps of Roaring."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyroaring
from lanceref.proto.table_pb2 import DeletionFile, Manifest

from lance_conformance.recipes.columns import numbered
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import LAST, SECOND, anew, forgotten
from lance_conformance.recipes.handmade_files import reworked, words
from lance_conformance.recipes.messages import fragment, manifest, setting
from lance_conformance.recipes.model import MessageEdit, Recipe, Remove, Rename, Resize, SpanPatch
from lance_conformance.recipes.oracle_made import dataset, stored, write


def _as_bitmap(uri: str) -> pa.Table:
    """Delete rows 1 and 3, and put a bitmap in place of the Arrow file."""
    write(numbered(0, 5), uri, data_storage_version="2.1").delete("a in (1, 3)")
    (path,) = Path(uri, "_deletions").iterdir()
    path.unlink()
    path.with_suffix(".bin").write_bytes(pyroaring.BitMap([1, 3]).serialize())
    return pa.table({"a": pa.array([0, 2, 4], pa.int64())})


def _as_runs(uri: str) -> pa.Table:
    """Delete two runs of rows, and put a bitmap of runs in place of the Arrow file."""
    gone = [*range(2, 12), *range(15, 25)]
    write(numbered(0, 30), uri, data_storage_version="2.1").delete(f"a in {tuple(gone)}")
    (path,) = Path(uri, "_deletions").iterdir()
    path.unlink()
    bitmap = pyroaring.BitMap(gone)
    bitmap.run_optimize()
    path.with_suffix(".bin").write_bytes(bitmap.serialize())
    return pa.table({"a": pa.array([*range(2), *range(12, 15), *range(25, 30)], pa.int64())})


def _compressed_deletions(uri: str) -> pa.Table:
    """Delete five rows of 50, and compress the file that lists them."""
    rows = pa.table({"a": pa.array(range(50), pa.int64())})
    write(rows, uri, data_storage_version="2.1").delete("a >= 10 and a < 15")
    (path,) = Path(uri, "_deletions").iterdir()
    listed = pa.ipc.open_file(path.read_bytes()).read_all()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, listed.schema, options=options) as writer,
    ):
        writer.write_table(listed)
    return pa.table({"a": pa.array([*range(10), *range(15, 50)], pa.int64())})


_PLAIN_COOKIE = 12346
_RUN_COOKIE = 12347


def _arrow(**columns: pa.Array) -> Resize:
    """Put another table in the place of the deleted rows."""
    table, sink = (pa.table(columns), pa.BufferOutputStream())
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return anew(sink.getvalue().to_pybytes(), "_deletions/*.arrow")


def _bitmap(*parts: bytes) -> Resize:
    return anew(b"".join(parts), "_deletions/*.bin")


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


def _deletion_file(**values: object) -> MessageEdit:
    return fragment(lambda f: setting(**values)(f.deletion_file), LAST)


_BIN = "_deletions/*.bin"


def _move_last(bitmap: bytes) -> bytes:
    """Clear the first value of a bitmap and set its last bit: as many values, one out of range."""
    first = next((i for i, byte in enumerate(bitmap) if byte))
    cleared = bitmap[first] & bitmap[first] - 1
    return bitmap[:first] + bytes([cleared]) + bitmap[first + 1 : -1] + b"\x80"


def _all_deleted(uri: str) -> pa.Table:
    """Delete two rows of three, and let the file say that it was all of them."""
    write(numbered(0, 6), uri, data_storage_version="2.1", max_rows_per_file=3).delete("a < 2")
    (path,) = Path(uri, "_deletions").iterdir()
    schema = pa.schema([pa.field("row_id", pa.uint32(), False)])
    table = pa.table([pa.array([0, 1, 2], pa.uint32())], schema=schema)
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(table)
    return numbered(3, 6)


def _three_deleted(message: Manifest) -> None:
    message.fragments[0].deletion_file.num_deleted_rows = 3
    forgotten(message)


CASES: tuple[Recipe, ...] = (
    case("table/any/deletions/named", "a bitmap that is named by its fragment",
        "L.table.deletions.name", stored(numbered(0, 12000), lambda ds: ds.delete("a % 2 = 1"),
        holds=pa.table({"a": pa.array(range(0, 12000, 2), pa.int64())}))),
    case("table/any/deletions/arrow", "two rows deleted: an Arrow deletion file",
        ("L.table.deletions.arrow", "L.table.deletions.applied"),
        stored(numbered(0, 10), lambda ds: ds.delete("a = 3 or a = 7"),
            holds=pa.table({"a": pa.array([0, 1, 2, 4, 5, 6, 8, 9], pa.int64())}))),
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
        _deletion_file(num_deleted_rows=3)),
    fault("type", "a deletion file of type 7", "L.table.deletions.type",
        _deletion_file(file_type=7)),
    fault("arrow", "an Arrow file that is cut short", "L.table.deletions.arrow",
        Resize(keep=-20, target="_deletions/*.arrow")),
    fault("rows-deleted", "more rows than the file has, of which some are deleted",
        "L.table.fragments.rows", fragment({"physical_rows": 11}, SECOND)),
    lint("deletion-flag-reader", "a deletion file, with its flag for readers alone",
        "L.table.flags.content",
        manifest({"reader_feature_flags": 1, "writer_feature_flags": 0}, SECOND)),
    case("table/any/deletions/bitmap", "6 000 rows deleted: a Roaring deletion file",
        ("L.table.deletions.bitmap", "L.table.deletions.applied"),
        stored(numbered(0, 12000), lambda ds: ds.delete("a % 2 = 1"),
            holds=pa.table({"a": pa.array(range(0, 12000, 2), pa.int64())}))),
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
        Rename("_deletions/*.bin", "_deletions/0.bin"), also="L.table.deletions.name"),
    fault("no-bitmap", "a deletion file that is no bitmap", "L.table.roaring.cookie",
        SpanPatch(("*cookie*",), 1, target="_deletions/*.bin"), also="L.table.deletions.bitmap"),
    case("table/any/deletions/fragment", "a fragment without a row left is gone",
        "L.table.fragments.order", stored(numbered(0, 9), lambda ds: ds.delete("a >= 3 and a < 6"),
        holds=pa.table({"a": pa.array([0, 1, 2, 6, 7, 8], pa.int64())}), max_rows_per_file=3)),
    case("table/any/deletions/arrow-three", "three deleted rows in an Arrow file",
        "L.table.deletions.arrow-distinct",
        stored(numbered(0, 10), lambda ds: ds.delete("a in (2, 5, 8)"),
            holds=pa.table({"a": pa.array([0, 1, 3, 4, 6, 7, 9], pa.int64())}))),
    fault("arrow-distinct", "a row deleted twice", "L.table.deletions.arrow-distinct",
        SpanPatch(("row_id",), words(2, 2, 8, width=4), target="_deletions/*.arrow")),
    case("table/any/deletions/bitmap-array", "a bitmap with one array container",
        "L.table.roaring.order", reworked(dataset(_as_bitmap),
        manifest({"fragments.0.deletion_file.file_type": DeletionFile.BITMAP},
        "_versions/18446744073709551613.manifest"))),
    fault("deleted-next", "a row one after the last", "L.table.deletions.range", Resize(keep=0,
        append=words(12346, 1, width=4) + words(0, 1, width=2) + words(16, width=4) + words(1, 5,
        width=2), target="_deletions/*.bin")),
    fault("bitmap-order", "values of a container that fall", "L.table.roaring.order",
        SpanPatch(("container 0",), words(3, 1, width=2), target="_deletions/*.bin")),
    fault("bitmap-short", "a bitmap of three bytes", "L.table.roaring.cookie", _bitmap(b":0\x00")),
    fault("bitmap-keys", "two containers of one key", "L.table.roaring.order",
        _bitmap(words(_PLAIN_COOKIE, 2, width=4), words(0, 0, 0, 0, width=2),
            words(24, 26, width=4), words(1, 3, width=2))),
    fault("bitmap-same", "a value that comes twice", "L.table.roaring.order",
        _bitmap(words(_PLAIN_COOKIE, 1, width=4), words(0, 1, width=2), words(16, width=4),
            words(1, 1, width=2))),
    fault("bitmap-end", "a container that ends early", "L.table.roaring.containers",
        Resize(keep=-1, target="_deletions/*.bin")),
    fault("bitmap-table", "a table of containers that ends early", "L.table.roaring.containers",
        _bitmap(words(_PLAIN_COOKIE, 1, width=4), b"\x00\x00\x01")),
    fault("bitmap-offsets", "offsets of containers that end early", "L.table.roaring.offsets",
        _bitmap(words(_PLAIN_COOKIE, 1, width=4), words(0, 1, width=2), b"\x10\x00\x00")),
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
        _bitmap(words(_PLAIN_COOKIE, 1, width=4), words(0, 2, width=2), words(16, width=4),
            words(1, 2, 3, width=2))),
    case("table/any/deletions/bitmap-runs-two", "a bitmap with a container of two runs",
        ("L.table.roaring.order", "L.table.roaring.containers"), reworked(dataset(_as_runs),
        manifest({"fragments.0.deletion_file.file_type": DeletionFile.BITMAP},
        "_versions/18446744073709551613.manifest"))),
    case("table/any/deletions/arrow-zstd", "a deletion file whose Arrow body is compressed",
        ("L.table.deletions.arrow-magic", "L.table.limits.deletions"),
        lambda: replace(dataset(_compressed_deletions)(), made_by="hand"), reachable=False),
    fault("arrow-magic", "an Arrow file that begins with ARROWX", "L.table.deletions.arrow-magic",
        SpanPatch(("magic",), lambda old: b"ARROWX"[:len(old)], target="_deletions/*.arrow")),
    fault("arrow-bomb", "a compressed batch that claims 2**40 bytes", "L.table.limits.deletions",
        SpanPatch(("plain size of row_id",), 2 ** 40, target="_deletions/*.arrow")),
    case("table/any/deletions/every-row", "a fragment whose rows are all deleted",
        ("L.table.deletions.count", "L.table.deletions.applied"),
        reworked(dataset(_all_deleted), manifest(_three_deleted, SECOND)), reachable=False),
)  # fmt: skip

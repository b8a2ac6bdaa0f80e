"""Positive cases of what lies around a table's rows: ids, versions, indices, refs, commits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyroaring
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.table_pb2 import DataFile, DeletionFile, Manifest

from lance_conformance.recipes.hand import reworked, words
from lance_conformance.recipes.messages import data_file, manifest
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.tables.datasets import table_case


def rows(start: int, end: int) -> pa.Table:
    """Return a table of one int64 column `a`: `start` to `end` - 1."""
    return pa.table({"a": pa.array(range(start, end), pa.int64())})


def segments() -> pb.RowIdSequence:
    """Return 13 ids in segments of all five kinds."""
    sequence = pb.RowIdSequence()
    sequence.segments.add().range.end = 3
    holes = sequence.segments.add().range_with_holes
    holes.start, holes.end = 10, 15
    holes.holes.u32_array.base = 10
    holes.holes.u32_array.offsets = words(2, width=4)
    bitmap = sequence.segments.add().range_with_bitmap
    bitmap.start, bitmap.end, bitmap.bitmap = 20, 23, b"\5"
    ascending = sequence.segments.add().sorted_array.u16_array
    ascending.base, ascending.offsets = 30, words(0, 4, width=2)
    sequence.segments.add().array.u64_array.values = words(50, 40)
    return sequence


def _set_ids(manifest: Manifest) -> None:
    fragment = manifest.fragments[0]
    fragment.inline_row_ids = segments().SerializeToString()
    manifest.next_row_id = 51


def _set_wide_ids(manifest: Manifest) -> None:
    """Give the 13 rows ids by a bitmap of twelve bits and a range with two holes."""
    sequence = pb.RowIdSequence()
    bitmap = sequence.segments.add().range_with_bitmap
    bitmap.start, bitmap.end, bitmap.bitmap = 1000, 1012, b"\xa1\x0b"
    holes = sequence.segments.add().range_with_holes
    holes.start, holes.end = 10, 19
    holes.holes.u16_array.base = 11
    holes.holes.u16_array.offsets = words(0, 5, width=2)
    manifest.fragments[0].inline_row_ids = sequence.SerializeToString()
    manifest.next_row_id = 1012


def _with_ids(uri: str) -> pa.Table:
    ids = [1000, 1005, 1007, 1008, 1009, 1011, 10, 12, 13, 14, 15, 17, 18]
    return _stable(uri).append_column("_rowid", pa.array(ids, pa.uint64()))


def _stable(uri: str) -> pa.Table:
    write(rows(0, 13), uri, data_storage_version="2.1", enable_stable_row_ids=True)
    return rows(0, 13)


def two_indices(uri: str) -> pa.Table:
    """Write a table of two columns with an index each, and return it."""
    table = pa.table({"a": [0, 1, 2], "b": ["x", "y", "z"]})
    ds = write(table, uri, data_storage_version="2.1")
    ds.create_scalar_index("a", "BTREE")
    ds.create_scalar_index("b", "BITMAP")
    return table


def _referred(uri: str) -> pa.Table:
    """Name version 1 by a tag, and leave it by a branch."""
    ds = write(rows(0, 3), uri, data_storage_version="2.1")
    ds.tags.create("first", 1)
    branch = {"parentBranch": None, "parentVersion": 1, "createAt": 0, "manifestSize": 1}
    folder = Path(uri, "_refs", "branches")
    folder.mkdir(parents=True)
    (folder / "line.json").write_text(json.dumps(branch), encoding="utf-8")
    return rows(0, 3)


def _old_branch(uri: str) -> pa.Table:
    """Leave version 1 by a branch of which hardly anything is said."""
    write(rows(0, 3), uri, data_storage_version="2.1")
    folder = Path(uri, "_refs", "branches")
    folder.mkdir(parents=True)
    (folder / "old.json").write_text(json.dumps({"parentVersion": 1}), encoding="utf-8")
    return rows(0, 3)


def _deleted(uri: str) -> pa.Table:
    write(rows(0, 10), uri, data_storage_version="2.1").delete("a in (2, 5, 8)")
    return pa.table({"a": pa.array([0, 1, 3, 4, 6, 7, 9], pa.int64())})


def _as_bitmap(uri: str) -> pa.Table:
    """Delete rows 1 and 3, and put a bitmap in place of the Arrow file."""
    write(rows(0, 5), uri, data_storage_version="2.1").delete("a in (1, 3)")
    (path,) = Path(uri, "_deletions").iterdir()
    path.unlink()
    path.with_suffix(".bin").write_bytes(pyroaring.BitMap([1, 3]).serialize())
    return pa.table({"a": pa.array([0, 2, 4], pa.int64())})


def _points(uri: str) -> pa.Table:
    table = pa.table({"s": [{"x": 1}, {"x": 2}]})
    write(table, uri, data_storage_version="2.1")
    return table


def _with_parents(entry: DataFile) -> None:
    """Name the struct too, and a field that is gone, neither of which has a column."""
    entry.fields[:] = [0, 7, 1]
    entry.column_indices[:] = [-1, -1, 0]


def _as_runs(uri: str) -> pa.Table:
    """Delete two runs of rows, and put a bitmap of runs in place of the Arrow file."""
    gone = [*range(2, 12), *range(15, 25)]
    write(rows(0, 30), uri, data_storage_version="2.1").delete(f"a in {tuple(gone)}")
    (path,) = Path(uri, "_deletions").iterdir()
    path.unlink()
    bitmap = pyroaring.BitMap(gone)
    bitmap.run_optimize()
    path.with_suffix(".bin").write_bytes(bitmap.serialize())
    return pa.table({"a": pa.array([*range(2), *range(12, 15), *range(25, 30)], pa.int64())})


def _bitmap_type(manifest: Manifest) -> None:
    manifest.fragments[0].deletion_file.file_type = DeletionFile.BITMAP


def _one(uri: str) -> pa.Table:
    write(rows(0, 2), uri, data_storage_version="2.1")
    return rows(0, 2)


def _three(uri: str) -> pa.Table:
    write(rows(0, 6), uri, data_storage_version="2.1", max_rows_per_file=2)
    return rows(0, 6)


POSITIVES: tuple[Positive, ...] = (
    table_case(
        "row-ids/segments",
        "row ids in segments of all five kinds",
        ("L.table.row-ids.message", "L.table.row-ids.segment", "L.table.row-ids.unique"),
        reworked(dataset(_stable), manifest(_set_ids)),
    ),
    replace(
        table_case(
            "row-ids/wide",
            "row ids in a bitmap of two bytes, and beside two holes",
            ("L.table.row-ids.bitmap", "L.table.row-ids.holes"),
            reworked(dataset(_with_ids), manifest(_set_wide_ids)),
        ),
        args={"columns": ["a"], "with": ["_rowid"]},
    ),
    table_case(
        "row-ids/versions",
        "fresh rows: created and last updated in version 1",
        ("L.table.row-versions.order", "L.table.row-ids.column"),
        dataset(_stable),
    ),
    table_case(
        "manifest/two-indices",
        "two indices, each with its fragments and field",
        (
            "L.table.index.unique",
            "L.table.index.fragment-bitmap",
            "L.table.index.fields",
            "L.table.index.covering",
        ),
        dataset(two_indices),
    ),
    table_case(
        "manifest/refs",
        "a tag and a branch of version 1",
        ("L.table.refs.tag", "L.table.refs.branch", "L.table.refs.exists"),
        dataset(_referred),
    ),
    table_case(
        "manifest/old-branch",
        "a branch that states only the version it left",
        ("L.table.refs.branch",),
        dataset(_old_branch),
    ),
    table_case(
        "fragments/parents",
        "fields without a column: a struct, and one that is gone",
        ("L.table.datafile.indices",),
        reworked(dataset(_points), data_file(_with_parents)),
    ),
    table_case(
        "manifest/one-commit",
        "one commit: a manifest, its transaction twice",
        (
            "L.txn.file.message",
            "L.txn.file.name",
            "L.txn.inline.same",
            "L.table.manifest.timestamp",
            "L.table.datafile.no-field",
        ),
        dataset(_one),
    ),
    table_case(
        "fragments/numbers",
        "three fragments and the highest id any had",
        ("L.table.fragments.max-id-present", "L.table.schema.max-id", "L.table.fragments.address"),
        dataset(_three),
    ),
    table_case(
        "deletions/arrow-three",
        "three deleted rows in an Arrow file",
        ("L.table.deletions.arrow-distinct",),
        dataset(_deleted),
    ),
    table_case(
        "deletions/bitmap-array",
        "a bitmap with one array container",
        ("L.table.roaring.order",),
        reworked(
            dataset(_as_bitmap), manifest(_bitmap_type, "_versions/18446744073709551613.manifest")
        ),
    ),
    table_case(
        "deletions/bitmap-runs-two",
        "a bitmap with a container of two runs",
        ("L.table.roaring.order", "L.table.roaring.containers"),
        reworked(
            dataset(_as_runs), manifest(_bitmap_type, "_versions/18446744073709551613.manifest")
        ),
    ),
)
"""Every positive case of the marks of a table."""

"""Cases of fragments: data files, fields, paths, statistics, row ids and row versions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.table_pb2 import DataFile

from lance_conformance.oracle import lance
from lance_conformance.recipes.cases.transactions.commits import VERSIONS
from lance_conformance.recipes.columns import numbered, two
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import SECOND, build, data_file, fragment, inside, manifest
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.model import Maker, MessageEdit, Paths, Recipe
from lance_conformance.recipes.oracle_files import dataset, stored, write


def _tombstoned(uri: str) -> pa.Table:
    ds = write(two(0, 4), uri, data_storage_version="2.1")
    changed = pa.table({"a": pa.array([1, 2], pa.int64()), "b": ["x", "y"]})
    (fragment,) = ds.get_fragments()
    new, ids, *_ = fragment.update_columns(changed, left_on="a")
    operation = lance().LanceOperation.Update(
        updated_fragments=[new], fields_modified=ids, update_mode="rewrite_columns"
    )
    lance().LanceDataset.commit(uri, operation, read_version=1)
    return pa.table({"a": pa.array(range(4), pa.int64()), "b": ["0", "x", "y", "3"]})


_POINTS = pa.array([{"x": 1}, {"x": 2}], pa.struct([("x", pa.int32())]))
_WIDER = pa.struct([("x", pa.int32()), ("z", pa.int32())])

_IDS = {"segments.0.range.end": 3, "segments.1.range_with_holes.start": 10,
    "segments.1.range_with_holes.end": 15, "segments.1.range_with_holes.holes.u32_array.base": 10,
    "segments.1.range_with_holes.holes.u32_array.offsets": words(2, width=4),
    "segments.2.range_with_bitmap.start": 20, "segments.2.range_with_bitmap.end": 23,
    "segments.2.range_with_bitmap.bitmap": b"\x05", "segments.3.sorted_array.u16_array.base": 30,
    "segments.3.sorted_array.u16_array.offsets": words(0, 4, width=2),
    "segments.4.array.u64_array.values": words(50, 40)}  # fmt: skip
"""13 ids in segments of all five kinds."""

_WIDE_IDS = {"segments.0.range_with_bitmap.start": 1000, "segments.0.range_with_bitmap.end": 1012,
    "segments.0.range_with_bitmap.bitmap": b"\xa1\x0b", "segments.1.range_with_holes.start": 10,
    "segments.1.range_with_holes.end": 19, "segments.1.range_with_holes.holes.u16_array.base": 11,
    "segments.1.range_with_holes.holes.u16_array.offsets": words(0, 5, width=2)}  # fmt: skip
"""13 ids in a bitmap of twelve bits and a range with two holes."""

_SORTED, _HOLES = "3.sorted_array.u16_array", "1.range_with_holes.holes.u32_array"
_BITMAP, _WIDE = "2.range_with_bitmap.bitmap", "4.array.u64_array.values"
_WRONG_IDS = (
    ("segment", "a segment of no kind", "segment", "0.range", None),
    ("range", "a range that ends before it starts", "range", "0.range.start", 7),
    ("holes", "a hole outside of its range", "holes", f"{_HOLES}.base", 20),
    ("width", "an array of a byte and a half", "array-width", f"{_SORTED}.offsets", bytes(3)),
    ("sorted", "a sorted array that falls", "sorted", f"{_SORTED}.offsets", words(4, 0, width=2)),
    ("overflow", "an id beyond 64 bits", "overflow", f"{_SORTED}.base", 2 ** 64 - 2),
    ("overflow-next", "an id of 2**64", "overflow", f"{_SORTED}.base", 2 ** 64 - 4),
    ("bitmap-short", "a bitmap of no bytes", "bitmap", _BITMAP, b""),
    ("bitmap-long", "a bitmap of two bytes for three ids", "bitmap", _BITMAP, b"\x05\x00"),
    ("hole-end", "a hole one after its range", "holes", f"{_HOLES}.base", 13),
    ("range-far", "a range of 2**64 - 1 ids", "length", "0.range.end", 2 ** 64 - 1),
    ("longer", "one id more than rows", "length", "0.range.end", 4),
    ("sorted-same", "a sorted array that repeats", "sorted", f"{_SORTED}.offsets",
        words(4, 4, width=2)),
    ("u32", "an array of 32 bits of six bytes", "array-width", f"{_HOLES}.offsets", bytes(6)),
    ("u64", "an array of 64 bits of twelve bytes", "array-width", _WIDE, bytes(12)),
)  # fmt: skip
"""Faults of segments: their clauses, where they are, and what stands there."""

_NO_VALUES = {"segments.0.range.start": 4, "segments.0.range.end": 4,
    "segments.1.array.u64_array": {}, "segments.2.range.start": 7,
    "segments.2.range.end": 10}  # fmt: skip
"""Segments without a value before one of three."""


def _given(ids: Paths, next_id: int) -> MessageEdit:
    """Give the rows of the first fragment other ids."""
    sequence = build(pb.RowIdSequence, ids).SerializeToString()
    return manifest({"fragments.0.inline_row_ids": sequence, "next_row_id": next_id})


def _ids(edit: Paths) -> MessageEdit:
    """Change the row ids of the first fragment."""
    return fragment({"inline_row_ids": inside(pb.RowIdSequence, edit)})


def _stable(ids: Sequence[int] | None = None) -> Maker:
    rows = numbered(0, 13 if ids is None else len(ids))
    read = rows if ids is None else rows.append_column("_rowid", pa.array(ids, pa.uint64()))
    return stored(rows, holds=read, enable_stable_row_ids=True)


_LEFT = pa.table([pa.array([0, 4, 5, 1, 3, 6, 7], pa.int64()), *(pa.array(values, pa.uint64())
            for values in ([1] * 5 + [4] * 2, [1] * 3 + [2] * 2 + [4] * 2, [0, 4, 5, 1, 3, 6, 7]))],
    ["a", *VERSIONS, "_rowid"])  # fmt: skip
"""Rows that are left where they were, that an update moved, that were appended, with their ids."""

_PAIR = pa.struct([("x", pa.int32()), ("y", pa.int32())])
_PAIRS = [[{"x": 1, "y": 2}, {"x": 3, "y": 4}], [{"x": 5, "y": 6}, {"x": 7, "y": 8}]]
_TWICE = pa.table({"l": pa.array([*_PAIRS, None, _PAIRS[0][:1]], pa.list_(_PAIR)),
        "k": pa.array([[{"z": 1}], [{"z": 2}, {"z": 3}], None, [{"z": 4}, {"z": 5}]],
            pa.list_(pa.struct([("z", pa.int32())])))})  # fmt: skip
"""Lists of structs, and other lists that have as many structs."""

_LAST = 3
"""Id of the last field of the structs."""


def _copied(ds: Any) -> None:
    """Put a copy of the data file beside it."""
    (path,) = Path(ds.uri, "data").iterdir()
    path.with_name("copy.lance").write_bytes(path.read_bytes())


def _halved(files: list[DataFile]) -> list[DataFile]:
    """Let the file hold every field but the last of a struct, and its copy that one."""
    (whole,) = files
    first, second = DataFile(), DataFile()
    for part, path, is_last in ((first, whole.path, False), (second, "copy.lance", True)):
        part.CopyFrom(whole)
        part.path = path
        pairs = zip(whole.fields, whole.column_indices, strict=True)
        pairs_ = [(field_id, at) for field_id, at in pairs if (field_id == _LAST) == is_last]
        part.fields[:] = [field_id for field_id, _ in pairs_]
        part.column_indices[:] = [at for _, at in pairs_]
    return [first, second]


CASES: tuple[Recipe, ...] = (
    case("table/any/fragments/three", "rows in the order of the fragments",
        "L.table.fragments.order", stored(numbered(0, 9), max_rows_per_file=3)),
    fault("order", "fragments in another order than their ids", "L.table.fragments.order",
        manifest({"fragments.0.id": 1, "fragments.1.id": 0})),
    fault("id-twice", "two fragments of one id, told by the first release that gave no two",
        "L.table.fragments.ids",
        manifest({"writer_version.version": "0.17.0", "fragments.1.id": 0})),
    fault("path-second", "a data file of the second fragment outside of its folder",
        "L.table.datafile.path",
        manifest({"fragments.1.files.0.path": lambda old: f"../data/{old}"})),
    fault("file-version-other", "a 2.2 file in a table of 2.1", "L.table.datafile.version",
        data_file({"file_minor_version": 2})),
    case("table/any/fragments/second-file", "a column in a file of its own",
        "L.table.datafile.lookup", stored(numbered(0, 4), lambda ds: ds.add_columns({"b": "a + 1"}),
            holds=numbered(0, 4).append_column("b", pa.array([1, 2, 3, 4], pa.int64())))),
    fault("once", "a field in two files, told by the first release that gave none two",
        "L.table.datafile.once",
        manifest({"writer_version.version": "0.11.0", "fragments.0.files.1.fields.0": 0}, SECOND)),
    case("table/any/fragments/null-column", "a field in no file is all null",
        "L.table.datafile.missing-field",
        stored(numbered(0, 3), lambda ds: ds.add_columns(pa.field("n", pa.int32())),
            holds=numbered(0, 3).append_column("n", pa.array([None] * 3, pa.int32())))),
    lint("max-field-id-null", "a highest field id below that of a field in no file",
        "L.table.schema.max-id",
        manifest({"max_allocated_field_id": 0, "writer_feature_flags": lambda old: old | 32768},
            SECOND)),
    case("table/any/fragments/dropped", "a dropped field stays in its file",
        "L.table.datafile.lookup",
        stored(two(0, 4), lambda ds: ds.drop_columns(["a"]), holds=two(0, 4).select(["b"]))),
    case("table/any/fragments/renamed", "the name is the table's, the id the file's",
        "L.table.datafile.lookup",
        stored(two(0, 4), lambda ds: ds.alter_columns({"path": "b", "name": "text"}),
            holds=two(0, 4).rename_columns(["a", "text"]))),
    case("table/any/fragments/cast", "a cast column has a new id and file",
        "L.table.datafile.lookup",
        stored(two(0, 4), lambda ds: ds.alter_columns({"path": "a", "data_type": pa.int32()}),
            holds=two(0, 4).set_column(0, "a", pa.array(range(4), pa.int32())))),
    case("table/any/fragments/other-order",
        "a file that lists its fields last first: a reader that takes columns so exchanges them",
        ("L.table.datafile.lookup", "L.table.datafile.indices"),
        edited(stored(pa.table({"a": [1, 2], "b": [7, 9]})),
            data_file({"fields": [1, 0], "column_indices": [1, 0]})), reachable=True),
    case("table/any/fragments/tombstone", "-2 marks the column that another file replaced",
        "L.table.datafile.tombstone", dataset(_tombstoned)),
    case("table/any/fragments/updated", "updated rows move to a new fragment",
        "L.table.deletions.applied",
        stored(two(0, 4), lambda ds: ds.update({"b": "'new'"}, where="a = 1"), holds=pa.table(
                {"a": pa.array([0, 2, 3, 1], pa.int64()), "b": ["0", "2", "3", "new"]}))),
    case("table/any/fragments/compacted", "one fragment in place of three", "L.table.fragments.ids",
        stored(numbered(0, 9), lambda ds: ds.delete("a = 4"),
            lambda ds: ds.optimize.compact_files(materialize_deletions_threshold=0.0),
            holds=pa.table({"a": pa.array([0, 1, 2, 3, 5, 6, 7, 8], pa.int64())}),
            max_rows_per_file=3)),
    case("table/any/fragments/mixed-versions", "files of 2.1 and 2.2 in one table",
        "L.table.datafile.version", stored(numbered(0, 3),
            lambda ds: write(numbered(3, 6), ds.uri, mode="append", data_storage_version="2.2"),
            holds=numbered(0, 6))),
    fault("mixed-unflagged", "files of 2.1 and 2.2 without the flag for several versions",
        "L.table.datafile.version", manifest({"reader_feature_flags": lambda old: old & ~256,
                "writer_feature_flags": lambda old: old & ~256}, SECOND)),
    fault("mixed-legacy", "a file of 0.1 beside one of 2.1", "L.table.datafile.version",
        manifest({"fragments.1.files.0.file_major_version": 0,
                "fragments.1.files.0.file_minor_version": 1}, SECOND)),
    case("table/any/fragments/version-2-0", "a table of 2.0 files", "L.table.datafile.version",
        stored(two(0, 4), version="2.0")),
    fault("version-major", "a file of version 3.0", "L.table.datafile.version",
        data_file({"file_major_version": 3})),
    fault("index-negative", "a column index of -1", "L.table.datafile.indices",
        data_file({"column_indices.0": -1})),
    fault("index-unknown", "a field that the table does not have, in column -1 of a 2.0 file",
        "L.table.datafile.indices",
        data_file({"fields": lambda old: [*old, 9], "column_indices": lambda old: [*old, -1]})),
    case("table/any/fragments/version-2-2", "a table of 2.2 files", "L.table.datafile.version",
        stored(two(0, 4), version="2.2")),
    fault("rows-fewer", "fewer rows than the file has", "L.table.fragments.rows",
        fragment({"physical_rows": 3})),
    case("table/any/fragments/parents", "fields without a column: a struct, and one that is gone",
        "L.table.datafile.indices", edited(stored(pa.table({"s": [{"x": 1}, {"x": 2}]})),
            data_file({"fields": [0, 7, 1], "column_indices": [-1, -1, 0]})), reachable=True),
    fault("parents-column", "a column of a struct, of which only the fields have columns",
        "L.table.datafile.indices", data_file({"column_indices.0": 1})),
    case("table/any/fragments/numbers", "three fragments and the highest id any had",
        ("L.table.fragments.max-id-present", "L.table.schema.max-id", "L.table.fragments.address"),
        stored(numbered(0, 6), max_rows_per_file=2)),
    lint("max-id-absent", "no highest fragment id beside fragment 2",
        "L.table.fragments.max-id-present", manifest({"max_fragment_id": None})),
    lint("max-field-id", "a highest field id below that of a field", "L.table.schema.max-id",
        manifest({"max_allocated_field_id": -1, "writer_feature_flags": lambda old: old | 32768})),
    fault("address", "a fragment of 2**32 rows", "L.table.fragments.address",
        manifest({"fragments.0.physical_rows": 2 ** 32})),
    case("table/any/fragments/struct-2-0", "a 2.0 file with a struct, which has a column",
        "L.file.schema.num-columns",
        stored(pa.table({"s": pa.array([{"x": 1}, {"x": 2}], pa.struct([("x", pa.int32())])),
                    "b": pa.array([7, 9])}), version="2.0")),
    fault("struct-gone", "a struct of 2.0 without its column, whose child has one",
        "L.file.schema.num-columns",
        data_file({"fields": lambda old: old[1:], "column_indices": lambda old: old[1:]})),
    case("table/any/fragments/null-child", "a field of a struct that is in no file is null",
        "L.table.datafile.missing-field", edited(stored(pa.table({"s": _POINTS}),
                holds=pa.table({"s": pa.array(_POINTS.to_pylist(), _WIDER)})), manifest(
                {"fields": lambda old: [*old, old[1]], "fields.2.name": "z", "fields.2.id": 2}))),
    case("table/any/fragments/lists-in-two-files", "lists of structs whose fields lie in two files",
        ("L.table.datafile.lookup", "L.table.datafile.lists"),
        edited(stored(_TWICE, _copied), fragment({"files": _halved}))),
    fault("lists-differ", "lists of other lengths in the second file", "L.table.datafile.lists",
        fragment({"files.1.column_indices.0": 2})),
    case("table/any/marks/nothing", "a table without a fragment, and no mark of one",
        "L.table.fragments.max-id-present", stored(pa.schema([("a", pa.int32())]).empty_table())),
    case("table/any/statistics/none", "a filter on words of a dictionary, which have no statistics",
        "L.legacy.statistics.covered", stored(pa.table({"id": pa.array(range(6), pa.int64()),
                    "w": pa.array(list("aabbcc")).dictionary_encode()}),
            holds=pa.table({"id": pa.array([0, 1], pa.int64())}), version="legacy"),
        args={"filter": {"sql": "w = 'a'"}, "columns": ["id"]}),
    case("table/any/row-ids/stable", "row ids that moved with their rows",
        ("L.table.row-ids.length", "L.table.flags.stable-row-ids"),
        stored(two(0, 6), lambda ds: ds.update({"b": "'new'"}, where="a = 1 or a = 3"),
            holds=pa.table({"a": pa.array([0, 2, 4, 5, 1, 3], pa.int64()),
                    "b": ["0", "2", "4", "5", "new", "new"]}), enable_stable_row_ids=True)),
    case("table/any/row-ids/segments", "row ids in segments of all five kinds",
        ("L.table.row-ids.message", "L.table.row-ids.segment", "L.table.row-ids.unique"),
        edited(_stable(), _given(_IDS, 51)), reachable=True),
    lint("bitmap-padding", "a bit after the last row", "L.table.row-ids.bitmap",
        _ids({"segments.2.range_with_bitmap.bitmap": b"\r"})),
    lint("hole-twice", "a hole that occurs twice", "L.table.row-ids.holes",
        _ids({"segments.1.range_with_holes.end": lambda old: old + 1,
                "segments.1.range_with_holes.holes.u32_array.offsets": words(2, 2, width=4)})),
    lint("ids-message", "row ids that do not parse", "L.table.row-ids.message",
        manifest({"fragments.0.inline_row_ids": b"\xff\xff"})),
    *(lint(f"ids-{slug}", title, f"L.table.row-ids.{clause}", _ids({f"segments.{path}": new}))
        for slug, title, clause, path, new in _WRONG_IDS),
    lint("ids-length", "eleven ids for thirteen rows", "L.table.row-ids.length",
        _ids({"segments": lambda old: old[:-1]})),
    lint("ids-unique", "an id of two rows", "L.table.row-ids.unique",
        _ids({"segments.4.array.u64_array.values": words(50, 30)})),
    *(lint(f"ids-unique-{segment}", f"an id of two rows, one of them in {what}",
            "L.table.row-ids.unique", _ids({"segments.4.array.u64_array.values": words(50, twice)}))
        for segment, what, twice in (("range", "a range", 2),
            ("holes", "a range after its holes", 14), ("bitmap", "a range with a bitmap", 22),
            ("sorted", "a sorted array", 34), ("array", "the same array", 50))),
    lint("ids-next-first", "an id of the first row that is still to be given",
        "L.table.row-ids.next", _ids({"segments.0.array.u64_array.values": words(51, 1, 2)})),
    lint("ids-next", "an id that is still to be given", "L.table.row-ids.next",
        manifest({"next_row_id": 50})),
    case("table/any/row-ids/segments-read",
        "ids of all five kinds of segments, asked for: a reader of ranges alone gives others",
        ("L.table.row-ids.segment", "L.table.row-ids.sorted"),
        edited(_stable([0, 1, 2, 10, 11, 13, 14, 20, 22, 30, 34, 50, 40]), _given(_IDS, 51)),
        args={"columns": ["a"], "with": ["_rowid"]}, reachable=True),
    case("table/any/row-ids/left",
        "ids and versions after deleted rows: a reader that counts the rows left gives others",
        ("L.table.row-ids.length", "L.table.row-versions.order", "L.table.deletions.applied"),
        stored(two(0, 6), lambda ds: ds.update({"b": "'new'"}, where="a = 1 or a = 3"),
            lambda ds: ds.delete("a = 2"), lambda ds: write(two(6, 8), ds.uri, mode="append"),
            holds=_LEFT, enable_stable_row_ids=True),
        args={"columns": ["a", *VERSIONS], "with": ["_rowid"]}),
    case("table/any/row-ids/wide", "row ids in a bitmap of two bytes, and beside two holes",
        ("L.table.row-ids.bitmap", "L.table.row-ids.holes"),
        edited(_stable([1000, 1005, 1007, 1008, 1009, 1011, 10, 12, 13, 14, 15, 17, 18]),
            _given(_WIDE_IDS, 1012)), args={"columns": ["a"], "with": ["_rowid"]}, reachable=True),
    case("table/any/row-ids/fragments", "row ids of two fragments", "L.table.row-ids.unique",
        stored(numbered(0, 6), max_rows_per_file=3, enable_stable_row_ids=True)),
    lint("unique-fragments", "an id of two rows in two fragments", "L.table.row-ids.unique",
        manifest({"fragments.1.inline_row_ids": inside(pb.RowIdSequence,
                    {"segments.0.range.start": 2, "segments.0.range.end": 5})})),
    case("table/any/row-ids/versions", "fresh rows: created and last updated in version 1",
        ("L.table.row-versions.order", "L.table.row-ids.column"), _stable()),
    lint("versions-order", "rows created after the last version", "L.table.row-versions.order",
        fragment({"inline_created_at_versions": inside(pb.RowDatasetVersionSequence,
                    {"runs.0.version": 9})})),
    lint("ids-column", "row ids in a column that no file has", "L.table.row-ids.column",
        manifest({"fragments.0.column_row_ids": {}, "reader_feature_flags": lambda old: old | 2048,
                "writer_feature_flags": lambda old: old | 2048})),
    case("table/any/row-ids/empty-segments", "segments without a value before one of three",
        ("L.table.row-ids.range", "L.table.row-ids.array"),
        edited(_stable([7, 8, 9]), _given(_NO_VALUES, 10)),
        args={"columns": ["a"], "with": ["_rowid"]}),
    fault("array-untyped", "an array of no kind", "L.table.row-ids.array",
        _ids({"segments.1.array.u64_array": None})),
)  # fmt: skip

"""Cases of row ids and row versions: segments of each kind."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from google.protobuf.message import Message
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.rowids_pb2 import RowIdSequence
from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes.columns import numbered, two
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.handmade_files import reworked, words
from lance_conformance.recipes.messages import manifest, put
from lance_conformance.recipes.model import MessageEdit, Paths, Recipe
from lance_conformance.recipes.oracle_made import dataset, stored, write


def segments() -> RowIdSequence:
    """Return 13 ids in segments of all five kinds."""
    sequence = RowIdSequence()
    sequence.segments.add().range.end = 3
    holes = sequence.segments.add().range_with_holes
    holes.start, holes.end = (10, 15)
    holes.holes.u32_array.base = 10
    holes.holes.u32_array.offsets = words(2, width=4)
    bitmap = sequence.segments.add().range_with_bitmap
    bitmap.start, bitmap.end, bitmap.bitmap = (20, 23, b"\x05")
    ascending = sequence.segments.add().sorted_array.u16_array
    ascending.base, ascending.offsets = (30, words(0, 4, width=2))
    sequence.segments.add().array.u64_array.values = words(50, 40)
    return sequence


def _set_wide_ids(manifest: Manifest) -> None:
    """Give the 13 rows ids by a bitmap of twelve bits and a range with two holes."""
    sequence = RowIdSequence()
    bitmap = sequence.segments.add().range_with_bitmap
    bitmap.start, bitmap.end, bitmap.bitmap = (1000, 1012, b"\xa1\x0b")
    holes = sequence.segments.add().range_with_holes
    holes.start, holes.end = (10, 19)
    holes.holes.u16_array.base = 11
    holes.holes.u16_array.offsets = words(0, 5, width=2)
    manifest.fragments[0].inline_row_ids = sequence.SerializeToString()
    manifest.next_row_id = 1012


def _stable(uri: str) -> pa.Table:
    write(numbered(0, 13), uri, data_storage_version="2.1", enable_stable_row_ids=True)
    return numbered(0, 13)


def _with_ids(uri: str) -> pa.Table:
    ids = [1000, 1005, 1007, 1008, 1009, 1011, 10, 12, 13, 14, 15, 17, 18]
    return _stable(uri).append_column("_rowid", pa.array(ids, pa.uint64()))


def _ids(edit: Callable[[RowIdSequence], None] | Paths) -> MessageEdit:
    """Change the row ids of the first fragment."""

    def rewrite(message: Manifest) -> None:
        fragment = message.fragments[0]
        sequence = RowIdSequence.FromString(fragment.inline_row_ids)
        put(sequence, edit)
        fragment.inline_row_ids = sequence.SerializeToString()

    return manifest(rewrite)


def _segment(number: int, path: str, value: object) -> MessageEdit:
    """Set a field of one segment of the row ids."""

    def edit(sequence: RowIdSequence) -> None:
        *way, last = path.split(".")
        message: Message = sequence.segments[number]
        for name in way:
            message = getattr(message, name)
        setattr(message, last, value)

    return _ids(edit)


def _late(message: Manifest) -> None:
    """Say that every row was created after the last version."""
    fragment = message.fragments[0]
    sequence = pb.RowDatasetVersionSequence.FromString(fragment.inline_created_at_versions)
    sequence.runs[0].version = 9
    fragment.inline_created_at_versions = sequence.SerializeToString()


def _column_ids(message: Manifest) -> None:
    message.fragments[0].column_row_ids.SetInParent()
    for word in ("reader_feature_flags", "writer_feature_flags"):
        setattr(message, word, getattr(message, word) | 2048)


def _empty_segments(message: Manifest) -> None:
    """Put segments without a value around one of three."""
    sequence = RowIdSequence()
    empty = sequence.segments.add().range
    empty.start = empty.end = 4
    sequence.segments.add().array.u64_array.SetInParent()
    own = sequence.segments.add().range
    own.start, own.end = (7, 10)
    message.fragments[0].inline_row_ids = sequence.SerializeToString()
    message.next_row_id = 10


def _untyped(message: Manifest) -> None:
    """Take away what kind of array the empty segment has."""
    sequence = RowIdSequence.FromString(message.fragments[0].inline_row_ids)
    sequence.segments[1].array.ClearField("u64_array")
    message.fragments[0].inline_row_ids = sequence.SerializeToString()


CASES: tuple[Recipe, ...] = (
    case("table/any/row-ids/stable", "row ids that moved with their rows",
        ("L.table.row-ids.length", "L.table.flags.stable-row-ids"),
        stored(two(0, 6), lambda ds: ds.update({"b": "'new'"}, where="a = 1 or a = 3"),
            holds=pa.table({"a": pa.array([0, 2, 4, 5, 1, 3], pa.int64()),
                    "b": ["0", "2", "4", "5", "new", "new"]}), enable_stable_row_ids=True)),
    case("table/any/row-ids/segments", "row ids in segments of all five kinds",
        ("L.table.row-ids.message", "L.table.row-ids.segment", "L.table.row-ids.unique"),
        reworked(dataset(_stable),
            manifest({"fragments.0.inline_row_ids": segments().SerializeToString(),
                    "next_row_id": 51}))),
    lint("bitmap-padding", "a bit after the last row", "L.table.row-ids.bitmap",
        _ids({"segments.2.range_with_bitmap.bitmap": b"\r"})),
    lint("hole-twice", "a hole that occurs twice", "L.table.row-ids.holes",
        _ids({"segments.1.range_with_holes.end": lambda old: old + 1,
                "segments.1.range_with_holes.holes.u32_array.offsets": words(2, 2, width=4)})),
    lint("ids-message", "row ids that do not parse", "L.table.row-ids.message",
        manifest({"fragments.0.inline_row_ids": b"\xff\xff"})),
    lint("ids-segment", "a segment of no kind", "L.table.row-ids.segment",
        _ids({"segments.0.range": None})),
    lint("ids-range", "a range that ends before it starts", "L.table.row-ids.range",
        _segment(0, "range.start", 7)),
    lint("ids-holes", "a hole outside of its range", "L.table.row-ids.holes",
        _segment(1, "range_with_holes.holes.u32_array.base", 20)),
    lint("ids-width", "an array of a byte and a half", "L.table.row-ids.array-width",
        _segment(3, "sorted_array.u16_array.offsets", bytes(3))),
    lint("ids-sorted", "a sorted array that falls", "L.table.row-ids.sorted",
        _segment(3, "sorted_array.u16_array.offsets", words(4, 0, width=2))),
    lint("ids-overflow", "an id beyond 64 bits", "L.table.row-ids.overflow",
        _segment(3, "sorted_array.u16_array.base", 2 ** 64 - 2)),
    lint("ids-length", "eleven ids for thirteen rows", "L.table.row-ids.length",
        _ids({"segments": lambda old: old[:-1]})),
    lint("ids-unique", "an id of two rows", "L.table.row-ids.unique",
        _segment(4, "array.u64_array.values", words(50, 30))),
    *(lint(f"ids-unique-{segment}", f"an id of two rows, one of them in {what}",
        "L.table.row-ids.unique", _segment(4, "array.u64_array.values", words(50, twice)))
        for segment, what, twice in (("range", "a range", 2), ("holes", "a range after its holes",
        14), ("bitmap", "a range with a bitmap", 22), ("sorted", "a sorted array", 34), ("array",
        "the same array", 50))),
    lint("ids-bitmap-short", "a bitmap of no bytes", "L.table.row-ids.bitmap",
        _segment(2, "range_with_bitmap.bitmap", b"")),
    lint("ids-bitmap-long", "a bitmap of two bytes for three ids", "L.table.row-ids.bitmap",
        _segment(2, "range_with_bitmap.bitmap", b"\x05\x00")),
    lint("ids-hole-end", "a hole one after its range", "L.table.row-ids.holes",
        _segment(1, "range_with_holes.holes.u32_array.base", 13)),
    lint("ids-longer", "one id more than rows", "L.table.row-ids.length",
        _segment(0, "range.end", 4)),
    lint("ids-sorted-same", "a sorted array that repeats", "L.table.row-ids.sorted",
        _segment(3, "sorted_array.u16_array.offsets", words(4, 4, width=2))),
    lint("ids-u32", "an array of 32 bits of six bytes", "L.table.row-ids.array-width",
        _segment(1, "range_with_holes.holes.u32_array.offsets", bytes(6))),
    lint("ids-u64", "an array of 64 bits of twelve bytes", "L.table.row-ids.array-width",
        _segment(4, "array.u64_array.values", bytes(12))),
    lint("ids-next", "an id that is still to be given", "L.table.row-ids.next",
        manifest({"next_row_id": 50})),
    case("table/any/row-ids/wide", "row ids in a bitmap of two bytes, and beside two holes",
        ("L.table.row-ids.bitmap", "L.table.row-ids.holes"), reworked(dataset(_with_ids),
        manifest(_set_wide_ids)), args={"columns": ["a"], "with": ["_rowid"]}),
    case("table/any/row-ids/versions", "fresh rows: created and last updated in version 1",
        ("L.table.row-versions.order", "L.table.row-ids.column"), dataset(_stable)),
    lint("versions-order", "rows created after the last version", "L.table.row-versions.order",
        manifest(_late)),
    lint("ids-column", "row ids in a column that no file has", "L.table.row-ids.column",
        manifest(_column_ids)),
    case("table/any/row-ids/empty-segments", "segments without a value before one of three",
        ("L.table.row-ids.range", "L.table.row-ids.array"), reworked(stored(numbered(0, 3),
        holds=numbered(0, 3).append_column("_rowid", pa.array([7, 8, 9], pa.uint64())),
        enable_stable_row_ids=True), manifest(_empty_segments)), args={"columns": ["a"],
        "with": ["_rowid"]}, reachable=False),
    fault("array-untyped", "an array of no kind", "L.table.row-ids.array", manifest(_untyped)),
)  # fmt: skip

"""Cases of tables and indices at the edge: what is just allowed, and what only just is not.

The faults are such as a reader overlooks whose check is off by one.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from lanceref.index.mem_wal.shard_log import EPOCH, GENERATION, TOMBSTONE, entry_path
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.table_pb2 import DataFile, IndexMetadata, Manifest

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.messages import data_file, index, manifest, setting
from lance_conformance.recipes.model import Made, Negative, Positive, Rename, Resize, SpanPatch
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.tables import write_ahead
from lance_conformance.recipes.tables.datasets import table_case
from lance_conformance.recipes.tables.datasets_marks import rows, two_indices
from lance_conformance.recipes.tables.edits import table_fault
from lance_conformance.recipes.tables.faults_indices import lint
from lance_conformance.recipes.tables.indices import LABEL_LIST, TEXTS, search
from lance_conformance.recipes.tables.indices_fm import FM
from lance_conformance.recipes.tables.indices_rtree import points
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.write_ahead import SHARD


def _with_ids(uri: str) -> pa.Table:
    write(rows(0, 3), uri, data_storage_version="2.1", enable_stable_row_ids=True)
    return rows(0, 3).append_column("_rowid", pa.array([7, 8, 9], pa.uint64()))


def _empty_segments(message: Manifest) -> None:
    """Put segments without a value around one of three."""
    sequence = pb.RowIdSequence()
    empty = sequence.segments.add().range
    empty.start = empty.end = 4
    sequence.segments.add().array.u64_array.SetInParent()
    own = sequence.segments.add().range
    own.start, own.end = 7, 10
    message.fragments[0].inline_row_ids = sequence.SerializeToString()
    message.next_row_id = 10


_SECOND = "_versions/18446744073709551613.manifest"
"""The manifest of the second version."""

_INDEXED = "_versions/18446744073709551612.manifest"
"""The manifest of the third version."""


def _all_deleted(uri: str) -> pa.Table:
    """Delete two rows of three, and let the file say that it was all of them."""
    write(rows(0, 6), uri, data_storage_version="2.1", max_rows_per_file=3).delete("a < 2")
    (path,) = Path(uri, "_deletions").iterdir()
    schema = pa.schema([pa.field("row_id", pa.uint32(), False)])
    table = pa.table([pa.array([0, 1, 2], pa.uint32())], schema=schema)
    with pa.ipc.new_file(path, schema) as writer:
        writer.write_table(table)
    return rows(3, 6)


def _forgotten(message: Manifest) -> None:
    """Let nothing say which transaction made a version."""
    message.ClearField("transaction_file")
    message.ClearField("transaction_section")


def _three_deleted(message: Manifest) -> None:
    message.fragments[0].deletion_file.num_deleted_rows = 3
    _forgotten(message)


_POINTS = pa.array([{"x": 1}, {"x": 2}], pa.struct([("x", pa.int32())]))


def _points(uri: str) -> pa.Table:
    write(pa.table({"s": _POINTS}), uri, data_storage_version="2.1")
    wider = pa.struct([("x", pa.int32()), ("z", pa.int32())])
    return pa.table({"s": pa.array([{"x": 1}, {"x": 2}], wider)})


def _new_child(message: Manifest) -> None:
    """Give the struct a child that no file has."""
    child = message.fields.add()
    child.CopyFrom(message.fields[1])
    child.name, child.id = "z", 2


def _covered(message: IndexMetadata) -> None:
    message.fields.append(1)
    message.covering_fields.append(1)


def _says_covered(message: Manifest) -> None:
    message.reader_feature_flags |= 128
    message.writer_feature_flags |= 128
    _forgotten(message)


_TABLES = (
    table_case("deletions/every-row", "a fragment whose rows are all deleted",
               ("L.table.deletions.count", "L.table.deletions.applied"),
               reworked(dataset(_all_deleted), manifest(_three_deleted, _SECOND)),
               reachable=False),
    table_case("fragments/null-child", "a field of a struct that is in no file is null",
               ("L.table.datafile.missing-field",),
               reworked(dataset(_points), manifest(_new_child)), reachable=False),
    table_case("manifest/covering", "an index that covers a second field",
               ("L.table.index.covering",),
               reworked(dataset(two_indices), index(_covered, _INDEXED),
                        manifest(_says_covered, _INDEXED)), reachable=False),
    replace(
        table_case("row-ids/empty-segments", "segments without a value before one of three",
                   ("L.table.row-ids.range", "L.table.row-ids.array"),
                   reworked(dataset(_with_ids), manifest(_empty_segments)), reachable=False),
        args={"columns": ["a"], "with": ["_rowid"]}),
)  # fmt: skip


def _untold(entry: IndexMetadata) -> None:
    entry.ClearField("index_details")


_LABELS = search("untold", "labels in an index whose entry does not tell its type",
                 "array_has_any(c, ['a', 'c'])", [0, 4, 5, 9], LABEL_LIST)  # fmt: skip

_SCATTERED = Indexed(points([(n * 37 % 64, n * 23 % 64) for n in range(12)]), "RTREE",
                     {"page_size": 4}, "2.0", extension="geoarrow.wkb")  # fmt: skip

_INDICES: tuple[Positive, ...] = (
    replace(_LABELS, make=reworked(_LABELS.make, index(_untold, LAST)), facts={}, reachable=False),
    search("scattered", "points in all corners",
           "st_intersects(c, 'POLYGON((30 0,64 0,64 30,30 30,30 0))')", [1, 3, 6], _SCATTERED,
           ("L.index.rtree.order",)),
)  # fmt: skip

_LONG = ["ab" * 70_000 + "needle" + "ba" * 70_000, *[None] * 10, "needles"]

_FM = search("blocks", "a text of 280 006 letters: samples and bits in several blocks",
             "contains(c, 'needle')", [0, 11], Indexed(pa.array(_LONG, pa.utf8()), "FM", {}, "2.1"),
             ("L.index.fm.samples",))  # fmt: skip


_NONE = (
    search("none", "letters that never follow each other so", "contains(c, 'nab')", [], FM),
    search("no-letter", "a letter that is nowhere", "contains(c, '#')", [], FM),
    search("prefix", "texts that begin with another", "c LIKE 'ap%'", [0, 1, 4, 10],
           Indexed(TEXTS, "ZONEMAP", {"rows_per_zone": 2})),
)  # fmt: skip


def _mark_first() -> Made:
    """Put the marks of a log entry before its other columns."""
    made = write_ahead.POSITIVES[0].make()
    path = entry_path(SHARD, 3)
    held = pa.ipc.open_stream(made.files[path]).read_all()
    names = [TOMBSTONE, *(name for name in held.column_names if name != TOMBSTONE)]
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, held.select(names).schema) as writer:
        writer.write_table(held.select(names))
    return replace(made, files={**made.files, path: sink.getvalue()})


_LOG = replace(write_ahead.POSITIVES[0], id="table/any/mem-wal/mark-first", make=_mark_first,
               title="a log entry whose marks are its first column",
               clauses=("L.index.mem-wal.entry",))  # fmt: skip

POSITIVES: tuple[Positive, ...] = (*_TABLES, *_INDICES, _FM, *_NONE, _LOG)


def _untyped(message: Manifest) -> None:
    """Take away what kind of array the empty segment has."""
    sequence = pb.RowIdSequence.FromString(message.fragments[0].inline_row_ids)
    sequence.segments[1].array.ClearField("u64_array")
    message.fragments[0].inline_row_ids = sequence.SerializeToString()


def _entry(**metadata: str) -> bytes:
    """Return an entry of no rows."""
    schema = pa.schema([pa.field(TOMBSTONE, pa.bool_())], metadata=metadata)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema):
        pass
    return sink.getvalue()


def _longer(by: int) -> Callable[[bytes], bytes]:
    return lambda old: (int.from_bytes(old, "little") + by).to_bytes(4, "little")


def _low_field_id(message: Manifest) -> None:
    """Say that the first of two fields is the last one, with the flag that goes with it."""
    message.max_allocated_field_id = 0
    message.writer_feature_flags |= 32768


def _other_end(message: IndexMetadata) -> None:
    """Let the first field be the one that is covered."""
    message.covering_fields[0] = message.fields[0]


def _of_0_1(message: Manifest) -> None:
    message.data_format.version = "0.1"


def _unknown_parent(message: DataFile) -> None:
    """Name a field that the table does not have, in no column."""
    message.fields.append(9)
    message.column_indices.append(-1)


NEGATIVES: tuple[Negative, ...] = (
    table_fault("table/any/manifest/v1-names", "scheme-zero",
                "version 0 in the other scheme, of the greatest number that a name can have",
                "L.table.naming.one-scheme",
                Rename("_versions/1.manifest", "_versions/18446744073709551615.manifest")),
    table_fault("table/any/manifest/plain", "version-0-1", "a table of 0.1, with files of 2.1",
                "L.table.datafile.version", manifest(_of_0_1)),
    table_fault("table/any/manifest/covering", "covering-first",
                "an index that covers the first of its fields", "L.table.index.covering",
                index(_other_end, _INDEXED), kind="lint"),
    table_fault("table/any/manifest/covering", "covering-flag",
                "an index that covers a field, with its flag for writers alone",
                "L.table.flags.content",
                manifest(setting(reader_feature_flags=0, writer_feature_flags=128), _INDEXED),
                kind="lint"),
    table_fault("table/any/deletions/arrow", "deletion-flag-reader",
                "a deletion file, with its flag for readers alone", "L.table.flags.content",
                manifest(setting(reader_feature_flags=1, writer_feature_flags=0), _SECOND),
                kind="lint"),
    table_fault("table/any/fragments/version-2-0", "index-unknown",
                "a field that the table does not have, in column -1 of a 2.0 file",
                "L.table.datafile.indices", data_file(_unknown_parent)),
    table_fault("table/any/row-ids/empty-segments", "array-untyped", "an array of no kind",
                "L.table.row-ids.array", manifest(_untyped)),
    table_fault("table/any/mem-wal/shard", "entry-number", "an entry whose generation is no number",
                "L.index.mem-wal.entry",
                Resize(0, _entry(**{EPOCH.decode(): "1", GENERATION.decode(): "x"}),
                       entry_path(SHARD, 3)), kind="lint"),
    table_fault("table/any/mem-wal/shard", "generation-long", "a generation of 21 digits",
                "L.index.mem-wal.entry",
                Resize(0, _entry(**{EPOCH.decode(): "1", GENERATION.decode(): "1" * 21}),
                       entry_path(SHARD, 3)), kind="lint"),
    table_fault("table/any/manifest/plain", "section-more", "a manifest one byte longer than it is",
                "L.table.manifest.section",
                SpanPatch(("manifest section", "length"), _longer(1),
                          target="_versions/*.manifest")),
    table_fault("table/any/manifest/two-types", "field-next", "a field one above the highest id",
                "L.table.schema.max-id", manifest(_low_field_id), kind="lint"),
    lint("ivf-flat/plain", "padding", "padding of a file beside that is not what is stated",
         "L.file.padding.value",
         SpanPatch(("padding",), lambda old: bytes(len(old)), target="_indices/*/auxiliary.idx")),
)  # fmt: skip
"""Every fault at an edge that only just is one."""

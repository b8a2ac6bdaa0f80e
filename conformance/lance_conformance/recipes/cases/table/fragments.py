"""Cases of fragments: data files, fields, paths, statistics."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.oracle import lance
from lance_conformance.recipes.columns import numbered, two
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import SECOND, data_file, fragment, manifest
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_made import dataset, stored, write


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


CASES: tuple[Recipe, ...] = (
    case("table/any/fragments/three", "rows in the order of the fragments",
        "L.table.fragments.order", stored(numbered(0, 9), max_rows_per_file=3)),
    fault("order", "fragments in another order than their ids", "L.table.fragments.order",
        manifest({"fragments.0.id": 1, "fragments.1.id": 0})),
    fault("file-version-other", "a 2.2 file in a table of 2.1", "L.table.datafile.version",
        data_file({"file_minor_version": 2})),
    case("table/any/fragments/second-file", "a column in a file of its own",
        "L.table.datafile.lookup", stored(numbered(0, 4), lambda ds: ds.add_columns({"b": "a + 1"}),
        holds=numbered(0, 4).append_column("b", pa.array([1, 2, 3, 4], pa.int64())))),
    case("table/any/fragments/null-column", "a field in no file is all null",
        "L.table.datafile.missing-field",
        stored(numbered(0, 3), lambda ds: ds.add_columns(pa.field("n", pa.int32())),
            holds=numbered(0, 3).append_column("n", pa.array([None] * 3, pa.int32())))),
    case("table/any/fragments/dropped", "a dropped field stays in its file",
        "L.table.datafile.lookup",
        stored(two(0, 4), lambda ds: ds.drop_columns(["a"]), holds=two(0, 4).select(["b"]))),
    case("table/any/fragments/renamed", "the name is the table's, the id the file's",
        "L.table.datafile.lookup", stored(two(0, 4), lambda ds: ds.alter_columns({"path": "b",
        "name": "text"}), holds=two(0, 4).rename_columns(["a", "text"]))),
    case("table/any/fragments/cast", "a cast column has a new id and file",
        "L.table.datafile.lookup",
        stored(two(0, 4), lambda ds: ds.alter_columns({"path": "a", "data_type": pa.int32()}),
            holds=two(0, 4).set_column(0, "a", pa.array(range(4), pa.int32())))),
    case("table/any/fragments/tombstone", "-2 marks the column that another file replaced",
        "L.table.datafile.tombstone", dataset(_tombstoned)),
    case("table/any/fragments/updated", "updated rows move to a new fragment",
        "L.table.deletions.applied", stored(two(0, 4), lambda ds: ds.update({"b": "'new'"},
        where="a = 1"), holds=pa.table({"a": pa.array([0, 2, 3, 1], pa.int64()), "b": ["0", "2",
        "3", "new"]}))),
    case("table/any/fragments/compacted", "one fragment in place of three", "L.table.fragments.ids",
        stored(numbered(0, 9), lambda ds: ds.delete("a = 4"),
            lambda ds: ds.optimize.compact_files(materialize_deletions_threshold=0.0),
            holds=pa.table({"a": pa.array([0, 1, 2, 3, 5, 6, 7, 8], pa.int64())}),
            max_rows_per_file=3)),
    case("table/any/fragments/mixed-versions", "files of 2.1 and 2.2 in one table",
        "L.table.datafile.version", stored(numbered(0, 3), lambda ds: write(numbered(3, 6), ds.uri,
        mode="append", data_storage_version="2.2"), holds=numbered(0, 6))),
    fault("mixed-unflagged", "files of 2.1 and 2.2 without the flag for several versions",
        "L.table.datafile.version", manifest({"reader_feature_flags": lambda old: old & ~256,
        "writer_feature_flags": lambda old: old & ~256}, SECOND)),
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
        "L.table.datafile.indices", reworked(stored(pa.table({"s": [{"x": 1}, {"x": 2}]})),
        data_file({"fields": [0, 7, 1], "column_indices": [-1, -1, 0]}))),
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
        "L.file.schema.num-columns", stored(pa.table({"s": pa.array([{"x": 1}, {"x": 2}],
        pa.struct([("x", pa.int32())])), "b": pa.array([7, 9])}), version="2.0")),
    fault("struct-gone", "a struct of 2.0 without its column, whose child has one",
        "L.file.schema.num-columns",
        data_file({"fields": lambda old: old[1:], "column_indices": lambda old: old[1:]})),
    case("table/any/fragments/null-child", "a field of a struct that is in no file is null",
        "L.table.datafile.missing-field", reworked(stored(pa.table({"s": _POINTS}),
        holds=pa.table({"s": pa.array(_POINTS.to_pylist(), _WIDER)})),
        manifest({"fields": lambda old: [*old, old[1]], "fields.2.name": "z", "fields.2.id": 2})),
        reachable=False),
    case("table/any/marks/nothing", "a table without a fragment, and no mark of one",
        "L.table.fragments.max-id-present", stored(pa.schema([("a", pa.int32())]).empty_table())),
    case("table/any/statistics/none", "a filter on words of a dictionary, which have no statistics",
        "L.legacy.statistics.covered", stored(pa.table({"id": pa.array(range(6), pa.int64()),
        "w": pa.array(list("aabbcc")).dictionary_encode()}), holds=pa.table({"id": pa.array([0, 1],
        pa.int64())}), version="legacy"), args={"filter": {"sql": "w = 'a'"}, "columns": ["id"]}),
)  # fmt: skip

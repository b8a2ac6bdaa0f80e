"""Commits of columns, indices and settings: operations that leave the rows where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pylanceref
from lanceref.file.schema import LanceSchema
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import DatasetBasePath, Index
from pylanceref.operation import LanceOperation as Op
from pylanceref.schema import LanceSchema as PublicSchema
from pylanceref.transactions import lance_schema

from lance_conformance.recipes.model import Acting
from lance_conformance.recipes.staging import Staged
from lance_conformance.recipes.tables.commits_rows import base, case, new, rows

DONE = ("committed",)
REFUSED = ("refused", "conflict")


def column_file(uri: str, name: str, values: list[int], field: int, slug: str) -> DataFile:
    """Write a data file of one column and return how a manifest lists it."""
    path = f"{slug}.lance"
    schema = pa.schema({name: pa.int64()})
    with LanceFileWriter(f"{uri}/data/{path}", schema, version="2.1") as writer:
        writer.write_batch(pa.table({name: pa.array(values, pa.int64())}))
    return DataFile(path, [field], [0], 2, 1)


def only(uri: str, name: str, version: int | None = None) -> PublicSchema:
    """Return the schema of a table with one field left."""
    schema = lance_schema(pylanceref.dataset(uri, version=version).lance_schema)
    left = tuple(field for field in schema.fields if field.name == name)
    return PublicSchema(LanceSchema(left))


def replacement(uri: str, fragment: int, name: str, values: list[int], field: int) -> Any:
    """Stage a DataReplacement of one column of one fragment."""
    file = column_file(uri, name, values, field, f"column-{fragment}-{name}")
    return Op.DataReplacement([Op.DataReplacementGroup(fragment, file)])


def index(number: int, name: str, field: int, fragments: set[int], version: int = 2) -> Index:
    """Return an index entry without files; `number` makes its uuid."""
    return Index(str(UUID(int=number)), name, [field], version, fragments, 0)


def _merge(uri: str) -> Staged:
    """Add a column to both fragments."""
    merged = [one.merge_columns({"c": "a + 1"}) for one in base(uri)]
    operation = Op.Merge([fragment for fragment, _ in merged], merged[0][1])
    table = rows(0, 6).append_column("c", pa.array(range(1, 7), pa.int64()))
    facts = {"fields": [{"id": 0}, {"id": 1}, {"name": "c", "id": 2}],
             "fragments": [{"files": [{}, {"fields": [2]}]}] * 2}  # fmt: skip
    return Staged(((operation, 2),), table, facts)


def project(uri: str) -> Staged:
    """Drop a column that lies in files of its own."""
    base(uri)
    made = pylanceref.dataset(uri)
    made.add_columns({"c": "a + 1"})
    narrow = only(uri, "b")
    facts = {"fields": [{"name": "b", "id": 1}], "fragments": [{"files": [{"fields": [0, 1]}]}] * 2}
    return Staged(((Op.Project(narrow), 3),), rows(0, 6).select(["b"]), facts)


def _replace_column(uri: str) -> Staged:
    base(uri)
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    files = [{"fields": [0, -2]}, {"fields": [1]}]
    facts = {"fragments": [{"files": files}, {"files": [{"fields": [0, 1]}]}]}
    return Staged(((replacement(uri, 0, "b", [7, 8, 9], 1), 2),), table, facts)


def replace_last(uri: str) -> Staged:
    """Replace the second of two columns of a file, whose first has been replaced."""
    base(uri)
    pylanceref.LanceDataset.commit(uri, replacement(uri, 0, "a", [4, 4, 4], 0), read_version=2)
    table = pa.table({"a": [4, 4, 4, 3, 4, 5], "b": [7, 8, 9, 30, 40, 50]})
    facts = {"fragments": [{"files": [{"fields": [0]}, {"fields": [1]}]}, {}]}
    return Staged(((replacement(uri, 0, "b", [7, 8, 9], 1), 3),), table, facts)


def _replace_other_fields(uri: str) -> Staged:
    """Replace `a` of one fragment and `b` of the other at once."""
    base(uri)
    first, second = replacement(uri, 0, "a", [7] * 3, 0), replacement(uri, 1, "b", [7] * 3, 1)
    operation = Op.DataReplacement([*first.replacements, *second.replacements])
    return Staged(((operation, 2),), rows(0, 6), {"version": "2"})


def _replace_nowhere(uri: str) -> Staged:
    base(uri)
    return Staged(((replacement(uri, 7, "b", [1, 2, 3], 1), 2),), rows(0, 6), {"version": "2"})


def create_index(uri: str) -> Staged:
    """Put an index in place of another one of its name."""
    base(uri)
    old, made = index(1, "i", 0, {0}), index(2, "i", 0, {0, 1}, 3)
    pylanceref.LanceDataset.commit(uri, Op.CreateIndex([old], []), read_version=2)
    uuid = {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="}
    facts = {"indices": [{"uuid": uuid, "name": "i", "dataset_version": "3"}]}
    return Staged(((Op.CreateIndex([made], [old]), 3),), rows(0, 6), facts)


def _second_index(uri: str) -> Staged:
    """Add an index after another one."""
    base(uri)
    pylanceref.LanceDataset.commit(uri, Op.CreateIndex([index(1, "i", 0, {0})], []), read_version=2)
    facts = {"indices": [{"name": "i"}, {"name": "k", "fields": [1]}]}
    operation = Op.CreateIndex([index(2, "k", 1, {0, 1})], [])
    return Staged(((operation, 3),), rows(0, 6), facts)


def _index_goes(uri: str) -> Staged:
    """Drop a column that one of two indices is over."""
    base(uri)
    both = Op.CreateIndex([index(1, "i", 0, {0, 1}), index(2, "k", 1, {0, 1})], [])
    pylanceref.LanceDataset.commit(uri, both, read_version=2)
    narrow = only(uri, "a")
    table = rows(0, 6).select(["a"])
    return Staged(((Op.Project(narrow), 3),), table, {"indices": [{"name": "i"}]})


def dead_segment(uri: str) -> Staged:
    """Delete the fragment that one of two entries of an index covers."""
    base(uri)
    both = Op.CreateIndex([index(1, "i", 0, {0}), index(2, "i", 0, {1})], [])
    pylanceref.LanceDataset.commit(uri, both, read_version=2)
    facts = {"indices": [{"uuid": {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="}}]}
    return Staged(((Op.Delete([], [0], "a < 3"), 3),), rows(3, 6), facts)


def uncovered(uri: str) -> Staged:
    """Update an indexed column in one of two fragments that the index covers."""
    first, _ = base(uri)
    made = Op.CreateIndex([index(1, "k", 1, {0, 1})], [])
    pylanceref.LanceDataset.commit(uri, made, read_version=2)
    changed, fields, *_ = first.update_columns(pa.table({"a": [0, 1, 2], "b": [7, 8, 9]}), "a")
    operation = Op.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode="rewrite_columns"
    )
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    facts = {"indices": [{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]}
    return Staged(((operation, 3),), table, facts)


def _uncovered_replaced(uri: str) -> Staged:
    """Replace an indexed column of one of two fragments that the index covers."""
    base(uri)
    made = Op.CreateIndex([index(1, "k", 1, {0, 1})], [])
    pylanceref.LanceDataset.commit(uri, made, read_version=2)
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    facts = {"indices": [{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]}
    return Staged(((replacement(uri, 0, "b", [7, 8, 9], 1), 3),), table, facts)


def _partly_rewritten(uri: str) -> Staged:
    """Rewrite both fragments into one, of which the index covers the first only."""
    first, second = base(uri)
    made = Op.CreateIndex([index(1, "k", 1, {0})], [])
    pylanceref.LanceDataset.commit(uri, made, read_version=2)
    rewritten = Op.RewrittenIndex(str(UUID(int=1)), str(UUID(int=2)), "", b"", 0)
    group = Op.RewriteGroup([first.metadata, second.metadata], new(uri, rows(0, 6)))
    return Staged(((Op.Rewrite([group], [rewritten]), 3),), rows(0, 6), {"version": "3"})


def _all_rewritten(uri: str) -> Staged:
    """Rewrite both fragments into one of a reserved id, with the index that covers them."""
    first, second = base(uri)
    made = Op.CreateIndex([index(1, "k", 1, {0, 1})], [])
    pylanceref.LanceDataset.commit(uri, made, read_version=2)
    pylanceref.LanceDataset.commit(uri, Op.ReserveFragments(1), read_version=3)
    (written,) = new(uri, rows(0, 6))
    rewritten = Op.RewrittenIndex(str(UUID(int=1)), str(UUID(int=2)), "", b"", 0)
    group = Op.RewriteGroup([first.metadata, second.metadata], [replace(written, id=2)])
    facts = {"indices": [{"uuid": {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="},
                          "fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAIA"}]}  # fmt: skip
    return Staged(((Op.Rewrite([group], [rewritten]), 4),), rows(0, 6), facts)


def _config(**maps: Any) -> Op.UpdateConfig:
    return Op.UpdateConfig(**{f"{name}_updates": edit for name, edit in maps.items()})


def _settings(uri: str) -> Staged:
    """Set a key in each of the four maps."""
    base(uri)
    edit = Op.UpdateMap({"k": "v"})
    operation = _config(
        config=edit, table_metadata=edit, schema_metadata=edit, field_metadata={1: edit}
    )
    facts = {
        "config": {"kept": "1", "k": "v"}, "table_metadata": {"k": "v"},
        "schema_metadata": {"k": "dg=="},
        "fields": [{"metadata": {}}, {"metadata": {"k": "dg=="}}],
    }  # fmt: skip
    return Staged(((operation, 2),), rows(0, 6), facts)


def _unset(uri: str) -> Staged:
    """Take the only config key out: the flag goes with it."""
    base(uri)
    facts = {"config": {}, "reader_feature_flags": "0", "writer_feature_flags": "0"}
    edit = _config(config=Op.UpdateMap({"kept": None}))
    return Staged(((edit, 2),), rows(0, 6), facts)


def _replaced_map(uri: str) -> Staged:
    base(uri)
    facts = {"config": {"k": "v", "kept": None}}
    edit = _config(config=Op.UpdateMap({"k": "v"}, replace=True))
    return Staged(((edit, 2),), rows(0, 6), facts)


def _no_such_field(uri: str) -> Staged:
    base(uri)
    edit = _config(field_metadata={9: Op.UpdateMap({"k": "v"})})
    return Staged(((edit, 2),), rows(0, 6), {"version": "2"})


def _bases(uri: str) -> Staged:
    """Add two base paths: they get the next ids."""
    base(uri)
    operation = Op.UpdateBases([DatasetBasePath("memory:///one", "one", True)])
    more = Op.UpdateBases([DatasetBasePath("memory:///two", "two")])
    facts = {"base_paths": [{"id": 1, "name": "one", "is_dataset_root": True}, {"id": 2}]}
    return Staged(((operation, 2), (more, 3)), rows(0, 6), facts)


def _same_base(uri: str) -> Staged:
    staged = _bases(uri)
    again = Op.UpdateBases([DatasetBasePath("memory:///three", "one")])
    operations = (*staged.operations[:1], (again, 3))
    return replace(staged, operations=operations, manifest={"version": "3"})


CASES: tuple[Acting, ...] = (
    case("columns/merge", "a Merge lists every fragment with its new file", _merge,
         ("L.txn.op.merge",)),
    case("columns/project", "a Project keeps field ids and drops files without a field", project,
         ("L.txn.op.project",)),
    case("columns/replace", "a DataReplacement puts a file beside a tombstone", _replace_column,
         ("L.txn.op.data-replacement",)),
    case("columns/replace-last", "a file is no longer listed once all its columns are replaced",
         replace_last, ("L.table.datafile.all-replaced",)),
    case("columns/replace-other-fields", "a DataReplacement of files of several fields",
         _replace_other_fields, broken=("L.txn.op.data-replacement",), allowed=REFUSED),
    case("columns/replace-nowhere", "a DataReplacement in a fragment that is not there",
         _replace_nowhere, broken=("L.txn.op.data-replacement",), allowed=REFUSED),
    case("indices/create", "a CreateIndex takes out the entry it removes", create_index,
         ("L.txn.op.create-index",)),
    case("indices/second", "a CreateIndex puts its entry after the others", _second_index,
         ("L.txn.op.create-index", "L.txn.conflict.index")),
    case("indices/field-goes", "an index goes with its field", _index_goes,
         ("L.txn.op.index-fields",)),
    case("indices/dead", "of two entries the one without a live fragment goes", dead_segment,
         ("L.txn.op.index-dead",)),
    case("indices/uncovered", "a fragment whose indexed column is updated is uncovered",
         uncovered, ("L.txn.op.update-index",)),
    case("indices/uncovered-replaced", "a fragment whose indexed column is replaced is uncovered",
         _uncovered_replaced, ("L.txn.op.update-index",)),
    case("indices/partly", "a Rewrite of fragments of which an index covers one",
         _partly_rewritten, broken=("L.txn.op.rewrite-index",), allowed=REFUSED),
    case("indices/all-rewritten", "a Rewrite of all that an index covers", _all_rewritten,
         ("L.txn.op.rewrite-index",)),
    case("settings/four-maps", "an UpdateConfig sets a key in each map", _settings,
         ("L.txn.op.update-config",)),
    case("settings/unset", "an entry without a value takes its key out", _unset,
         ("L.txn.op.update-config",)),
    case("settings/replace", "`replace` empties the map first", _replaced_map,
         ("L.txn.op.update-config",)),
    case("settings/no-such-field", "metadata of a field that does not exist", _no_such_field,
         broken=("L.txn.op.update-config",), allowed=REFUSED),
    case("settings/bases", "base paths get the next ids", _bases, ("L.txn.op.update-bases",)),
    case("settings/same-base", "a base of a name that there is", _same_base,
         broken=("L.txn.op.update-bases",), allowed=REFUSED),
)  # fmt: skip
"""Every case of columns, indices and settings."""

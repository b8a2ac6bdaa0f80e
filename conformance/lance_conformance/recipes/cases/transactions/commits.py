"""Commits that cases of several topics stage, what they leave, and faults of what they leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pyarrow as pa
import pylanceref
import pyroaring
from lanceref.file.schema import LanceSchema
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.table_pb2 import IndexSection
from lanceref.table.lineage import encode_versions
from lanceref.transactions.index_entries import set_covered
from pylanceref.file import LanceFileWriter
from pylanceref.fragment import LanceFragment, write_fragments
from pylanceref.metadata import DataFile as metadata_DataFile
from pylanceref.metadata import FragmentMetadata, RowIdMeta
from pylanceref.operation import Index as operation_Index
from pylanceref.operation import LanceOperation as Op
from pylanceref.schema import LanceSchema as PublicSchema
from pylanceref.transactions import lance_schema

from lance_conformance.recipes import edits
from lance_conformance.recipes.constructors import case, faults, lint
from lance_conformance.recipes.model import Maker, Recipe
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.staging import Staged


def column_file(uri: str, name: str, values: list[int], field: int, slug: str) -> metadata_DataFile:
    """Write a data file of one column and return how a manifest lists it."""
    path = f"{slug}.lance"
    schema = pa.schema({name: pa.int64()})
    with LanceFileWriter(f"{uri}/data/{path}", schema, version="2.1") as writer:
        writer.write_batch(pa.table({name: pa.array(values, pa.int64())}))
    return metadata_DataFile(path, [field], [0], 2, 1)


def only(uri: str, name: str, version: int | None = None) -> PublicSchema:
    """Return the schema of a table with one field left."""
    schema = lance_schema(pylanceref.dataset(uri, version=version).lance_schema)
    left = tuple(field for field in schema.fields if field.name == name)
    return PublicSchema(LanceSchema(left))


def replacement(uri: str, fragment: int, name: str, values: list[int], field: int) -> Any:
    """Stage a DataReplacement of one column of one fragment."""
    file = column_file(uri, name, values, field, f"column-{fragment}-{name}")
    return Op.DataReplacement([Op.DataReplacementGroup(fragment, file)])


def index_columns(
    number: int, name: str, field: int, fragments: set[int], version: int = 2
) -> operation_Index:
    """Return an index entry without files; `number` makes its uuid."""
    return operation_Index(str(UUID(int=number)), name, [field], version, fragments, 0)


def rows(start: int, end: int) -> pa.Table:
    """Return rows whose `a` goes from `start` to `end` - 1, and whose `b` is ten times that."""
    numbers = range(start, end)
    tens = [10 * one for one in numbers]
    return pa.table({"a": pa.array(numbers, pa.int64()), "b": pa.array(tens, pa.int64())})


def base(uri: str, *, stable: bool = False) -> list[LanceFragment]:
    """Write rows 0 to 5 in two fragments, set a config key; return the fragments of version 2."""
    write(
        rows(0, 6),
        uri,
        data_storage_version="2.1",
        max_rows_per_file=3,
        enable_stable_row_ids=stable,
    ).update_config({"kept": "1"})
    return list(pylanceref.dataset(uri).get_fragments())


def indexed(uri: str, *entries: operation_Index) -> list[LanceFragment]:
    """Commit indices without files over the base, as version 3; return its fragments."""
    fragments = base(uri)
    pylanceref.LanceDataset.commit(uri, Op.CreateIndex([*entries], []), read_version=2)
    return fragments


def project(uri: str) -> Staged:
    """Drop a column that lies in files of its own."""
    base(uri)
    made = pylanceref.dataset(uri)
    made.add_columns({"c": "a + 1"})
    narrow = only(uri, "b")
    facts = {"fields": [{"name": "b", "id": 1}], "fragments": [{"files": [{"fields": [0, 1]}]}] * 2}
    return Staged(((Op.Project(narrow), 3),), rows(0, 6).select(["b"]), facts)


def replace_last(uri: str) -> Staged:
    """Replace the second of two columns of a file, whose first has been replaced."""
    base(uri)
    pylanceref.LanceDataset.commit(uri, replacement(uri, 0, "a", [4, 4, 4], 0), read_version=2)
    table = pa.table({"a": [4, 4, 4, 3, 4, 5], "b": [7, 8, 9, 30, 40, 50]})
    facts = {"fragments": [{"files": [{"fields": [0]}, {"fields": [1]}]}, {}]}
    return Staged(((replacement(uri, 0, "b", [7, 8, 9], 1), 3),), table, facts)


def create_index(uri: str) -> Staged:
    """Put an index in place of another one of its name."""
    old, made = (index_columns(1, "i", 0, {0}), index_columns(2, "i", 0, {0, 1}, 3))
    indexed(uri, old)
    uuid = {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="}
    facts = {"indices": [{"uuid": uuid, "name": "i", "dataset_version": "3"}]}
    return Staged(((Op.CreateIndex([made], [old]), 3),), rows(0, 6), facts)


def dead(uri: str) -> Staged:
    """Delete the fragment that one of two entries of an index covers."""
    indexed(uri, index_columns(1, "i", 0, {0}), index_columns(2, "i", 0, {1}))
    facts = {"indices": [{"uuid": {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="}}]}
    return Staged(((Op.Delete([], [0], "a < 3"), 3),), rows(3, 6), facts)


def uncovered(uri: str) -> Staged:
    """Update an indexed column in one of two fragments that the index covers."""
    first, _ = indexed(uri, index_columns(1, "k", 1, {0, 1}))
    changed, fields, *_ = first.update_columns(pa.table({"a": [0, 1, 2], "b": [7, 8, 9]}), "a")
    operation = Op.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode="rewrite_columns"
    )
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    facts = {"indices": [{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]}
    return Staged(((operation, 3),), table, facts)


VERSIONS = ("_row_created_at_version", "_row_last_updated_at_version")
"""Columns of the versions of a row."""


def new(uri: str, table: pa.Table, mode: str = "append") -> list[FragmentMetadata]:
    """Write a fragment that no version has yet; mode `overwrite` numbers its fields anew."""
    return list(write_fragments(table, uri, mode=mode, data_storage_version="2.1"))


def append(uri: str) -> Staged:
    """Append two rows."""
    base(uri)
    facts = {"version": "3", "max_fragment_id": 2, "config": {"kept": "1"}}
    return Staged(((Op.Append(new(uri, rows(6, 8))), 2),), rows(0, 8), facts)


def append_stable(uri: str) -> Staged:
    """Append two rows to a table with stable row ids."""
    base(uri, stable=True)
    columns = ["a", *VERSIONS]
    table = pa.table(
        {
            "a": pa.array(range(8)),
            **{name: pa.array([1] * 6 + [3] * 2, pa.uint64()) for name in VERSIONS},
        }
    )
    operation = Op.Append(new(uri, rows(6, 8)))
    return Staged(((operation, 2),), table, {"next_row_id": "8"}, {"columns": columns})


def overwrite(uri: str) -> Staged:
    """Put two rows of one column in place of all."""
    base(uri, stable=True)
    fragments = new(uri, rows(20, 22).select(["b"]), "overwrite")
    facts = {
        "config": {"kept": "1"},
        "max_fragment_id": 2,
        "next_row_id": "8",
        "indices": [],
        "fields": [{"name": "b"}],
    }
    operation = Op.Overwrite(pa.schema({"b": pa.int64()}), fragments)
    return Staged(((operation, 2),), rows(20, 22).select(["b"]), facts)


def delete(uri: str) -> Staged:
    """Delete one row of the first fragment."""
    first, _ = base(uri)
    left = first.delete("a = 1")
    assert left is not None
    table = rows(0, 6).take([0, 2, 3, 4, 5])
    facts = {
        "reader_feature_flags": "1",
        "fragments": [{"deletion_file": {"num_deleted_rows": "1"}}, {"id": "1"}],
    }
    return Staged(((Op.Delete([left], [], "a = 1"), 2),), table, facts)


def update(uri: str) -> Staged:
    """Move one row to a new fragment."""
    first, _ = base(uri)
    left = first.delete("a = 1")
    assert left is not None
    moved = pa.table({"a": [1], "b": [99]})
    operation = Op.Update(
        updated_fragments=[left], new_fragments=new(uri, moved), update_mode="rewrite_rows"
    )
    table = pa.concat_tables([rows(0, 6).take([0, 2, 3, 4, 5]), moved])
    return Staged(((operation, 2),), table, {"max_fragment_id": 2})


def update_stable(uri: str) -> Staged:
    """Move row 1 under its id to a fragment that also holds a new row."""
    first, _ = base(uri, stable=True)
    left = first.delete("a = 1")
    assert left is not None
    ids = pb.RowIdSequence()
    ids.segments.add().range.start, ids.segments[0].range.end = (1, 2)
    (moved,) = new(uri, pa.table({"a": [1, 9], "b": [99, 90]}))
    moved.row_id_meta = RowIdMeta(ids.SerializeToString())
    operation = Op.Update(
        updated_fragments=[left], new_fragments=[moved], update_mode="rewrite_rows"
    )
    columns = {
        "a": [0, 2, 3, 4, 5, 1, 9],
        VERSIONS[0]: [1, 1, 1, 1, 1, 1, 3],
        VERSIONS[1]: [1, 1, 1, 1, 1, 3, 3],
        "_rowid": [0, 2, 3, 4, 5, 1, 6],
    }
    arrays = {
        name: pa.array(values, pa.int64() if name == "a" else pa.uint64())
        for name, values in columns.items()
    }
    read = {"columns": ["a", *VERSIONS], "with": ["_rowid"]}
    return Staged(((operation, 2),), pa.table(arrays), {"next_row_id": "7"}, read)


def update_columns(uri: str) -> Staged:
    """Give a fragment another `b`; the rows have stable ids, so that their versions are kept."""
    first, _ = base(uri, stable=True)
    changed, fields, *_ = first.update_columns(pa.table({"a": [0, 1, 2], "b": [7, 8, 9]}), "a")
    operation = Op.Update(
        updated_fragments=[changed],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: pyroaring.BitMap([0, 1, 2]).serialize()},
    )
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    for name, values in zip(VERSIONS, ([1] * 6, [3] * 3 + [1] * 3), strict=True):
        table = table.append_column(name, pa.array(values, pa.uint64()))
    files = [{"fields": [0, -2]}, {"fields": [1]}]
    facts = {"fragments": [{"files": files}, {"files": [{"fields": [0, 1]}]}]}
    return Staged(((operation, 2),), table, facts, {"columns": ["a", "b", *VERSIONS]})


def rewrite(uri: str) -> Staged:
    """Put one fragment in place of both, without the row that was deleted."""
    base(uri)
    pylanceref.dataset(uri).delete("a = 4")
    held = [one.metadata for one in pylanceref.dataset(uri).get_fragments()]
    table = rows(0, 6).take([0, 1, 2, 3, 5])
    operation = Op.Rewrite([Op.RewriteGroup(held, new(uri, table))], [])
    facts = {
        "fragments": [{"id": "2", "physical_rows": "5", "deletion_file": None}],
        "max_fragment_id": 2,
    }
    return Staged(((operation, 3),), table, facts)


def reserve(uri: str) -> Staged:
    """Reserve five fragment ids."""
    base(uri)
    return Staged(((Op.ReserveFragments(5), 2),), rows(0, 6), {"max_fragment_id": 6})


def restore(uri: str) -> Staged:
    """Go back from rows under higher ids, a config key and another schema."""
    base(uri, stable=True)
    write(rows(6, 9).select(["a"]), uri, mode="overwrite").update_config({"more": "1"})
    facts = {
        "version": "5",
        "max_fragment_id": 2,
        "next_row_id": "9",
        "config": {"kept": "1", "more": None},
        "fields": [{"name": "a"}, {"name": "b"}],
        "fragments": [{"id": "0"}, {"id": "1"}],
    }
    return Staged(((Op.Restore(2), 4),), rows(0, 6), facts)


def sticky(uri: str) -> Staged:
    """Append to a table that once had files of two versions."""
    base(uri)
    write(rows(6, 7), uri, mode="append", data_storage_version="2.2")
    pylanceref.dataset(uri).delete("a = 6")
    facts = {"reader_feature_flags": "256", "writer_feature_flags": "264"}
    table = pa.concat_tables([rows(0, 6), rows(7, 8)])
    return Staged(((Op.Append(new(uri, rows(7, 8))), 4),), table, facts)


_BUILDS: Mapping[str, Callable[[str], Staged]] = {build.__name__.replace("_", "-"): build
    for build in (append, append_stable, overwrite, delete, update, update_stable, update_columns,
        rewrite, reserve, restore, sticky, project, replace_last, create_index, dead,
        uncovered)}  # fmt: skip
"""Commits by the name of the table they leave."""


def _after(build: Callable[[str], Staged]) -> Callable[[str], pa.Table]:
    """Return the steps that build a table and commit what was staged for it."""

    def steps(uri: str) -> pa.Table:
        for operation, read_version in build(uri).operations:
            pylanceref.LanceDataset.commit(uri, operation, read_version=read_version)
        return pylanceref.dataset(uri).to_table()

    return steps


def _unflagged(old: int) -> int:
    return old & ~256


def _created(rows: int, version: int) -> dict[str, object]:
    """Say when the rows of the third fragment were made."""
    return {"fragments.2.inline_created_at_versions": encode_versions(rows, version)}


def _entry(name: str, number: int) -> Callable[[IndexSection], None]:
    """Add an index entry like the one there is: of another name, over the first fragment."""

    def edit(section: IndexSection) -> None:
        uuid = number.to_bytes(16, "big")
        edits.put(section, {"indices": lambda old: [*old, old[0]], "indices.1.name": name})
        edits.put(section.indices[1], {"uuid.uuid": uuid})
        set_covered(section.indices[1], {0})

    return edit


def _committed(build: Callable[[str], Staged]) -> Maker:
    """Return a maker of the table after a commit, without the files of its transactions."""
    steps = _after(build)
    return dataset(steps, lambda name: not name.startswith("_transactions/"), by="reference")


CASES: tuple[Recipe, ...] = (
    *(case(f"txn/any/after/{name}", f"a table after a commit: {name}", "L.txn.inline.message",
            _committed(_BUILDS[name])) for name in _BUILDS),
    *faults("txn/any/after/append",
        lint("rows", "a fragment of other rows than appended", "L.txn.op.append",
            edits.transaction({"append.fragments.0.physical_rows": 3}, edits.THIRD))),
    *faults("txn/any/after/append-stable",
        lint("created", "appended rows that say they were made before", "L.table.row-versions.new",
            edits.manifest(_created(2, 1), edits.THIRD))),
    *faults("txn/any/after/overwrite",
        lint("config", "an Overwrite that lost the config", "L.txn.op.overwrite", edits.manifest(
                {"config": None, "writer_feature_flags": lambda old: old & ~8}, edits.THIRD))),
    *faults("txn/any/after/delete", lint("other", "another deletion file than that of the Delete",
            "L.txn.op.delete", edits.transaction(
                {"delete.updated_fragments.0.deletion_file.id": lambda old: old + 1}, edits.THIRD)),
        lint("read-version", "a Delete of a version before the last one",
            "L.txn.rebase.read-version", edits.transaction({"read_version": 1}, edits.THIRD))),
    *faults("txn/any/after/update", lint("not-deleted", "a deletion that is none of the Update's",
            "L.txn.op.update", edits.transaction({"update.updated_fragments": None}, edits.THIRD))),
    *faults("txn/any/after/update-stable",
        lint("created", "a moved row that says the Update made it", "L.table.row-versions.moved",
            edits.manifest(_created(2, 3), edits.THIRD))),
    *faults("txn/any/after/update-columns", lint("not-updated",
            "changed rows that say nothing changed them", "L.table.row-versions.updated",
            edits.manifest({"fragments.0.inline_last_updated_at_versions": encode_versions(3, 1)},
                edits.THIRD))),
    *faults("txn/any/after/rewrite", lint("rows", "a fragment of other rows than rewritten",
            "L.txn.op.rewrite", edits.transaction(
                {"rewrite.groups.0.new_fragments.0.physical_rows": 6}, edits.FOURTH))),
    *faults("txn/any/after/reserve", lint("fewer", "fewer fragment ids than reserved",
            "L.txn.op.reserve", edits.manifest({"max_fragment_id": 4}, edits.THIRD))),
    *faults("txn/any/after/restore", lint("lower", "a Restore that lowers the highest fragment id",
            "L.txn.op.restore", edits.manifest({"max_fragment_id": 1}, edits.manifest_of(5)))),
    *faults("txn/any/after/sticky",
        lint("gone", "the flag of mixed versions is gone", "L.table.flags.sticky",
            edits.manifest({"reader_feature_flags": _unflagged, "writer_feature_flags": _unflagged},
                edits.manifest_of(5)))),
    *faults("txn/any/after/project", lint("name", "a field of another name than projected",
            "L.txn.op.project", edits.transaction({"project.schema.0.name": "x"}, edits.FOURTH))),
    *faults("txn/any/after/replace-last",
        lint("tombstones", "a file all of whose columns are replaced",
            "L.table.datafile.all-replaced", edits.fragment(
                {"files": lambda old: [*old, old[0]], "files.2.fields.0": -2}, edits.FOURTH))),
    *faults("txn/any/after/create-index", lint("kept", "an index entry that nobody created",
            "L.txn.op.create-index", edits.indices(_entry("j", 9), edits.FOURTH))),
    *faults("txn/any/after/dead", lint("kept", "an index entry without a live fragment",
            "L.txn.op.index-dead", edits.indices(_entry("i", 1), edits.FOURTH))),
    *faults("txn/any/after/uncovered",
        lint("covered", "an index that covers a changed fragment", "L.txn.op.update-index",
            edits.indices(lambda section: set_covered(section.indices[0], {0, 1}), edits.FOURTH))),
)  # fmt: skip

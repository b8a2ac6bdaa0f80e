"""Commits that cases of several topics stage, what they leave, and faults of what they leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pylanceref
import pyroaring
from lanceref.file.schema import LanceSchema
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.table_pb2 import IndexSection
from lanceref.table.deletions import encode_arrow
from lanceref.table.lineage import encode_versions
from lanceref.transactions.index_entries import set_covered
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import RowDatasetVersionMeta, RowIdMeta
from pylanceref.operation import LanceOperation as Op
from pylanceref.schema import LanceSchema as PublicSchema
from pylanceref.transactions import lance_schema

from lance_conformance.recipes import edits
from lance_conformance.recipes.constructors import case, faults, lint
from lance_conformance.recipes.edits import FOURTH, THIRD, indices, manifest, transaction
from lance_conformance.recipes.model import Maker, Recipe
from lance_conformance.recipes.oracle_files import dataset, write
from lance_conformance.recipes.scenario_plans import Commits


def data_file(uri: str, slug: str, rows: pa.Table, fields: list[int]) -> pylanceref.DataFile:
    """Write a data file, of a column for each field, and return how a manifest lists it."""
    path = f"{slug}.lance"
    with LanceFileWriter(f"{uri}/data/{path}", rows.schema, version="2.1") as writer:
        writer.write_batch(rows)
    return pylanceref.DataFile(path, fields, [*range(len(fields))], 2, 1)


def only(uri: str, name: str, version: int | None = None) -> PublicSchema:
    """Return the schema of a table with one field left."""
    schema = lance_schema(pylanceref.dataset(uri, version=version).lance_schema)
    remaining = tuple(field for field in schema.fields if field.name == name)
    return PublicSchema(LanceSchema(remaining))


def replacement(uri: str, fragment: int, name: str, values: list[int], field: int) -> Any:
    """Stage a DataReplacement of one column of one fragment."""
    rows = pa.table({name: pa.array(values, pa.int64())})
    file = data_file(uri, f"column-{fragment}-{name}", rows, [field])
    return Op.DataReplacement([Op.DataReplacementGroup(fragment, file)])


def index_columns(
    number: int, name: str, field: int, fragments: set[int], version: int = 2
) -> pylanceref.Index:
    """Return an index entry without files; `number` makes its uuid."""
    return pylanceref.Index(str(UUID(int=number)), name, [field], version, fragments, 0)


def rows(start: int, end: int) -> pa.Table:
    """Return rows whose `a` goes from `start` to `end` - 1, and whose `b` is ten times that."""
    numbers = range(start, end)
    tens = [10 * one for one in numbers]
    return pa.table({"a": pa.array(numbers, pa.int64()), "b": pa.array(tens, pa.int64())})


ALL = rows(0, 6)


def new(uri: str, table: pa.Table, mode: str = "append") -> list[pylanceref.FragmentMetadata]:
    """Write a fragment that no version has yet; mode `overwrite` numbers its fields anew."""
    return [pylanceref.LanceFragment.create(uri, table, mode=mode, data_storage_version="2.1")]


def mixed(uri: str) -> None:
    """Append a row in a file of another version."""
    write(rows(6, 7), uri, mode="append", data_storage_version="2.2")


def without(fragment: pylanceref.LanceFragment, predicate: str) -> pylanceref.FragmentMetadata:
    """Return a fragment without some of its rows."""
    remaining = fragment.delete(predicate)
    assert remaining is not None
    return remaining


def changed_columns(fragment: pylanceref.LanceFragment, **others: Any) -> Op.Update:
    """Stage an Update that gives the first fragment another `b`."""
    columns = pa.table({"a": [0, 1, 2], "b": [7, 8, 9]})
    changed, fields, *_ = fragment.update_columns(columns, "a")
    mode = "rewrite_columns"
    return Op.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode=mode, **others
    )


def merge(fragments: list[pylanceref.LanceFragment]) -> Op.Merge:
    """Stage a Merge that adds a column to fragments."""
    merged = [one.merge_columns({"c": "a + 1"}) for one in fragments]
    return Op.Merge([fragment for fragment, _ in merged], merged[0][1])


Fragments = list[pylanceref.LanceFragment]
Before = Callable[[str], Fragments]
"""Makes a table at a URI, and returns the fragments of its last version."""

Build = Callable[[str], Commits]
"""Makes a table at a URI, and stages operations on it."""


def base_and(*steps: Callable[[str], object], stable: bool = False, **others: Any) -> Before:
    """Return what writes rows 0 to 5 in two fragments, sets a config key, and takes more steps."""

    def before(uri: str) -> Fragments:
        options = {"max_rows_per_file": 3, "enable_stable_row_ids": stable, **others}
        write(ALL, uri, data_storage_version="2.1", **options).update_config({"kept": "1"})
        for step in steps:
            step(uri)
        return list(pylanceref.dataset(uri).get_fragments())

    return before


base, stable_base = base_and(), base_and(stable=True)
"""Tables of version 2."""


def committed(make: Callable[[str], Op.BaseOperation]) -> Callable[[str], object]:
    """Return the step that commits an operation over the last version."""

    def commit(uri: str) -> object:
        version = pylanceref.dataset(uri).version
        return pylanceref.LanceDataset.commit(uri, make(uri), read_version=version)

    return commit


def _kept(uri: str) -> None:
    """Give a table metadata of its own and a base."""
    committed(lambda _: Op.UpdateConfig(table_metadata_updates=Op.UpdateMap({"t": "1"})))(uri)
    pylanceref.dataset(uri).add_bases([pylanceref.DatasetBasePath("memory:///one", "one")])


def indexed(*entries: pylanceref.Index) -> Before:
    """Return what commits indices without files over the base, as version 3."""
    return base_and(committed(lambda _: Op.CreateIndex([*entries], [])))


def stage(
    before: Before,
    make: Callable[[str, Fragments], Op.BaseOperation],
    table: pa.Table,
    *,
    read: Mapping[str, object] | None = None,
    **facts: object,
) -> Build:
    """Return what stages an operation on the last version of a table; `table` and `facts` follow.

    The operation is made from the URI and the fragments; `read` are arguments of the last reading.
    """

    def build(uri: str) -> Commits:
        fragments = before(uri)
        version = pylanceref.dataset(uri).version
        return Commits(((make(uri, fragments), version),), table, facts, read or {})

    return build


WITHOUT_1 = ALL.take([0, 2, 3, 4, 5])
OTHER_B = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
"""Rows that are left without row 1, and all, of which three have another `b`."""

MERGED = ALL.append_column("c", pa.array(range(1, 7), pa.int64()))
"""All rows with a third column."""

MIXED_FLAGS: dict[str, Any] = {"reader_feature_flags": "256", "writer_feature_flags": "264"}
"""Facts of a table that has, or once had, files of two versions."""

VERSIONS = ("_row_created_at_version", "_row_last_updated_at_version")
"""Columns of the versions of a row."""

SECOND_UUID = {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="}
SECOND_COVERED = [{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]
"""Facts of an index: its uuid is the number 2, it covers the second fragment alone."""

FIRST_TWO = {"fragment_bitmap": "OjAAAAEAAAAAAAEAEAAAAAAAAQA="}
ALL_THREE = {"fragment_bitmap": "OjAAAAEAAAAAAAIAEAAAAAAAAQACAA=="}
"""Facts of an index: the first two fragments are covered, or the third too."""

REPLACED = [{"files": [{"fields": [0, -2]}, {"fields": [1]}]}, {"files": [{"fields": [0, 1]}]}]
"""Facts of fragments of which the first has a new file for `b`."""


def _with_versions(table: pa.Table, *columns: list[int]) -> pa.Table:
    for name, values in zip((*VERSIONS, "_rowid"), columns, strict=False):
        table = table.append_column(name, pa.array(values, pa.uint64()))
    return table


def _moved_row(uri: str, fragments: Fragments, *others: int, **options: Any) -> Op.BaseOperation:
    """Move row 1 under its id to a fragment that also holds rows of other numbers, new ones."""
    first = without(fragments[0], "a = 1")
    (moved,) = new(uri, pa.table({"a": [1, *others], "b": [99, *(10 * one for one in others)]}))
    ids = edits.build(pb.RowIdSequence, {"segments.0.range.start": 1, "segments.0.range.end": 2})
    moved.row_id_meta = RowIdMeta(ids.SerializeToString())
    options["update_mode"] = "rewrite_rows"
    return Op.Update(updated_fragments=[first], new_fragments=[moved], **options)


def _with_ids(uri: str) -> pylanceref.FragmentMetadata:
    """Write all rows into one fragment, under their ids and the versions they have."""
    (own,) = new(uri, ALL)
    ids = edits.build(pb.RowIdSequence, {"segments.0.range.end": 6})
    own.row_id_meta = RowIdMeta(ids.SerializeToString())
    own.created_at_version_meta = RowDatasetVersionMeta(encode_versions(6, 1))
    own.last_updated_at_version_meta = RowDatasetVersionMeta(encode_versions(6, 1))
    return own


def _index_a_and_b(uri: str) -> None:
    """Index both columns by row ids, and the first by addresses too."""
    for column, kind in (("a", "BITMAP"), ("b", "BITMAP"), ("a", "BTREE")):
        pylanceref.dataset(uri).create_scalar_index(column, kind, name=f"{kind} {column}")


_IN_B = pa.schema({"b": pa.int64()})
_MOVED = pa.table({"a": [1], "b": [99]})
_FIRST, _SECOND = index_columns(1, "i", 0, {0}), index_columns(2, "i", 0, {0, 1}, 3)

BUILDS: Mapping[str, Build] = {
    "append": stage(base, lambda uri, _: Op.Append(new(uri, rows(6, 8))), rows(0, 8), version="3",
        max_fragment_id=2, config={"kept": "1"}),
    "append-stable": stage(stable_base, lambda uri, _: Op.Append(new(uri, rows(6, 8))),
        _with_versions(rows(0, 8).select(["a"]), [1] * 6 + [3] * 2, [1] * 6 + [3] * 2),
        read={"columns": ["a", *VERSIONS]}, next_row_id="8"),
    "append-v1": stage(base_and(enable_v2_manifest_paths=False),
        lambda uri, _: Op.Append(new(uri, rows(6, 8))), rows(0, 8), version="3"),
    "overwrite": stage(base_and(_kept, stable=True),
        lambda uri, _: Op.Overwrite(_IN_B, new(uri, rows(20, 22).select(["b"]), "overwrite")),
        rows(20, 22).select(["b"]), config={"kept": "1"}, max_fragment_id=2, next_row_id="8",
        indices=[], fields=[{"name": "b"}], table_metadata={"t": "1"}, base_paths=[{"id": 1}]),
    "delete": stage(base, lambda _, held: Op.Delete([without(held[0], "a = 1")], [], "a = 1"),
        WITHOUT_1, reader_feature_flags="1",
        fragments=[{"deletion_file": {"num_deleted_rows": "1"}}, {"id": "1"}]),
    "delete-more": stage(base_and(lambda uri: pylanceref.dataset(uri).delete("a = 1")),
        lambda _, held: Op.Delete([without(held[0], "a = 2")], [], "a = 2"), ALL.take([0, 3, 4, 5]),
        fragments=[{"deletion_file": {"num_deleted_rows": "2"}}, {"id": "1"}]),
    "update": stage(base, lambda uri, held: Op.Update(updated_fragments=[without(held[0], "a = 1")],
            new_fragments=new(uri, _MOVED), update_mode="rewrite_rows"),
        pa.concat_tables([WITHOUT_1, _MOVED]), max_fragment_id=2),
    "update-stable": stage(stable_base, lambda uri, held: _moved_row(uri, held, 9),
        _with_versions(pa.table({"a": [0, 2, 3, 4, 5, 1, 9]}), [1] * 6 + [3], [1] * 5 + [3] * 2,
            [0, 2, 3, 4, 5, 1, 6]), read={"columns": ["a", *VERSIONS], "with": ["_rowid"]},
        next_row_id="7"),
    "moved-covered": stage(base_and(_index_a_and_b, stable=True),
        lambda uri, held: _moved_row(uri, held, fields_for_preserving_frag_bitmap=[1]),
        pa.concat_tables([WITHOUT_1, _MOVED]), indices=[ALL_THREE, FIRST_TWO, FIRST_TWO]),
    "update-columns": stage(stable_base, lambda _, held: changed_columns(held[0],
            updated_fragment_offsets={0: pyroaring.BitMap([0, 1, 2]).serialize()}),
        _with_versions(OTHER_B, [1] * 6, [3] * 3 + [1] * 3),
        read={"columns": ["a", "b", *VERSIONS]}, fragments=REPLACED),
    "rewrite": stage(base_and(lambda uri: pylanceref.dataset(uri).delete("a = 4")),
        lambda uri, held: Op.Rewrite([Op.RewriteGroup(
                    [one.metadata for one in held], new(uri, ALL.take([0, 1, 2, 3, 5])))], []),
        ALL.take([0, 1, 2, 3, 5]), max_fragment_id=2,
        fragments=[{"id": "2", "physical_rows": "5", "deletion_file": None}]),
    "rewrite-stable": stage(stable_base, lambda uri, held: Op.Rewrite(
            [Op.RewriteGroup([one.metadata for one in held], [_with_ids(uri)])], []),
        _with_versions(ALL.select(["a"]), [1] * 6, [1] * 6, [*range(6)]),
        read={"columns": ["a", *VERSIONS], "with": ["_rowid"]}, next_row_id="6"),
    "merge-stable": stage(stable_base, lambda _, held: merge(held),
        _with_versions(MERGED, [1] * 6, [3] * 6), read={"columns": ["a", "b", "c", *VERSIONS]}),
    "reserve": stage(base, lambda *_: Op.ReserveFragments(5), ALL, max_fragment_id=6),
    "restore": stage(base_and(lambda uri: write(rows(6, 9).select(["a"]), uri,
                mode="overwrite").update_config({"more": "1"}), _kept, stable=True),
        lambda *_: Op.Restore(2), ALL, version="7", max_fragment_id=2, next_row_id="9",
        table_metadata={"t": None}, base_paths=[],
        config={"kept": "1", "more": None},
        fields=[{"name": "a"}, {"name": "b"}], fragments=[{"id": "0"}, {"id": "1"}]),
    "sticky": stage(base_and(mixed, lambda uri: pylanceref.dataset(uri).delete("a = 6")),
        lambda uri, _: Op.Append(new(uri, rows(7, 8))), pa.concat_tables([ALL, rows(7, 8)]),
        **MIXED_FLAGS),
    "project": stage(base_and(lambda uri: pylanceref.dataset(uri).add_columns({"c": "a + 1"})),
        lambda uri, _: Op.Project(only(uri, "b")), ALL.select(["b"]),
        fields=[{"name": "b", "id": 1}], fragments=[{"files": [{"fields": [0, 1]}]}] * 2),
    "replace-last": stage(base_and(committed(lambda uri: replacement(uri, 0, "a", [4, 4, 4], 0))),
        lambda uri, _: replacement(uri, 0, "b", [7, 8, 9], 1),
        pa.table({"a": [4, 4, 4, 3, 4, 5], "b": [7, 8, 9, 30, 40, 50]}),
        fragments=[{"files": [{"fields": [0]}, {"fields": [1]}]}, {}]),
    "create-index": stage(indexed(_FIRST), lambda *_: Op.CreateIndex([_SECOND], [_FIRST]), ALL,
        indices=[{"uuid": SECOND_UUID, "name": "i", "dataset_version": "3"}]),
    "dead": stage(indexed(_FIRST, index_columns(2, "i", 0, {1})),
        lambda *_: Op.Delete([], [0], "a < 3"), rows(3, 6), indices=[{"uuid": SECOND_UUID}]),
    "uncovered": stage(indexed(index_columns(1, "k", 1, {0, 1})),
        lambda _, held: changed_columns(held[0]), OTHER_B, indices=SECOND_COVERED)}  # fmt: skip
"""Commits by the name of the table they leave."""


def _after(build: Build) -> Callable[[str], pa.Table]:
    """Return the steps that build a table and commit what was staged for it."""

    def steps(uri: str) -> pa.Table:
        for operation, read_version in build(uri).operations:
            pylanceref.LanceDataset.commit(uri, operation, read_version=read_version)
        return pylanceref.dataset(uri).to_table()

    return steps


def _created(rows: int, version: int) -> dict[str, object]:
    """Say when the rows of the third fragment were made."""
    return {"fragments.2.inline_created_at_versions": encode_versions(rows, version)}


def _entry(name: str, number: int) -> Callable[[IndexSection], None]:
    """Add an index entry like the one there is: of another name, over the first fragment."""

    def edit(section: IndexSection) -> None:
        uuid = number.to_bytes(16, "big")
        edits.update(section, {"indices": lambda old: [*old, old[0]], "indices.1.name": name})
        edits.update(section.indices[1], {"uuid.uuid": uuid})
        set_covered(section.indices[1], {0})

    return edit


def _committed(build: Build) -> Maker:
    """Return a maker of the table after a commit, without the files of its transactions."""
    steps = _after(build)
    return dataset(steps, lambda name: not name.startswith("_transactions/"), by="reference")


CASES: tuple[Recipe, ...] = (
    *(case(f"txn/any/after/{name}", f"a table after a commit: {name}", "L.txn.inline.message",
            _committed(build)) for name, build in BUILDS.items()),
    *faults("txn/any/after/append", lint("rows", "a fragment of other rows than appended",
            "L.txn.op.append", transaction({"append.fragments.0.physical_rows": 3}, THIRD))),
    *faults("txn/any/after/append-stable",
        lint("created", "appended rows that say they were made before", "L.table.row-versions.new",
            manifest(_created(2, 1), THIRD))),
    *faults("txn/any/after/overwrite",
        lint("config", "an Overwrite that lost the config", "L.txn.op.overwrite",
            manifest({"config": None, "writer_feature_flags": lambda old: old & ~8},
                edits.manifest_of(5)))),
    *faults("txn/any/after/delete", lint("other", "another deletion file than that of the Delete",
            "L.txn.op.delete", transaction(
                {"delete.updated_fragments.0.deletion_file.id": lambda old: old + 1}, THIRD)),
        lint("read-version", "a Delete of a version before the last one",
            "L.txn.rebase.read-version", transaction({"read_version": 1}, THIRD))),
    *faults("txn/any/after/delete-more", lint("live-again", "a row that a Delete brings back",
            "L.txn.rebase.deletions",
            edits.swap(encode_arrow(np.array([0])), "_deletions/0-2-*.arrow"))),
    *faults("txn/any/after/update", lint("not-deleted", "a deletion that is none of the Update's",
            "L.txn.op.update", transaction({"update.updated_fragments": None}, THIRD))),
    *faults("txn/any/after/update-stable",
        lint("created", "a moved row that says the Update made it", "L.table.row-versions.moved",
            manifest(_created(2, 3), THIRD))),
    *faults("txn/any/after/update-columns", lint("not-updated",
            "changed rows that say nothing changed them", "L.table.row-versions.updated", manifest(
                {"fragments.0.inline_last_updated_at_versions": encode_versions(3, 1)}, THIRD))),
    *faults("txn/any/after/rewrite",
        lint("rows", "a fragment of other rows than rewritten", "L.txn.op.rewrite",
            transaction({"rewrite.groups.0.new_fragments.0.physical_rows": 6}, FOURTH))),
    *faults("txn/any/after/reserve", lint("fewer", "fewer fragment ids than reserved",
            "L.txn.op.reserve", manifest({"max_fragment_id": 4}, THIRD))),
    *faults("txn/any/after/restore", lint("lower", "a Restore that lowers the highest fragment id",
            "L.txn.op.restore", manifest({"max_fragment_id": 1}, edits.manifest_of(7)))),
    *faults("txn/any/after/sticky",
        lint("gone", "the flag of mixed versions is gone", "L.table.flags.sticky",
            manifest(dict.fromkeys(MIXED_FLAGS, lambda old: old & ~256),
                edits.manifest_of(5)))),
    *faults("txn/any/after/project", lint("name", "a field of another name than projected",
            "L.txn.op.project", transaction({"project.schema.0.name": "x"}, FOURTH))),
    *faults("txn/any/after/replace-last", lint("tombstones",
            "a file all of whose columns are replaced", "L.table.datafile.all-replaced",
            edits.fragment({"files": lambda old: [*old, old[0]], "files.2.fields.0": -2}, FOURTH))),
    *faults("txn/any/after/create-index", lint("kept", "an index entry that nobody created",
            "L.txn.op.create-index", indices(_entry("j", 9), FOURTH))),
    *faults("txn/any/after/dead", lint("kept", "an index entry without a live fragment",
            "L.txn.op.index-dead", indices(_entry("i", 1), FOURTH))),
    *faults("txn/any/after/moved-covered",
        lint("addresses", "an index of addresses that covers moved rows", "L.txn.op.update-index",
            indices(lambda section: set_covered(section.indices[2], {0, 1, 2}),
                edits.manifest_of(6)))),
    *faults("txn/any/after/uncovered",
        lint("covered", "an index that covers a changed fragment", "L.txn.op.update-index",
            indices(lambda section: set_covered(section.indices[0], {0, 1}), FOURTH))),
)  # fmt: skip

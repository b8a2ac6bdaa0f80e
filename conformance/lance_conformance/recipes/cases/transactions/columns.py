"""Cases of commits of columns, indices and settings, which leave the rows where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pylanceref
from pylanceref.operation import DatasetBasePath
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.constructors import act
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.staging import Staged, staged


def _merge(uri: str) -> Staged:
    """Add a column to both fragments."""
    merged = [one.merge_columns({"c": "a + 1"}) for one in commits.base(uri)]
    operation = Op.Merge([fragment for fragment, _ in merged], merged[0][1])
    table = commits.rows(0, 6).append_column("c", pa.array(range(1, 7), pa.int64()))
    facts = {
        "fields": [{"id": 0}, {"id": 1}, {"name": "c", "id": 2}],
        "fragments": [{"files": [{}, {"fields": [2]}]}] * 2,
    }
    return Staged(((operation, 2),), table, facts)


def _replace_column(uri: str) -> Staged:
    commits.base(uri)
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    files = [{"fields": [0, -2]}, {"fields": [1]}]
    facts = {"fragments": [{"files": files}, {"files": [{"fields": [0, 1]}]}]}
    return Staged(((commits.replacement(uri, 0, "b", [7, 8, 9], 1), 2),), table, facts)


def _replace_other_fields(uri: str) -> Staged:
    """Replace `a` of one fragment and `b` of the other at once."""
    commits.base(uri)
    first, second = (
        commits.replacement(uri, 0, "a", [7] * 3, 0),
        commits.replacement(uri, 1, "b", [7] * 3, 1),
    )
    operation = Op.DataReplacement([*first.replacements, *second.replacements])
    return Staged(((operation, 2),), commits.rows(0, 6), {"version": "2"})


def _replace_nowhere(uri: str) -> Staged:
    commits.base(uri)
    return Staged(
        ((commits.replacement(uri, 7, "b", [1, 2, 3], 1), 2),), commits.rows(0, 6), {"version": "2"}
    )


def _second_index(uri: str) -> Staged:
    """Add an index after another one."""
    commits.indexed(uri, commits.index_columns(1, "i", 0, {0}))
    facts = {"indices": [{"name": "i"}, {"name": "k", "fields": [1]}]}
    operation = Op.CreateIndex([commits.index_columns(2, "k", 1, {0, 1})], [])
    return Staged(((operation, 3),), commits.rows(0, 6), facts)


def _index_goes(uri: str) -> Staged:
    """Drop a column that one of two indices is over."""
    commits.indexed(
        uri, commits.index_columns(1, "i", 0, {0, 1}), commits.index_columns(2, "k", 1, {0, 1})
    )
    narrow = commits.only(uri, "a")
    table = commits.rows(0, 6).select(["a"])
    return Staged(((Op.Project(narrow), 3),), table, {"indices": [{"name": "i"}]})


def _uncovered_replaced(uri: str) -> Staged:
    """Replace an indexed column of one of two fragments that the index covers."""
    commits.indexed(uri, commits.index_columns(1, "k", 1, {0, 1}))
    table = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})
    facts = {"indices": [{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]}
    return Staged(((commits.replacement(uri, 0, "b", [7, 8, 9], 1), 3),), table, facts)


def _partly_rewritten(uri: str) -> Staged:
    """Rewrite both fragments into one, of which the index covers the first only."""
    first, second = commits.indexed(uri, commits.index_columns(1, "k", 1, {0}))
    rewritten = Op.RewrittenIndex(str(UUID(int=1)), str(UUID(int=2)), "", b"", 0)
    group = Op.RewriteGroup([first.metadata, second.metadata], commits.new(uri, commits.rows(0, 6)))
    return Staged(((Op.Rewrite([group], [rewritten]), 3),), commits.rows(0, 6), {"version": "3"})


def _all_rewritten(uri: str) -> Staged:
    """Rewrite both fragments into one of a reserved id, with the index that covers them."""
    first, second = commits.indexed(uri, commits.index_columns(1, "k", 1, {0, 1}))
    pylanceref.LanceDataset.commit(uri, Op.ReserveFragments(1), read_version=3)
    (written,) = commits.new(uri, commits.rows(0, 6))
    rewritten = Op.RewrittenIndex(str(UUID(int=1)), str(UUID(int=2)), "", b"", 0)
    group = Op.RewriteGroup([first.metadata, second.metadata], [replace(written, id=2)])
    facts = {
        "indices": [
            {
                "uuid": {"uuid": "AAAAAAAAAAAAAAAAAAAAAg=="},
                "fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAIA",
            }
        ]
    }
    return Staged(((Op.Rewrite([group], [rewritten]), 4),), commits.rows(0, 6), facts)


def _config(**maps: Any) -> Op.UpdateConfig:
    return Op.UpdateConfig(**{f"{name}_updates": edit for name, edit in maps.items()})


def _settings(uri: str) -> Staged:
    """Set a key in each of the four maps."""
    commits.base(uri)
    edit = Op.UpdateMap({"k": "v"})
    operation = _config(
        config=edit, table_metadata=edit, schema_metadata=edit, field_metadata={1: edit}
    )
    facts = {
        "config": {"kept": "1", "k": "v"},
        "table_metadata": {"k": "v"},
        "schema_metadata": {"k": "dg=="},
        "fields": [{"metadata": {}}, {"metadata": {"k": "dg=="}}],
    }
    return Staged(((operation, 2),), commits.rows(0, 6), facts)


def _unset(uri: str) -> Staged:
    """Take the only config key out: the flag goes with it."""
    commits.base(uri)
    facts = {"config": {}, "reader_feature_flags": "0", "writer_feature_flags": "0"}
    edit = _config(config=Op.UpdateMap({"kept": None}))
    return Staged(((edit, 2),), commits.rows(0, 6), facts)


def _replaced_map(uri: str) -> Staged:
    commits.base(uri)
    facts = {"config": {"k": "v", "kept": None}}
    edit = _config(config=Op.UpdateMap({"k": "v"}, replace=True))
    return Staged(((edit, 2),), commits.rows(0, 6), facts)


def _no_such_field(uri: str) -> Staged:
    commits.base(uri)
    edit = _config(field_metadata={9: Op.UpdateMap({"k": "v"})})
    return Staged(((edit, 2),), commits.rows(0, 6), {"version": "2"})


def _bases(uri: str) -> Staged:
    """Add two base paths: they get the next ids."""
    commits.base(uri)
    operation = Op.UpdateBases([DatasetBasePath("memory:///one", "one", True)])
    more = Op.UpdateBases([DatasetBasePath("memory:///two", "two")])
    facts = {"base_paths": [{"id": 1, "name": "one", "is_dataset_root": True}, {"id": 2}]}
    return Staged(((operation, 2), (more, 3)), commits.rows(0, 6), facts)


def _same_base(uri: str) -> Staged:
    staged = _bases(uri)
    again = Op.UpdateBases([DatasetBasePath("memory:///three", "one")])
    operations = (*staged.operations[:1], (again, 3))
    return replace(staged, operations=operations, manifest={"version": "3"})


CASES: tuple[Recipe, ...] = (
    act("txn/any/columns/merge", "a Merge lists every fragment with its new file", "L.txn.op.merge",
        staged(_merge)),
    act("txn/any/columns/project", "a Project keeps field ids and drops files without a field",
        "L.txn.op.project", staged(commits.project)),
    act("txn/any/columns/replace", "a DataReplacement puts a file beside a tombstone",
        "L.txn.op.data-replacement", staged(_replace_column)),
    act("txn/any/columns/replace-last",
        "a file is no longer listed once all its columns are replaced",
        "L.table.datafile.all-replaced", staged(commits.replace_last)),
    act("txn/any/columns/replace-other-fields", "a DataReplacement of files of several fields", (),
        staged(_replace_other_fields), broken=("L.txn.op.data-replacement",),
        allowed=("refused", "conflict")),
    act("txn/any/columns/replace-nowhere", "a DataReplacement in a fragment that is not there", (),
        staged(_replace_nowhere), broken=("L.txn.op.data-replacement",),
        allowed=("refused", "conflict")),
    act("txn/any/indices/create", "a CreateIndex takes out the entry it removes",
        "L.txn.op.create-index", staged(commits.create_index_columns)),
    act("txn/any/indices/second", "a CreateIndex puts its entry after the others",
        ("L.txn.op.create-index", "L.txn.conflict.index"), staged(_second_index)),
    act("txn/any/indices/field-goes", "an index goes with its field", "L.txn.op.index-fields",
        staged(_index_goes)),
    act("txn/any/indices/dead", "of two entries the one without a live fragment goes",
        "L.txn.op.index-dead", staged(commits.dead_segment)),
    act("txn/any/indices/uncovered", "a fragment whose indexed column is updated is uncovered",
        "L.txn.op.update-index", staged(commits.uncovered)),
    act("txn/any/indices/uncovered-replaced",
        "a fragment whose indexed column is replaced is uncovered", "L.txn.op.update-index",
        staged(_uncovered_replaced)),
    act("txn/any/indices/partly", "a Rewrite of fragments of which an index covers one", (),
        staged(_partly_rewritten), broken=("L.txn.op.rewrite-index",),
        allowed=("refused", "conflict")),
    act("txn/any/indices/all-rewritten", "a Rewrite of all that an index covers",
        "L.txn.op.rewrite-index", staged(_all_rewritten)),
    act("txn/any/settings/four-maps", "an UpdateConfig sets a key in each map",
        "L.txn.op.update-config", staged(_settings)),
    act("txn/any/settings/unset", "an entry without a value takes its key out",
        "L.txn.op.update-config", staged(_unset)),
    act("txn/any/settings/replace", "`replace` empties the map first", "L.txn.op.update-config",
        staged(_replaced_map)),
    act("txn/any/settings/no-such-field", "metadata of a field that does not exist", (),
        staged(_no_such_field), broken=("L.txn.op.update-config",),
        allowed=("refused", "conflict")),
    act("txn/any/settings/bases", "base paths get the next ids", "L.txn.op.update-bases",
        staged(_bases)),
    act("txn/any/settings/same-base", "a base of a name that there is", (), staged(_same_base),
        broken=("L.txn.op.update-bases",), allowed=("refused", "conflict")),
)  # fmt: skip

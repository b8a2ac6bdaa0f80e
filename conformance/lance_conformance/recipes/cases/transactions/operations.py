"""Cases of commits by their operation: of rows, columns, indices, settings, and of flags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pylanceref
from pylanceref.fragment import LanceFragment
from pylanceref.operation import DatasetBasePath
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.constructors import act
from lance_conformance.recipes.edits import SECOND, manifest
from lance_conformance.recipes.model import Recipe
from lance_conformance.recipes.oracle_made import write
from lance_conformance.recipes.staging import Staged, staged


def _first(uri: str) -> Staged:
    fragments = commits.new(uri, commits.rows(0, 2), "overwrite")
    facts = {"version": "1", "max_fragment_id": 0, "next_row_id": "0"}
    operation = Op.Overwrite(commits.rows(0, 0).schema, fragments)
    return Staged(((operation, 0),), commits.rows(0, 2), facts)


def _delete_more(uri: str) -> Staged:
    """Delete a row of a fragment that misses another one."""
    commits.base(uri)
    pylanceref.dataset(uri).delete("a = 0")
    left = next(iter(pylanceref.dataset(uri).get_fragments())).delete("a = 1")
    assert left is not None
    facts = {"fragments": [{"deletion_file": {"num_deleted_rows": "2"}}, {"id": "1"}]}
    return Staged(((Op.Delete([left], [], "a = 1"), 3),), commits.rows(2, 6), facts)


def _delete_fragment(uri: str) -> Staged:
    commits.base(uri)
    facts = {"fragments": [{"id": "1"}], "max_fragment_id": 1}
    return Staged(((Op.Delete([], [0], "a < 3"), 2),), commits.rows(3, 6), facts)


def _reserved_first(uri: str) -> Staged:
    write(commits.rows(0, 0), uri, data_storage_version="2.1")
    return Staged(((Op.ReserveFragments(2), 1),), commits.rows(0, 0), {"max_fragment_id": 1})


def _restore_sticky(uri: str) -> Staged:
    commits.base(uri)
    write(commits.rows(6, 7), uri, mode="append", data_storage_version="2.2")
    facts = {"reader_feature_flags": "256", "writer_feature_flags": "264"}
    return Staged(((Op.Restore(2), 3),), commits.rows(0, 6), facts)


def _two_appends(uri: str) -> Staged:
    """Two writers append, both after version 2."""
    commits.base(uri)
    first, second = (commits.new(uri, commits.rows(6, 7)), commits.new(uri, commits.rows(7, 8)))
    facts = {"version": "4", "fragments": [{"id": "0"}, {"id": "1"}, {"id": "2"}, {"id": "3"}]}
    both = ((Op.Append(first), 2), (Op.Append(second), 2))
    return Staged(both, commits.rows(0, 8), facts, actors="ab")


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


KNOWN = {1: 3, 16: 3, 32: 2, 128: 3, 256: 3, 1024: 3, 2048: 3, 16384: 3}
"""Bits of released versions: 2 the writer word only, 3 both words."""


def _flagged(bit: int, words: int) -> Callable[[str], Staged]:
    """Return what stages an Append to a table with a flag in the writer word, or in both."""

    def build(uri: str) -> Staged:
        commits.base(uri)
        names = ("writer_feature_flags", "reader_feature_flags")[: words - 1]
        flagged = manifest(
            {name: lambda old: old | bit for name in names},
            SECOND,
        )
        return Staged(
            ((Op.Append(commits.new(uri, commits.rows(6, 7))), 2),),
            commits.rows(0, 7),
            changes=(flagged,),
        )

    return build


_UNKNOWN = {512: 2, 4096: 2, 8192: 2, 131072: 2, 2**40: 2, 2**63: 2}
"""Bits that no released version knows."""

_WORDS = {2: "the writer word", 3: "both words"}


def _misfit(build: Callable[[str, LanceFragment], Op.BaseOperation]) -> Callable[[str], Staged]:
    """Return what stages an operation, of the first fragment, that does not fit the table."""

    def stage(uri: str) -> Staged:
        operation = build(uri, commits.base(uri)[0])
        return Staged(((operation, 2),), commits.rows(0, 6), {"version": "2"})

    return stage


@_misfit
def _rewrite_stranger(uri: str, first: LanceFragment) -> Op.BaseOperation:
    group = Op.RewriteGroup([replace(first.metadata, id=7)], commits.new(uri, commits.rows(0, 3)))
    return Op.Rewrite([group], [])


@_misfit
def _merge_missing(_uri: str, first: LanceFragment) -> Op.BaseOperation:
    merged, schema = first.merge_columns({"c": "a + 1"})
    return Op.Merge([merged], schema)


_restore_future = _misfit(lambda *_: Op.Restore(9))
_index_stranger = _misfit(lambda *_: Op.CreateIndex([commits.index_columns(1, "i", 9, {0, 1})], []))

_REFUSED: tuple[tuple[str, str, str, Callable[[str], Staged]], ...] = (
    ("columns/replace-other-fields", "a DataReplacement of files of several fields",
        "L.txn.op.data-replacement", _replace_other_fields),
    ("columns/replace-nowhere", "a DataReplacement in a fragment that is not there",
        "L.txn.op.data-replacement", _replace_nowhere),
    ("indices/partly", "a Rewrite of fragments of which an index covers one",
        "L.txn.op.rewrite-index", _partly_rewritten),
    ("settings/no-such-field", "metadata of a field that does not exist", "L.txn.op.update-config",
        _no_such_field),
    ("settings/same-base", "a base of a name that there is", "L.txn.op.update-bases", _same_base),
    ("misfits/merge-missing", "a Merge that leaves a fragment out", "L.txn.op.merge",
        _merge_missing),
    ("misfits/restore-future", "a Restore of a version that does not exist", "L.txn.op.restore",
        _restore_future),
    ("misfits/rewrite-stranger", "a Rewrite of a fragment that is not there", "L.txn.op.rewrite",
        _rewrite_stranger),
    ("misfits/index-stranger", "a CreateIndex over a field that is not there",
        "L.txn.op.index-fields", _index_stranger),
)  # fmt: skip
"""Slug, title, the clause that is kept from being broken, and what stages the operation."""

CASES: tuple[Recipe, ...] = (
    act("txn/any/rows/append", "an Append takes the next fragment id",
        ("L.table.fragments.ids", "L.table.naming.version"), staged(commits.append)),
    act("txn/any/rows/append-stable", "appended rows get ids and versions by the commit",
        "L.table.row-versions.new", staged(commits.append_stable)),
    act("txn/any/rows/two-appends", "two writers append after one version: both stand",
        "L.txn.conflict.append", staged(_two_appends), allowed=("rebased",)),
    act("txn/any/rows/first", "an Overwrite where there is no table makes version 1",
        "L.table.naming.v2", staged(_first)),
    act("txn/any/rows/overwrite", "an Overwrite keeps config and what was given out",
        "L.txn.op.overwrite", staged(commits.overwrite)),
    act("txn/any/rows/delete", "a Delete of one row", "L.txn.op.delete", staged(commits.delete)),
    act("txn/any/rows/delete-more", "a Delete in a fragment that has a deletion file",
        "L.txn.op.delete", staged(_delete_more)),
    act("txn/any/rows/delete-fragment", "a Delete of a whole fragment", "L.txn.op.delete",
        staged(_delete_fragment)),
    act("txn/any/rows/update", "an Update moves a row to a new fragment", "L.txn.op.update",
        staged(commits.update)),
    act("txn/any/rows/update-stable", "a moved row keeps its id, a new one beside it gets the next",
        "L.table.row-versions.moved", staged(commits.update_stable)),
    act("txn/any/rows/update-columns", "an Update of a column leaves the rows where they are",
        ("L.txn.op.update", "L.table.row-versions.updated"), staged(commits.update_columns)),
    act("txn/any/rows/rewrite", "a Rewrite of two fragments to one", "L.txn.op.rewrite",
        staged(commits.rewrite)),
    act("txn/any/rows/reserve", "a ReserveFragments raises the highest id", "L.txn.op.reserve",
        staged(commits.reserve)),
    act("txn/any/rows/reserve-first", "a ReserveFragments in a table without any fragment",
        "L.txn.op.reserve", staged(_reserved_first)),
    act("txn/any/rows/restore", "a Restore lowers neither fragment ids nor row ids",
        "L.txn.op.restore", staged(commits.restore)),
    act("txn/any/rows/sticky", "the flag of mixed versions stays when its files are gone",
        "L.table.flags.sticky", staged(commits.sticky)),
    act("txn/any/rows/sticky-restore", "the flag of mixed versions stays over a Restore",
        "L.table.flags.sticky", staged(_restore_sticky)),
    act("txn/any/columns/merge", "a Merge lists every fragment with its new file", "L.txn.op.merge",
        staged(_merge)),
    act("txn/any/columns/project", "a Project keeps field ids and drops files without a field",
        "L.txn.op.project", staged(commits.project)),
    act("txn/any/columns/replace", "a DataReplacement puts a file beside a tombstone",
        "L.txn.op.data-replacement", staged(_replace_column)),
    act("txn/any/columns/replace-last",
        "a file is no longer listed once all its columns are replaced",
        "L.table.datafile.all-replaced", staged(commits.replace_last)),
    act("txn/any/indices/create", "a CreateIndex takes out the entry it removes",
        "L.txn.op.create-index", staged(commits.create_index)),
    act("txn/any/indices/second", "a CreateIndex puts its entry after the others",
        ("L.txn.op.create-index", "L.txn.conflict.index"), staged(_second_index)),
    act("txn/any/indices/field-goes", "an index goes with its field", "L.txn.op.index-fields",
        staged(_index_goes)),
    act("txn/any/indices/dead", "of two entries the one without a live fragment goes",
        "L.txn.op.index-dead", staged(commits.dead)),
    act("txn/any/indices/uncovered", "a fragment whose indexed column is updated is uncovered",
        "L.txn.op.update-index", staged(commits.uncovered)),
    act("txn/any/indices/uncovered-replaced",
        "a fragment whose indexed column is replaced is uncovered", "L.txn.op.update-index",
        staged(_uncovered_replaced)),
    act("txn/any/indices/all-rewritten", "a Rewrite of all that an index covers",
        "L.txn.op.rewrite-index", staged(_all_rewritten)),
    act("txn/any/settings/four-maps", "an UpdateConfig sets a key in each map",
        "L.txn.op.update-config", staged(_settings)),
    act("txn/any/settings/unset", "an entry without a value takes its key out",
        "L.txn.op.update-config", staged(_unset)),
    act("txn/any/settings/replace", "`replace` empties the map first", "L.txn.op.update-config",
        staged(_replaced_map)),
    act("txn/any/settings/bases", "base paths get the next ids", "L.txn.op.update-bases",
        staged(_bases)),
    *(act(f"txn/any/flags/{'known' if bit in KNOWN else 'unknown'}-{bit}",
            f"an Append to a table with flag {bit} in {_WORDS[words]}",
            ("L.table.flags.writer-refuses",) if bit in KNOWN else (), staged(_flagged(bit, words)),
            broken=() if bit in KNOWN else ("L.table.flags.writer-refuses",), writer_flags=bit)
        for bit, words in {**KNOWN, **_UNKNOWN}.items()),
    *(act(f"txn/any/{slug}", title, (), staged(build), broken=(clause,),
            allowed=("refused", "conflict")) for slug, title, clause, build in _REFUSED),
)  # fmt: skip

"""Cases of commits of rows: append, overwrite, delete, update, rewrite."""

from __future__ import annotations

import pylanceref
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.constructors import act
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
)  # fmt: skip

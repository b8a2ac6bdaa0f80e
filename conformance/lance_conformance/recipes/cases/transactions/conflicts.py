"""Cases of commits over others: an operation of version 2 after what another has committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.proto.transaction_pb2 import Transaction
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.cases.transactions.commits import ALL, MERGED, OTHER_B, WITHOUT_1
from lance_conformance.recipes.constructors import Clauses, act
from lance_conformance.recipes.edits import THIRD, transaction
from lance_conformance.recipes.model import Recipe, Remove, Scenario
from lance_conformance.recipes.scenario_plans import Commits, plan_of

Stage = Callable[[str], Any]
"""Writes the files of an operation and returns it."""


def _fragments(uri: str) -> commits.Fragments:
    return list(pylanceref.dataset(uri, version=2).get_fragments())


def _delete(number: int, row: int) -> Stage:
    sql = f"a = {row}"
    return lambda uri: Op.Delete([commits.without(_fragments(uri)[number], sql)], [], sql)


def _update(uri: str) -> Any:
    rest, moved = commits.without(_fragments(uri)[0], "a = 2"), commits.new(uri, _UPDATED)
    return Op.Update(updated_fragments=[rest], new_fragments=moved, update_mode="rewrite_rows")


def _rewrite(number: int) -> Stage:
    def stage(uri: str) -> Any:
        old, rows = _fragments(uri)[number].metadata, commits.rows(3 * number, 3 * number + 3)
        return Op.Rewrite([Op.RewriteGroup([old], commits.new(uri, rows))], [])

    return stage


def _replace(number: int, name: str) -> Stage:
    return lambda uri: commits.replacement(uri, number, name, [7, 8, 9], "ab".index(name))


def _index(name: str, field: int, number: int = 1) -> Stage:
    return lambda uri: Op.CreateIndex([commits.index_columns(number, name, field, {0, 1})], [])


def _config(key: str, kind: str = "config") -> Stage:
    updates: dict[str, Any] = {f"{kind}_updates": Op.UpdateMap({key: "1"})}
    return lambda uri: Op.UpdateConfig(**updates)


_SEVEN = commits.rows(0, 7)
_WITHOUT_2 = ALL.take([0, 1, 3, 4, 5])
_UPDATED = pa.table({"a": [2], "b": [99]})
_OVERWRITTEN = commits.rows(7, 8)
_PROJECTED = ALL.select(["a"])
_MOVED = pa.concat_tables([commits.rows(3, 6), commits.rows(0, 3)])

STAGES: Mapping[str, Stage] = {
    "append": lambda uri: Op.Append(commits.new(uri, commits.rows(6, 7))),
    "overwrite": lambda uri: Op.Overwrite(
        _OVERWRITTEN.schema, commits.new(uri, _OVERWRITTEN, "overwrite")),
    "delete 0": _delete(0, 1), "delete 1": _delete(1, 4),
    "delete fragment": lambda uri: Op.Delete([], [0], "a < 3"), "update": _update,
    "update column": lambda uri: commits.changed_columns(_fragments(uri)[0]),
    "merge": lambda uri: commits.merge(_fragments(uri)),
    "project": lambda uri: Op.Project(commits.only(uri, "a", 2)),
    "replace 0a": _replace(0, "a"), "replace 0b": _replace(0, "b"), "replace 1b": _replace(1, "b"),
    "index a": _index("i", 0), "index b": _index("k", 1, 2), "config k": _config("k"),
    "config l": _config("l"), "schema-key": _config("k", "schema_metadata"),
    "restore": lambda uri: Op.Restore(1)}  # fmt: skip
"""What is committed over `commits.base` by name: the campaign of conflicts tries every pair."""

_KINDS: Mapping[str, Stage] = {**STAGES, "delete": STAGES["delete 0"],
    "delete row 2": _delete(0, 2), "index": STAGES["index a"], "index first b": _index("k", 1),
    "index second a": _index("i", 1, 2), "rewrite": _rewrite(0), "rewrite 1": _rewrite(1),
    "config": STAGES["config k"], "table-key": _config("k", "table_metadata"),
    "field-key": lambda uri: Op.UpdateConfig(field_metadata_updates={1: Op.UpdateMap({"k": "1"})}),
    "base": lambda uri: Op.UpdateBases([pylanceref.DatasetBasePath("memory:///one", "one")]),
    "reserve": lambda uri: Op.ReserveFragments(3)}  # fmt: skip
"""The same, what more cases commit, and the one that stands for each kind of operation."""


def _over(facts: Mapping[str, object], theirs: str, ours: str, table: pa.Table) -> Any:
    def build(uri: str) -> Commits:
        commits.base(uri)
        first, second = (_KINDS[name](uri) for name in (theirs, ours))
        pylanceref.LanceDataset.commit(uri, first, read_version=2)
        return Commits(((second, 2),), table, facts)

    return build


def _unknown_arm(message: Transaction) -> None:
    """Make an operation of the future of it: its message under number 150."""
    append = message.append.SerializeToString()
    message.ClearField("append")
    message.MergeFromString(b"\xb2\t" + bytes([len(append)]) + append)


def _after_unknown(read_version: int) -> Callable[[str], Commits]:
    def build(uri: str) -> Commits:
        commits.base(uri)
        ours = Op.Append(commits.new(uri, commits.rows(7, 8)))
        pylanceref.LanceDataset.commit(uri, STAGES["append"](uri), read_version=2)
        num_rows = 8 if read_version == 3 else 7
        changes = (transaction(_unknown_arm, THIRD), Remove("_transactions/2-*.txn"))
        facts = {"version": "4" if read_version == 3 else "3"}
        return Commits(((ours, read_version),), commits.rows(0, num_rows), facts, changes=changes)

    return build


def _and_6(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table, commits.rows(6, 7)])


def _rebased(slug: str, title: str, clauses: Clauses, *made: Any, **facts: Any) -> Scenario:
    """Return the case of an operation that goes over another one, and makes version 4."""
    plan = plan_of(_over({"version": "4", **facts}, *made))
    return act(f"txn/any/over/{slug}", title, clauses, plan, allowed=("rebased",))


def _conflict(slug: str, title: str, clause: str, *made: Any) -> Scenario:
    """Return the case of an operation that conflicts with another one; version 3 stays the last."""
    plan, case = plan_of(_over({"version": "3"}, *made)), f"txn/any/over/{slug}"
    return act(case, title, (), plan, broken=(clause,), allowed=("conflict",))


_NOUNS = {"append": "an Append", "overwrite": "an Overwrite", "restore": "a Restore",
    "merge": "a Merge", "project": "a Project", "delete": "a Delete", "update": "an Update",
    "rewrite": "a Rewrite", "index": "a CreateIndex", "config": "an UpdateConfig",
    "reserve": "a ReserveFragments", "schema-key": "schema metadata"}  # fmt: skip

_LEFT = {"append": _SEVEN, "overwrite": _OVERWRITTEN, "merge": MERGED, "project": _PROJECTED,
    "delete": WITHOUT_1, "rewrite": _MOVED, "append-append": _and_6(_SEVEN),
    "append-delete": _and_6(WITHOUT_1), "delete-project": WITHOUT_1.select(["a"]),
    "update-append": pa.concat_tables([_and_6(_WITHOUT_2), _UPDATED])}  # fmt: skip
"""Rows that an operation, or one over another, leaves where they are not those before."""

_FACTS: Mapping[str, dict[str, Any]] = {"config": {"config": {"k": "1"}},
    "index": {"indices": [{"name": "i"}]}, "reserve": {"max_fragment_id": 4},
    "append-reserve": {"max_fragment_id": 5}, "overwrite-index": {"indices": []},
    "overwrite-append": {"max_fragment_id": 3},
    "config-restore": {"config": {"k": "1", "kept": None}},
    "append-append": {"max_fragment_id": 3,
        "transaction": {"operation": "append", "read_version": "2"}},
    "update-append": {"max_fragment_id": 3,
        "transaction": {"operation": "update", "read_version": "3"}}}  # fmt: skip
"""What an operation leaves in the manifest, whatever passes it but for some pairs."""

_SAME = {"table-key": "one key of the table's metadata", "schema-key": "schema metadata",
    "field-key": "metadata of a field", "base": "one base"}  # fmt: skip
"""What conflicts with itself, in words."""

_STOPPED = {"append": "append/overwrite append/restore append/merge append/project",
    "overwrite": "overwrite/overwrite", "index": "index/rewrite",
    "fragments": "rewrite/delete rewrite/rewrite", "settings": "schema-key/merge",
    "replaced": "delete/overwrite index/overwrite rewrite/restore merge/overwrite merge/restore "
    "project/overwrite project/restore index/restore reserve/overwrite reserve/restore "
    "schema-key/overwrite",
    "schema": "delete/merge merge/delete merge/append update/merge rewrite/merge merge/merge "
    "merge/project project/append project/merge"}  # fmt: skip
"""Pairs of which the first conflicts with the second, by clause."""

_PASSED = {"overwrite": "overwrite/append overwrite/delete overwrite/restore overwrite/merge "
    "overwrite/project overwrite/index overwrite/config", "schema": "delete/project merge/index "
    "merge/config project/index project/config", "index": "index/merge index/config",
    "settings": "config/append config/delete config/index", "replaced": "config/overwrite "
    "config/restore", "fragments": "delete/reserve update/append",
    "append": "append/append append/delete append/index append/config append/reserve"}  # fmt: skip
"""Pairs of which the first goes over the second, which keeps its rows or replaces them."""


def _pairs(by_clause: Mapping[str, str]) -> Iterator[tuple[tuple[str, str, str], str, str]]:
    for clause, pairs in by_clause.items():
        for ours, theirs in (pair.split("/") for pair in pairs.split()):
            named = f"{ours}-{theirs}", f"{_NOUNS[ours]} over {_NOUNS[theirs]}"
            yield (*named, f"L.txn.conflict.{clause}"), ours, theirs


CASES: tuple[Recipe, ...] = (
    *(_conflict(*named, theirs, ours, _LEFT.get(theirs, ALL))
        for named, ours, theirs in _pairs(_STOPPED)),
    *(_rebased(*named, theirs, ours,
            _LEFT.get(named[0], _LEFT.get(ours, _LEFT.get(theirs, ALL))),
            **_FACTS.get(named[0], _FACTS.get(theirs, {}) | _FACTS.get(ours, {})))
        for named, ours, theirs in _pairs(_PASSED)),
    _rebased("delete-append", "a Delete over an Append",
        ("L.txn.conflict.fragments", "L.txn.rebase.read-version"), "append", "delete",
        _and_6(WITHOUT_1), transaction={"operation": "delete", "read_version": "3"}),
    _rebased("delete-delete", "two Deletes in two fragments", "L.txn.conflict.fragments",
        "delete 1", "delete 0", ALL.take([0, 2, 3, 5])),
    _rebased("delete-rewrite", "a Delete over a Rewrite of another fragment",
        "L.txn.conflict.fragments", "rewrite 1", "delete 0", ALL.take([0, 2, 3, 4, 5]),
        fragments=[{"id": "0"}, {"id": "2"}]),
    _rebased("update-delete", "an Update over a Delete in another fragment",
        "L.txn.conflict.fragments", "delete 1", "update",
        pa.concat_tables([ALL.take([0, 1, 3, 5]), _UPDATED])),
    _rebased("replace-replace", "two DataReplacements of two columns", "L.txn.conflict.columns",
        "replace 0b", "replace 0a",
        pa.table({"a": [7, 8, 9, 3, 4, 5], "b": [7, 8, 9, 30, 40, 50]})),
    _rebased("replace-other-fragment", "two DataReplacements in two fragments",
        "L.txn.conflict.columns", "replace 0b", "replace 1b",
        pa.table({"a": range(6), "b": [7, 8, 9, 7, 8, 9]})),
    _rebased("index-index", "a CreateIndex over one of another name", "L.txn.conflict.index",
        "index a", "index b", ALL, indices=[{"name": "i"}, {"name": "k"}]),
    _rebased("index-append", "a CreateIndex over an Append does not cover it",
        ("L.txn.conflict.index", "L.txn.rebase.index"), "append", "index a", _SEVEN,
        indices=[{"fragment_bitmap": "OjAAAAEAAAAAAAEAEAAAAAAAAQA="}]),
    _rebased("index-column", "a CreateIndex over an Update of its column gives the fragment up",
        "L.txn.rebase.index", "update column", "index first b", OTHER_B,
        indices=[{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]),
    _rebased("config-config", "two UpdateConfigs of two keys", "L.txn.conflict.settings",
        "config k", "config l", ALL, config={"k": "1", "l": "1", "kept": "1"}),
    _rebased("reserve-append", "a ReserveFragments over an Append", "L.txn.op.reserve", "append",
        "reserve", _SEVEN, max_fragment_id=5),
    _rebased("restore-append", "a Restore over an Append", "L.txn.op.restore", "append", "restore",
        ALL, max_fragment_id=2),
    _conflict("delete-gone", "a Delete in a fragment that is gone", "L.txn.conflict.fragments",
        "delete fragment", "delete", commits.rows(3, 6)),
    _conflict("delete-same-rewrite", "a Delete in a fragment that was rewritten",
        "L.txn.conflict.fragments", "rewrite", "delete", _MOVED),
    _conflict("update-same-row", "an Update of a row that was deleted", "L.txn.conflict.fragments",
        "delete row 2", "update", _WITHOUT_2),
    _conflict("update-column-delete", "a column Update of a fragment that lost a row",
        "L.txn.conflict.fragments", "delete", "update column", WITHOUT_1),
    _conflict("replace-same-column", "two DataReplacements of one column", "L.txn.conflict.columns",
        "replace 0b", "replace 0b", OTHER_B),
    _conflict("replace-gone", "a DataReplacement in a fragment that is gone",
        "L.txn.conflict.columns", "delete fragment", "replace 0b", commits.rows(3, 6)),
    _conflict("index-replace", "a CreateIndex over a DataReplacement of its column",
        "L.txn.conflict.index", "replace 0b", "index first b", OTHER_B),
    _conflict("index-same-name", "a CreateIndex over one of its name", "L.txn.conflict.index",
        "index", "index second a", ALL),
    _conflict("index-project", "an index of a field that a Project drops", "L.txn.rebase.index",
        "project", "index first b", _PROJECTED),
    _conflict("config-same-key", "two UpdateConfigs of one key", "L.txn.conflict.settings",
        "config", "config", ALL),
    *(_conflict(f"{one}-same", f"two commits of {noun}", "L.txn.conflict.settings", one, one, ALL)
        for one, noun in _SAME.items()),
    act("txn/any/over/delete-same-fragment", "two Deletes of two rows of a fragment",
        ("L.txn.conflict.fragments", "L.txn.rebase.deletions"),
        plan_of(_over({"version": "4"}, "delete row 2", "delete", ALL.take([0, 3, 4, 5]))),
        allowed=("rebased", "conflict")),
    act("txn/any/over/unknown", "an Append over an operation of the future", (),
        plan_of(_after_unknown(2)), broken=("L.txn.conflict.unknown",),
        allowed=("conflict", "refused")),
    act("txn/any/over/unknown-read", "an Append to a version made by an operation of the future",
        "L.txn.conflict.unknown", plan_of(_after_unknown(3))),
)  # fmt: skip

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


def _append(uri: str) -> Any:
    return Op.Append(commits.new(uri, commits.rows(6, 7)))


def _overwrite(uri: str) -> Any:
    return Op.Overwrite(_OVERWRITTEN.schema, commits.new(uri, _OVERWRITTEN, "overwrite"))


Stage = Callable[[str], Any]
"""Writes the files of an operation and returns it."""


def _fragment(uri: str, number: int) -> Any:
    return list(pylanceref.dataset(uri, version=2).get_fragments())[number]


def _delete(number: int, row: int) -> Stage:
    sql = f"a = {row}"
    return lambda uri: Op.Delete([_fragment(uri, number).delete(sql)], [], sql)


def _delete_whole(uri: str) -> Any:
    return Op.Delete([], [0], "a < 3")


def _update(uri: str) -> Any:
    rest, moved = (_fragment(uri, 0).delete("a = 2"), pa.table({"a": [2], "b": [99]}))
    return Op.Update(
        updated_fragments=[rest], new_fragments=commits.new(uri, moved), update_mode="rewrite_rows"
    )


def _update_column(uri: str) -> Any:
    return commits.changed_columns(_fragment(uri, 0))


def _rewrite(number: int) -> Stage:
    def stage(uri: str) -> Any:
        metadata, start = (_fragment(uri, number).metadata, 3 * number)
        return Op.Rewrite(
            [Op.RewriteGroup([metadata], commits.new(uri, commits.rows(start, start + 3)))], []
        )

    return stage


def _merge(uri: str) -> Any:
    merged = [_fragment(uri, number).merge_columns({"c": "a + 1"}) for number in (0, 1)]
    return Op.Merge([fragment for fragment, _ in merged], merged[0][1])


def _project(uri: str) -> Any:
    return Op.Project(commits.only(uri, "a", 2))


def _replace(number: int, name: str) -> Stage:
    return lambda uri: commits.replacement(uri, number, name, [7, 8, 9], "ab".index(name))


def _index(name: str, field: int, number: int = 1) -> Stage:
    return lambda uri: Op.CreateIndex([commits.index_columns(number, name, field, {0, 1})], [])


def _config(key: str) -> Stage:
    return lambda uri: Op.UpdateConfig(config_updates=Op.UpdateMap({key: "1"}))


def _schema_key(uri: str) -> Any:
    return Op.UpdateConfig(schema_metadata_updates=Op.UpdateMap({"k": "1"}))


def _restore(uri: str) -> Any:
    return Op.Restore(1)


STAGES: Mapping[str, Stage] = {"append": _append, "overwrite": _overwrite,
    "delete 0": _delete(0, 1), "delete 1": _delete(1, 4), "delete fragment": _delete_whole,
    "update": _update, "update column": _update_column, "merge": _merge, "project": _project,
    "replace 0a": _replace(0, "a"), "replace 0b": _replace(0, "b"), "replace 1b": _replace(1, "b"),
    "index a": _index("i", 0), "index b": _index("k", 1, 2), "config k": _config("k"),
    "config l": _config("l"), "schema key": _schema_key, "restore": _restore}  # fmt: skip
"""What is committed over `commits.base` by name: the campaign of conflicts tries every pair."""


def _over(facts: Mapping[str, object], theirs: Stage, ours: Stage, table: pa.Table) -> Any:
    def build(uri: str) -> Commits:
        commits.base(uri)
        first, second = (theirs(uri), ours(uri))
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
        pylanceref.LanceDataset.commit(uri, _append(uri), read_version=2)
        num_rows = 8 if read_version == 3 else 7
        changes = (transaction(_unknown_arm, THIRD), Remove("_transactions/2-*.txn"))
        facts = {"version": "4" if read_version == 3 else "3"}
        return Commits(((ours, read_version),), commits.rows(0, num_rows), facts, changes=changes)

    return build


_SEVEN = commits.rows(0, 7)
_WITHOUT_2 = ALL.take([0, 1, 3, 4, 5])
_OVERWRITTEN = commits.rows(7, 8)
_PROJECTED = ALL.select(["a"])
_MOVED = pa.concat_tables([commits.rows(3, 6), commits.rows(0, 3)])


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
    "reserve": "a ReserveFragments"}  # fmt: skip

_KINDS: Mapping[str, Stage] = {**STAGES, "delete": STAGES["delete 0"], "index": STAGES["index a"],
    "rewrite": _rewrite(0), "config": STAGES["config k"],
    "reserve": lambda uri: Op.ReserveFragments(3)}  # fmt: skip

_LEFT = {"append": _SEVEN, "overwrite": _OVERWRITTEN, "merge": MERGED, "project": _PROJECTED,
    "delete": WITHOUT_1, "rewrite": _MOVED}  # fmt: skip
"""Rows that an operation leaves where they are not those before it."""

_FACTS: Mapping[str, dict[str, Any]] = {"config": {"config": {"k": "1"}},
    "index": {"indices": [{"name": "i"}]}, "reserve": {"max_fragment_id": 4},
    "append-reserve": {"max_fragment_id": 5}, "overwrite-index": {"indices": []}}  # fmt: skip
"""What an operation leaves in the manifest, whatever passes it but for some pairs."""

_STOPPED = {"append": "append/overwrite append/restore append/merge append/project",
    "overwrite": "overwrite/overwrite",
    "replaced": "delete/overwrite index/overwrite rewrite/restore merge/overwrite merge/restore "
    "project/overwrite project/restore index/restore reserve/overwrite reserve/restore",
    "schema": "delete/merge merge/delete merge/append update/merge rewrite/merge merge/merge "
    "merge/project project/append project/merge"}  # fmt: skip
"""Pairs of which the first conflicts with the second, by clause."""

_PASSED = {"overwrite": "overwrite/delete overwrite/restore overwrite/merge overwrite/project "
    "overwrite/index overwrite/config", "schema": "merge/config project/index project/config",
    "index": "index/merge index/config", "settings": "config/append config/delete config/index",
    "fragments": "delete/reserve", "append": "append/reserve"}  # fmt: skip
"""Pairs of which the first goes over the second, which keeps its rows or replaces them."""


def _pairs(by_clause: Mapping[str, str]) -> Iterator[tuple[tuple[str, str, str], str, str]]:
    for clause, pairs in by_clause.items():
        for ours, theirs in (pair.split("/") for pair in pairs.split()):
            named = f"{ours}-{theirs}", f"{_NOUNS[ours]} over {_NOUNS[theirs]}"
            yield (*named, f"L.txn.conflict.{clause}"), ours, theirs


CASES: tuple[Recipe, ...] = (
    *(_conflict(*named, _KINDS[theirs], _KINDS[ours], _LEFT.get(theirs, ALL))
        for named, ours, theirs in _pairs(_STOPPED)),
    *(_rebased(*named, _KINDS[theirs], _KINDS[ours], _LEFT.get(ours, _LEFT.get(theirs, ALL)),
            **_FACTS.get(f"{ours}-{theirs}", _FACTS.get(theirs, {}) | _FACTS.get(ours, {})))
        for named, ours, theirs in _pairs(_PASSED)),
    _rebased("append-append", "an Append over an Append", "L.txn.conflict.append", _append, _append,
        _and_6(_SEVEN), max_fragment_id=3,
        transaction={"operation": "append", "read_version": "2"}),
    _rebased("append-delete", "an Append over a Delete", "L.txn.conflict.append", _delete(0, 1),
        _append, _and_6(WITHOUT_1)),
    _rebased("append-index", "an Append over a CreateIndex", "L.txn.conflict.append",
        _index("i", 0), _append, _SEVEN, indices=[{"name": "i"}]),
    _rebased("append-config", "an Append over an UpdateConfig", "L.txn.conflict.append",
        _config("k"), _append, _SEVEN, config={"k": "1"}),
    _rebased("overwrite-append", "an Overwrite over an Append", "L.txn.conflict.overwrite", _append,
        _overwrite, _OVERWRITTEN, max_fragment_id=3),
    _rebased("config-overwrite", "an UpdateConfig over an Overwrite", "L.txn.conflict.replaced",
        _overwrite, _config("k"), _OVERWRITTEN, config={"k": "1"}),
    _rebased("config-restore", "an UpdateConfig over a Restore", "L.txn.conflict.replaced",
        _restore, _config("k"), ALL, config={"k": "1", "kept": None}),
    _rebased("delete-append", "a Delete over an Append",
        ("L.txn.conflict.fragments", "L.txn.rebase.read-version"), _append, _delete(0, 1),
        _and_6(WITHOUT_1), transaction={"operation": "delete", "read_version": "3"}),
    _rebased("delete-delete", "two Deletes in two fragments", "L.txn.conflict.fragments",
        _delete(1, 4), _delete(0, 1), ALL.take([0, 2, 3, 5])),
    _rebased("delete-rewrite", "a Delete over a Rewrite of another fragment",
        "L.txn.conflict.fragments", _rewrite(1), _delete(0, 1), ALL.take([0, 2, 3, 4, 5]),
        fragments=[{"id": "0"}, {"id": "2"}]),
    _rebased("update-append", "an Update over an Append", "L.txn.conflict.fragments", _append,
        _update,
        pa.concat_tables([_WITHOUT_2, commits.rows(6, 7), pa.table({"a": [2], "b": [99]})]),
        max_fragment_id=3, transaction={"operation": "update", "read_version": "3"}),
    _rebased("update-delete", "an Update over a Delete in another fragment",
        "L.txn.conflict.fragments", _delete(1, 4), _update,
        pa.concat_tables([ALL.take([0, 1, 3, 5]), pa.table({"a": [2], "b": [99]})])),
    _rebased("delete-project", "a Delete over a Project", "L.txn.conflict.schema", _project,
        _delete(0, 1), WITHOUT_1.select(["a"])),
    _rebased("merge-index", "a Merge over a CreateIndex", "L.txn.conflict.schema", _index("i", 0),
        _merge, MERGED, indices=[{"name": "i"}]),
    _rebased("replace-replace", "two DataReplacements of two columns", "L.txn.conflict.columns",
        _replace(0, "b"), _replace(0, "a"),
        pa.table({"a": [7, 8, 9, 3, 4, 5], "b": [7, 8, 9, 30, 40, 50]})),
    _rebased("replace-other-fragment", "two DataReplacements in two fragments",
        "L.txn.conflict.columns", _replace(0, "b"), _replace(1, "b"),
        pa.table({"a": range(6), "b": [7, 8, 9, 7, 8, 9]})),
    _rebased("index-index", "a CreateIndex over one of another name", "L.txn.conflict.index",
        _index("i", 0), _index("k", 1, 2), ALL, indices=[{"name": "i"}, {"name": "k"}]),
    _rebased("index-append", "a CreateIndex over an Append does not cover it",
        ("L.txn.conflict.index", "L.txn.rebase.index"), _append, _index("i", 0), _SEVEN,
        indices=[{"fragment_bitmap": "OjAAAAEAAAAAAAEAEAAAAAAAAQA="}]),
    _rebased("index-column", "a CreateIndex over an Update of its column gives the fragment up",
        "L.txn.rebase.index", _update_column, _index("k", 1), OTHER_B,
        indices=[{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]),
    _rebased("config-config", "two UpdateConfigs of two keys", "L.txn.conflict.settings",
        _config("k"), _config("l"), ALL, config={"k": "1", "l": "1", "kept": "1"}),
    _rebased("reserve-append", "a ReserveFragments over an Append", "L.txn.op.reserve", _append,
        lambda uri: Op.ReserveFragments(3), _SEVEN, max_fragment_id=5),
    _rebased("restore-append", "a Restore over an Append", "L.txn.op.restore", _append, _restore,
        ALL, max_fragment_id=2),
    _conflict("schema-key-overwrite", "schema metadata over an Overwrite",
        "L.txn.conflict.replaced", _overwrite, _schema_key, _OVERWRITTEN),
    _conflict("delete-gone", "a Delete in a fragment that is gone", "L.txn.conflict.fragments",
        _delete_whole, _delete(0, 1), commits.rows(3, 6)),
    _conflict("delete-same-rewrite", "a Delete in a fragment that was rewritten",
        "L.txn.conflict.fragments", _rewrite(0), _delete(0, 1), _MOVED),
    _conflict("rewrite-delete", "a Rewrite of a fragment that lost a row",
        "L.txn.conflict.fragments", _delete(0, 1), _rewrite(0), WITHOUT_1),
    _conflict("rewrite-rewrite", "two Rewrites of one fragment", "L.txn.conflict.fragments",
        _rewrite(0), _rewrite(0), _MOVED),
    _conflict("update-same-row", "an Update of a row that was deleted", "L.txn.conflict.fragments",
        _delete(0, 2), _update, _WITHOUT_2),
    _conflict("update-column-delete", "a column Update of a fragment that lost a row",
        "L.txn.conflict.fragments", _delete(0, 1), _update_column, WITHOUT_1),
    _conflict("replace-same-column", "two DataReplacements of one column", "L.txn.conflict.columns",
        _replace(0, "b"), _replace(0, "b"), OTHER_B),
    _conflict("replace-gone", "a DataReplacement in a fragment that is gone",
        "L.txn.conflict.columns", _delete_whole, _replace(0, "b"), commits.rows(3, 6)),
    _conflict("index-rewrite", "a CreateIndex over a Rewrite of what it covers",
        "L.txn.conflict.index", _rewrite(0), _index("i", 0), _MOVED),
    _conflict("index-replace", "a CreateIndex over a DataReplacement of its column",
        "L.txn.conflict.index", _replace(0, "b"), _index("k", 1), OTHER_B),
    _conflict("index-same-name", "a CreateIndex over one of its name", "L.txn.conflict.index",
        _index("i", 0), _index("i", 1, 2), ALL),
    _conflict("index-project", "an index of a field that a Project drops", "L.txn.rebase.index",
        _project, _index("k", 1), _PROJECTED),
    _conflict("config-same-key", "two UpdateConfigs of one key", "L.txn.conflict.settings",
        _config("k"), _config("k"), ALL),
    _conflict("schema-key-merge", "schema metadata over a Merge", "L.txn.conflict.settings", _merge,
        _schema_key, MERGED),
    act("txn/any/over/unknown", "an Append over an operation of the future", (),
        plan_of(_after_unknown(2)), broken=("L.txn.conflict.unknown",),
        allowed=("conflict", "refused")),
    act("txn/any/over/unknown-read", "an Append to a version made by an operation of the future",
        "L.txn.conflict.unknown", plan_of(_after_unknown(3))),
)  # fmt: skip

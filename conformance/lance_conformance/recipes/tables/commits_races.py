"""Commits over others: an operation staged on version 2, and what another writer has committed.

The version of the other lies in the table already; ours is then committed as of version 2. Both
stand, or ours is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.proto.transaction_pb2 import Transaction
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.messages import transaction
from lance_conformance.recipes.model import Acting, Remove
from lance_conformance.recipes.staging import Staged
from lance_conformance.recipes.tables.commits_columns import index, only, replacement
from lance_conformance.recipes.tables.commits_rows import base, case, new, rows

LATEST = "_versions/18446744073709551612.manifest"
"""The manifest of version 3."""

Stage = Callable[[str], Any]
"""Writes the files of an operation and returns it."""


def _fragment(uri: str, number: int) -> Any:
    return list(pylanceref.dataset(uri, version=2).get_fragments())[number]


def _append(uri: str) -> Any:
    return Op.Append(new(uri, rows(6, 7)))


def _overwrite(uri: str) -> Any:
    return Op.Overwrite(rows(0, 0).schema, new(uri, rows(7, 8), "overwrite"))


def _delete(number: int, row: int) -> Stage:
    def stage(uri: str) -> Any:
        left = _fragment(uri, number).delete(f"a = {row}")
        return Op.Delete([left], [], f"a = {row}")

    return stage


def _delete_whole(uri: str) -> Any:
    return Op.Delete([], [0], "a < 3")


def _update(uri: str) -> Any:
    left, moved = _fragment(uri, 0).delete("a = 2"), pa.table({"a": [2], "b": [99]})
    return Op.Update(
        updated_fragments=[left], new_fragments=new(uri, moved), update_mode="rewrite_rows"
    )


def _update_column(uri: str) -> Any:
    columns = pa.table({"a": [0, 1, 2], "b": [7, 8, 9]})
    changed, fields, *_ = _fragment(uri, 0).update_columns(columns, "a")
    return Op.Update(
        updated_fragments=[changed], fields_modified=fields, update_mode="rewrite_columns"
    )


def _rewrite(number: int) -> Stage:
    def stage(uri: str) -> Any:
        held, start = _fragment(uri, number).metadata, 3 * number
        return Op.Rewrite([Op.RewriteGroup([held], new(uri, rows(start, start + 3)))], [])

    return stage


def _merge(uri: str) -> Any:
    merged = [_fragment(uri, number).merge_columns({"c": "a + 1"}) for number in (0, 1)]
    return Op.Merge([fragment for fragment, _ in merged], merged[0][1])


def _project(uri: str) -> Any:
    return Op.Project(only(uri, "a", 2))


def _replace(number: int, name: str) -> Stage:
    def stage(uri: str) -> Any:
        return replacement(uri, number, name, [7, 8, 9], "ab".index(name))

    return stage


def _index(name: str, field: int, number: int = 1) -> Stage:
    return lambda uri: Op.CreateIndex([index(number, name, field, {0, 1})], [])


def _config(key: str) -> Stage:
    return lambda uri: Op.UpdateConfig(config_updates=Op.UpdateMap({key: "1"}))


def _schema_key(uri: str) -> Any:
    return Op.UpdateConfig(schema_metadata_updates=Op.UpdateMap({"k": "1"}))


def _restore(uri: str) -> Any:
    return Op.Restore(1)


def _reserve(uri: str) -> Any:
    return Op.ReserveFragments(3)


def _over(theirs: Stage, ours: Stage, table: pa.Table, facts: Mapping[str, object]) -> Any:
    def build(uri: str) -> Staged:
        base(uri)
        first, second = theirs(uri), ours(uri)
        pylanceref.LanceDataset.commit(uri, first, read_version=2)
        return Staged(((second, 2),), table, facts)

    return build


def _stands(
    slug: str,
    title: str,
    theirs: Stage,
    ours: Stage,
    table: pa.Table,
    clauses: tuple[str, ...],
    **facts: object,
) -> Acting:
    """Return a case of two commits that both stand; `table` is what is left."""
    build = _over(theirs, ours, table, {"version": "4", **facts})
    return case(f"over/{slug}", title, build, clauses, allowed=("rebased",))


def _meets(
    slug: str, title: str, theirs: Stage, ours: Stage, table: pa.Table, *broken: str
) -> Acting:
    """Return a case of a commit that must not follow the other; `table` is what the other left."""
    build = _over(theirs, ours, table, {"version": "3"})
    return case(f"over/{slug}", title, build, broken=broken, allowed=("conflict",))


def _unknown_arm(message: Transaction) -> None:
    """Make an operation of the future of it: its message under number 150."""
    held = message.append.SerializeToString()
    message.ClearField("append")
    message.MergeFromString(b"\xb2\x09" + bytes([len(held)]) + held)


def _after_unknown(read_version: int) -> Callable[[str], Staged]:
    def build(uri: str) -> Staged:
        base(uri)
        ours = Op.Append(new(uri, rows(7, 8)))
        pylanceref.LanceDataset.commit(uri, Op.Append(new(uri, rows(6, 7))), read_version=2)
        held = 8 if read_version == 3 else 7
        changes = (
            transaction(_unknown_arm, LATEST),
            Remove("_transactions/2-*.txn"),
        )
        facts = {"version": "4" if read_version == 3 else "3"}
        return Staged(((ours, read_version),), rows(0, held), facts, changes=changes)

    return build


_ALL, _SEVEN = rows(0, 6), rows(0, 7)
_WITHOUT_1, _WITHOUT_2 = _ALL.take([0, 2, 3, 4, 5]), _ALL.take([0, 1, 3, 4, 5])
_OVERWRITTEN = rows(7, 8)
_PROJECTED = _ALL.select(["a"])
_MERGED = _ALL.append_column("c", pa.array(range(1, 7), pa.int64()))
_UPDATED = pa.concat_tables([_WITHOUT_2, pa.table({"a": [2], "b": [99]})])
_COLUMN = pa.table({"a": range(6), "b": [7, 8, 9, 30, 40, 50]})

APPEND, OVERWRITE, REPLACED = (
    "L.txn.conflict.append",
    "L.txn.conflict.overwrite",
    "L.txn.conflict.replaced",
)
SCHEMA, FRAGMENTS = "L.txn.conflict.schema", "L.txn.conflict.fragments"
COLUMNS, INDEX, SETTINGS = (
    "L.txn.conflict.columns",
    "L.txn.conflict.index",
    "L.txn.conflict.settings",
)

_STAND = (
    _stands("append-append", "an Append over an Append", _append, _append,
            pa.concat_tables([_SEVEN, rows(6, 7)]), (APPEND,), max_fragment_id=3,
            transaction={"operation": "append", "read_version": "2"}),
    _stands("append-delete", "an Append over a Delete", _delete(0, 1), _append,
            pa.concat_tables([_WITHOUT_1, rows(6, 7)]), (APPEND,)),
    _stands("append-index", "an Append over a CreateIndex", _index("i", 0), _append, _SEVEN,
            (APPEND,), indices=[{"name": "i"}]),
    _stands("append-config", "an Append over an UpdateConfig", _config("k"), _append, _SEVEN,
            (APPEND,), config={"k": "1"}),
    _stands("overwrite-append", "an Overwrite over an Append", _append, _overwrite, _OVERWRITTEN,
            (OVERWRITE,), max_fragment_id=3),
    _stands("overwrite-delete", "an Overwrite over a Delete", _delete(0, 1), _overwrite,
            _OVERWRITTEN, (OVERWRITE,)),
    _stands("config-overwrite", "an UpdateConfig over an Overwrite", _overwrite, _config("k"),
            _OVERWRITTEN, (REPLACED,), config={"k": "1"}),
    _stands("config-restore", "an UpdateConfig over a Restore", _restore, _config("k"), _ALL,
            (REPLACED,), config={"k": "1", "kept": None}),
    _stands("delete-append", "a Delete over an Append", _append, _delete(0, 1),
            pa.concat_tables([_WITHOUT_1, rows(6, 7)]), (FRAGMENTS, "L.txn.rebase.read-version"),
            transaction={"operation": "delete", "read_version": "3"}),
    _stands("delete-delete", "two Deletes in two fragments", _delete(1, 4), _delete(0, 1),
            _ALL.take([0, 2, 3, 5]), (FRAGMENTS,)),
    _stands("delete-rewrite", "a Delete over a Rewrite of another fragment", _rewrite(1),
            _delete(0, 1), _ALL.take([0, 2, 3, 4, 5]), (FRAGMENTS,),
            fragments=[{"id": "0"}, {"id": "2"}]),
    _stands("update-append", "an Update over an Append", _append, _update,
            pa.concat_tables([_WITHOUT_2, rows(6, 7), pa.table({"a": [2], "b": [99]})]),
            (FRAGMENTS,), max_fragment_id=3,
            transaction={"operation": "update", "read_version": "3"}),
    _stands("update-delete", "an Update over a Delete in another fragment", _delete(1, 4), _update,
            pa.concat_tables([_ALL.take([0, 1, 3, 5]), pa.table({"a": [2], "b": [99]})]),
            (FRAGMENTS,)),
    _stands("delete-project", "a Delete over a Project", _project, _delete(0, 1),
            _WITHOUT_1.select(["a"]), (SCHEMA,)),
    _stands("merge-index", "a Merge over a CreateIndex", _index("i", 0), _merge, _MERGED,
            (SCHEMA,), indices=[{"name": "i"}]),
    _stands("replace-replace", "two DataReplacements of two columns", _replace(0, "b"),
            _replace(0, "a"), pa.table({"a": [7, 8, 9, 3, 4, 5], "b": [7, 8, 9, 30, 40, 50]}),
            (COLUMNS,)),
    _stands("replace-other-fragment", "two DataReplacements in two fragments", _replace(0, "b"),
            _replace(1, "b"), pa.table({"a": range(6), "b": [7, 8, 9, 7, 8, 9]}), (COLUMNS,)),
    _stands("index-index", "a CreateIndex over one of another name", _index("i", 0),
            _index("k", 1, 2), _ALL, (INDEX,), indices=[{"name": "i"}, {"name": "k"}]),
    _stands("index-append", "a CreateIndex over an Append does not cover it", _append,
            _index("i", 0), _SEVEN, (INDEX, "L.txn.rebase.index"),
            indices=[{"fragment_bitmap": "OjAAAAEAAAAAAAEAEAAAAAAAAQA="}]),
    _stands("index-column", "a CreateIndex over an Update of its column gives the fragment up",
            _update_column, _index("k", 1), _COLUMN, ("L.txn.rebase.index",),
            indices=[{"fragment_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}]),
    _stands("config-config", "two UpdateConfigs of two keys", _config("k"), _config("l"), _ALL,
            (SETTINGS,), config={"k": "1", "l": "1", "kept": "1"}),
    _stands("reserve-append", "a ReserveFragments over an Append", _append, _reserve, _SEVEN,
            ("L.txn.op.reserve",), max_fragment_id=5),
    _stands("restore-append", "a Restore over an Append", _append, _restore, _ALL,
            ("L.txn.op.restore",), max_fragment_id=2),
)  # fmt: skip

_MEET = (
    _meets("append-overwrite", "an Append over an Overwrite", _overwrite, _append, _OVERWRITTEN,
           APPEND),
    _meets("overwrite-overwrite", "an Overwrite over an Overwrite", _overwrite, _overwrite,
           _OVERWRITTEN, OVERWRITE),
    _meets("append-restore", "an Append over a Restore", _restore, _append, _ALL, APPEND),
    _meets("append-merge", "an Append over a Merge", _merge, _append, _MERGED, APPEND),
    _meets("append-project", "an Append over a Project", _project, _append, _PROJECTED, APPEND),
    _meets("delete-overwrite", "a Delete over an Overwrite", _overwrite, _delete(0, 1),
           _OVERWRITTEN, REPLACED),
    _meets("index-overwrite", "a CreateIndex over an Overwrite", _overwrite, _index("i", 0),
           _OVERWRITTEN, REPLACED),
    _meets("rewrite-restore", "a Rewrite over a Restore", _restore, _rewrite(0), _ALL, REPLACED),
    _meets("schema-key-overwrite", "schema metadata over an Overwrite", _overwrite, _schema_key,
           _OVERWRITTEN, REPLACED),
    _meets("delete-merge", "a Delete over a Merge", _merge, _delete(0, 1), _MERGED, SCHEMA),
    _meets("merge-delete", "a Merge over a Delete", _delete(0, 1), _merge, _WITHOUT_1, SCHEMA),
    _meets("merge-append", "a Merge over an Append", _append, _merge, _SEVEN, SCHEMA),
    _meets("update-merge", "an Update over a Merge", _merge, _update, _MERGED, SCHEMA),
    _meets("rewrite-merge", "a Rewrite over a Merge", _merge, _rewrite(0), _MERGED, SCHEMA),
    _meets("delete-gone", "a Delete in a fragment that is gone", _delete_whole, _delete(0, 1),
           rows(3, 6), FRAGMENTS),
    _meets("delete-same-rewrite", "a Delete in a fragment that was rewritten", _rewrite(0),
           _delete(0, 1), pa.concat_tables([rows(3, 6), rows(0, 3)]), FRAGMENTS),
    _meets("rewrite-delete", "a Rewrite of a fragment that lost a row", _delete(0, 1),
           _rewrite(0), _WITHOUT_1, FRAGMENTS),
    _meets("rewrite-rewrite", "two Rewrites of one fragment", _rewrite(0), _rewrite(0),
           pa.concat_tables([rows(3, 6), rows(0, 3)]), FRAGMENTS),
    _meets("update-same-row", "an Update of a row that was deleted", _delete(0, 2), _update,
           _WITHOUT_2, FRAGMENTS),
    _meets("update-column-delete", "a column Update of a fragment that lost a row",
           _delete(0, 1), _update_column, _WITHOUT_1, FRAGMENTS),
    _meets("replace-same-column", "two DataReplacements of one column", _replace(0, "b"),
           _replace(0, "b"), _COLUMN, COLUMNS),
    _meets("replace-gone", "a DataReplacement in a fragment that is gone", _delete_whole,
           _replace(0, "b"), rows(3, 6), COLUMNS),
    _meets("index-rewrite", "a CreateIndex over a Rewrite of what it covers", _rewrite(0),
           _index("i", 0), pa.concat_tables([rows(3, 6), rows(0, 3)]), INDEX),
    _meets("index-replace", "a CreateIndex over a DataReplacement of its column",
           _replace(0, "b"), _index("k", 1), _COLUMN, INDEX),
    _meets("index-same-name", "a CreateIndex over one of its name", _index("i", 0),
           _index("i", 1, 2), _ALL, INDEX),
    _meets("index-project", "an index of a field that a Project drops", _project, _index("k", 1),
           _PROJECTED, "L.txn.rebase.index"),
    _meets("config-same-key", "two UpdateConfigs of one key", _config("k"), _config("k"), _ALL,
           SETTINGS),
    _meets("schema-key-merge", "schema metadata over a Merge", _merge, _schema_key, _MERGED,
           SETTINGS),
)  # fmt: skip

CASES: tuple[Acting, ...] = (
    *_STAND,
    *_MEET,
    case("over/unknown", "an Append over an operation of the future", _after_unknown(2),
         broken=("L.txn.conflict.unknown",), allowed=("conflict", "refused")),
    case("over/unknown-read", "an Append to a version made by an operation of the future",
         _after_unknown(3), ("L.txn.conflict.unknown",)),
)  # fmt: skip
"""Every case of a commit over another one."""

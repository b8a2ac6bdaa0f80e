"""Cases of several versions: by name, by old releases, and what the future adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import pyarrow as pa
import pylanceref
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from lanceref.proto import table_pb2, transaction_pb2
from lanceref.proto.table_pb2 import Manifest
from lanceref.proto.transaction_pb2 import Transaction
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.cases.transactions.commits import rows
from lance_conformance.recipes.constructors import Clauses, act, case
from lance_conformance.recipes.edits import at_path, index, manifest, manifest_of, transaction
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.model import Change, Recipe
from lance_conformance.recipes.oracle_files import Step, by_release, dataset, write
from lance_conformance.recipes.scenario_plans import Commits, plan_of

LAST = -1
_OPERATION = transaction_pb2.Transaction.DESCRIPTOR.oneofs_by_name["operation"]
_ARMS = [(arm.name, LAST) for arm in _OPERATION.fields]
"""Operations, once with the last and where it matters also with the first of several arms."""


def _every_operation(uri: str) -> pa.Table:
    write(rows(0, 2), uri, data_storage_version="2.1")
    for number in range(len(_ARMS) + 2):
        pylanceref.dataset(uri).update_config({"n": str(number)})
    return rows(0, 2)


def _without_files(name: str) -> bool:
    return not name.startswith("_transactions/")


def _three(uri: str) -> None:
    write(rows(0, 2), uri, data_storage_version="2.1")
    made = write(rows(2, 4), uri, mode="append")
    made.tags.create("second", 2)
    write(rows(4, 6), uri, mode="append")


def _held(end: int) -> Callable[[str], pa.Table]:

    def steps(uri: str) -> pa.Table:
        _three(uri)
        return rows(0, end)

    return steps


def _branched(uri: str) -> pa.Table:
    """Leave by a branch after version 2, and write another table there."""
    _three(uri)
    branch = pylanceref.dataset(uri, version=2).create_branch("line", 2)
    write(rows(7, 9), str(Path(uri) / "tree" / "line"), mode="overwrite")
    assert branch.version == 2
    return rows(7, 9)


def _elsewhere(manifest: Manifest) -> None:
    """Put a place that is no folder of a machine in place of the one the branch left."""
    for one in manifest.base_paths:
        one.path = "memory:///left"


def _fill_message(message: Message, field: FieldDescriptor, arm: int, depth: int) -> None:
    assert field.message_type is not None
    if field.message_type.GetOptions().map_entry:
        entry = field.message_type.fields_by_name["value"]
        key = field.message_type.fields_by_name["key"]
        name = "x" if key.cpp_type == FieldDescriptor.CPPTYPE_STRING else 1
        if entry.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            fill(getattr(message, field.name)[name], arm, depth + 1)
        else:
            text = entry.type == FieldDescriptor.TYPE_STRING
            getattr(message, field.name)[name] = "x" if text else b"\x00"
    elif depth < 6:
        value = getattr(message, field.name)
        inner = value.add() if field.is_repeated else value
        inner.SetInParent()
        fill(inner, arm, depth + 1)


def fill(message: Message, arm: int = LAST, depth: int = 0) -> None:
    """Set every field of a message: 1, `x`, one byte; of several arms the first or the last."""
    for field in message.DESCRIPTOR.fields:
        choice = field.containing_oneof
        if choice is not None and choice.fields[arm].name != field.name:
            continue
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_MESSAGE:
            _fill_message(message, cast(FieldDescriptor, field), arm, depth)
            continue
        text = "x" if field.type == FieldDescriptor.TYPE_STRING else b"\x00"
        value = text if kind == FieldDescriptor.CPPTYPE_STRING else 1
        if field.is_repeated:
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)


def _as(arm: str, choice: int) -> Callable[[Message], None]:
    """Make of a transaction one of another operation, with all of its fields."""

    def edit(message: Message) -> None:
        whole = transaction_pb2.Transaction(read_version=1, uuid="x", tag="x")
        whole.transaction_properties["x"] = "x"
        fields = getattr(whole, arm)
        fields.SetInParent()
        fill(fields, choice)
        message.CopyFrom(whole)

    return edit


def _filled(message: Manifest) -> None:
    """Set every field that the manifest leaves out, but those that say what is in the file."""
    whole = table_pb2.Manifest()
    fill(whole)
    built = ("index_section", "transaction_section", "fragments", "fields", "version", "timestamp")
    for name in (*built, "fragment_tree"):
        whole.ClearField(name)
    for field, value in message.ListFields():
        if field.is_repeated and field.message_type is None:
            getattr(whole, field.name)[:] = value
    stored = message.SerializeToString()
    message.MergeFrom(whole)
    message.MergeFromString(stored)
    message.writer_feature_flags |= 16 | 32768
    message.reader_feature_flags = 16


_OPERATIONS: tuple[Change, ...] = (
    *(transaction(_as(*arm), manifest_of(n)) for n, arm in enumerate(_ARMS, 2)),
    manifest(_filled, manifest_of(len(_ARMS) + 2)),
)


def _future(path: str) -> Callable[[Message], None]:
    """Give the message at `path` (names and numbers with dots) a field of the future."""

    def edit(message: Message) -> None:
        at_path(message, path).MergeFromString(b"\xc2\x0c\x01x")

    return edit


def _unknown_arm(transaction: Transaction) -> None:
    transaction.ClearField("overwrite")
    transaction.MergeFromString(b"\xb2\t\x01x")


def _indexed(uri: str) -> pa.Table:
    commits.indexed(commits.index_columns(1, "i", 0, {0, 1}))(uri)
    return rows(0, 6)


def _append_to_indexed(uri: str) -> Commits:
    table = _indexed(uri)
    facts = {"indices": [{"name": "i", "index_details": "/lance.table.FutureIndexDetails"}]}
    operation = Op.Append(commits.new(uri, rows(6, 7)))
    table = pa.concat_tables([table, rows(6, 7)])
    return Commits(((operation, 3),), table, facts, changes=(_FUTURE_INDEX,))


_PLAIN = dataset(_held(6), _without_files)
_LAST = manifest_of(3)
_FUTURE_INDEX = index({"index_version": 99, "index_details.value": b"\x08\x01",
        "index_details.type_url": "/lance.table.FutureIndexDetails"}, _LAST)  # fmt: skip


def _rows(start: int, end: int) -> pa.Table:
    ids = range(start, end)
    threes, texts = pa.array([one * 3 for one in ids], pa.int32()), [f"word {one}" for one in ids]
    return pa.table({"id": pa.array(ids, pa.int64()), "n": threes, "s": texts})


_TABLES = {"first": _rows(0, 8), "second": _rows(8, 12), "changed": _rows(6, 10)}
_CREATE: Step = ("create", "first", 5)
_APPEND: Step = ("append", "second")
_DELETE: Step = ("delete", "id = 2 or id = 9")
_UPDATE: Step = ("update", {"s": "'new'"}, "id = 4")
_UPSERT: Step = ("upsert", "changed")
_COMPACT: Step = ("compact",)
_COLUMNS: tuple[Step, ...] = (("add", {"twice": "id * 2"}), ("rename", "s", "text"),
    ("drop", ["n"]))  # fmt: skip

_BACKWARD: tuple[tuple[str, str, str, Clauses, tuple[Step, ...], Mapping[str, object]], ...] = (
    ("0.4.21", "append", "no counts, no writer, no highest fragment id", ("L.table.fragments.rows",
            "L.table.fragments.max-id-present", "L.table.manifest.footer-version",
            "L.legacy.footer.version-written", "L.legacy.statistics.covered"), (_CREATE, _APPEND),
        {}),
    ("0.5.10", "delete", "deletion files whose rows the manifest does not count",
        ("L.table.fragments.rows", "L.table.deletions.count", "L.table.deletions.applied",
            "L.table.manifest.footer-version"), (_CREATE, _APPEND, _DELETE), {}),
    ("0.10.18", "edits", "a table without a storage format, updated and compacted",
        ("L.table.format.version", "L.table.deletions.applied", "L.table.manifest.footer-version",
            "L.legacy.manifest.content"),
        (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT, ("delete", "id = 1")), {}),
    ("0.10.18", "columns", "columns added, renamed and dropped in files of 0.1",
        ("L.table.format.version", "L.table.datafile.missing-field",
            "L.table.manifest.footer-version"), (_CREATE, *_COLUMNS), {}),
    ("0.20.0", "edits", "updated, merged and compacted, no file sizes",
        ("L.table.deletions.applied", "L.table.manifest.footer-version", "L.table.datafile.size"),
        (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT, ("delete", "id = 1")),
        {"format": "2.0"}),
    ("0.20.0", "columns", "columns added, renamed and dropped beside files of 2.0",
        ("L.table.datafile.missing-field", "L.table.manifest.footer-version"), (_CREATE, *_COLUMNS),
        {"format": "2.0"}),
    ("0.20.0", "indexed", "an index without details and a tag",
        ("L.table.manifest.footer-version", "L.table.deletions.applied"),
        (_CREATE, ("scalar", "id", "BTREE"), ("tag", "first", 1), _APPEND, _DELETE),
        {"format": "2.0"}),
    ("0.33.0", "stable", "stable row ids under their first name, without row versions",
        ("L.table.row-ids.length", "L.table.manifest.footer-version", "L.table.row-versions.moved"),
        (_CREATE, _APPEND, _DELETE, _UPDATE, _COMPACT),
        {"format": "2.0", "enable_stable_row_ids": True}),
    ("0.33.0", "unfinished-2-1", "files of 2.1 from before it was finished",
        ("L.table.deletions.applied", "L.table.manifest.footer-version"),
        (_CREATE, _APPEND, _DELETE, _COMPACT), {"format": "2.1"}),
    ("0.39.0", "edits", "the last release whose footers say 0, 1",
        ("L.table.deletions.applied", "L.table.manifest.footer-version"),
        (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT), {"format": "2.1"}),
    ("0.39.0", "moved-names", "manifests renamed from V1 to V2",
        ("L.table.naming.one-scheme", "L.table.manifest.footer-version"),
        (_CREATE, _APPEND, ("move",), _DELETE), {"format": "2.0"}),
    ("1.0.4", "stable", "stable row ids with row versions, updated and compacted",
        ("L.table.row-ids.length", "L.table.row-versions.moved", "L.table.deletions.applied"),
        (_CREATE, _APPEND, _DELETE, _UPDATE, _COMPACT),
        {"format": "2.1", "enable_stable_row_ids": True}),
    ("1.0.4", "columns", "columns added, renamed and dropped beside files of 2.1",
        ("L.table.datafile.missing-field", "L.table.format.version"), (_CREATE, *_COLUMNS),
        {"format": "2.1"}),
    ("4.0.1", "edits", "files of 2.2 while it was new",
        ("L.table.deletions.applied", "L.table.format.version"),
        (_CREATE, _APPEND, _DELETE, _UPDATE, _UPSERT, _COMPACT), {"format": "2.2"}),
    ("9.0.1", "legacy", "files of 0.1 by a late release",
        ("L.table.deletions.applied", "L.table.format.version"),
        (_CREATE, _APPEND, _DELETE, _UPDATE), {"format": "legacy"}),
    ("9.0.1", "indexed", "an index with details, brought up to date", "L.table.deletions.applied",
        (_CREATE, ("scalar", "id", "BTREE"), _APPEND, ("reindex",), _DELETE), {"format": "2.2"}),
)  # fmt: skip
"""Release, slug, title, clauses, what the release does, and with which options."""

CASES: tuple[Recipe, ...] = (
    case("table/any/versions/number", "an older version by its number", "L.table.naming.v2",
        dataset(_held(2)), args={"version": "1"}),
    case("table/any/versions/tag", "a version by its tag", "L.table.refs.tag", dataset(_held(4)),
        args={"tag": "second"}),
    case("table/any/versions/branch", "the latest version of a branch", "L.table.refs.branch",
        edited(dataset(_branched, lambda name: "/_transactions/" not in name),
            transaction({"clone.ref_path": "memory:///left"}, f"tree/line/{manifest_of(2)}"),
            *(manifest(_elsewhere, f"tree/line/{manifest_of(n)}") for n in (2, 3))),
        args={"branch": "line"}, reachable=True),
    case("table/any/versions/list", "three versions, the second with a tag",
        "L.table.naming.latest", lambda: replace(dataset(_held(6))(), table=None), kind="metadata",
        facts={"latest": "3", "versions": [{"version": "1"}, {"version": "2", "tags": ["second"]},
                {"version": "3"}]}),
    case("table/any/versions/every-operation", "old versions by operations of every kind and field",
        "L.txn.inline.message", edited(dataset(_every_operation, _without_files), *_OPERATIONS),
        reachable=True),
    case("table/any/forward/operation", "the latest version is by an operation of the future",
        "L.txn.inline.message", edited(_PLAIN, transaction(_unknown_arm, _LAST)), kind="forward",
        reachable=True),
    *(case(f"table/any/forward/field-{name}", f"a field of the future in {name}",
            "L.table.manifest.unknown-field", edited(_PLAIN, manifest(_future(path), _LAST)),
            kind="forward", reachable=True) for name,
        path in {"manifest": "", "fragment": "fragments.0", "schema": "fields.0",
            "data-file": "fragments.0.files.0"}.items()),
    case("table/any/forward/index", "an index of a type and version of the future",
        "L.table.index.unknown", edited(dataset(_indexed), _FUTURE_INDEX), kind="forward",
        reachable=True),
    act("txn/any/forward/append-index", "an Append leaves an index of the future as it is",
        "L.table.index.unknown", plan_of(_append_to_indexed)),
    *(case(f"table/any/backward/{release.replace('.', '-')}-{slug}", title, clauses,
            by_release(release, _TABLES, steps, options), kind="backward") for release, slug, title,
        clauses, steps, options in _BACKWARD),
)  # fmt: skip

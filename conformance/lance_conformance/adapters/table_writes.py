"""Writing operations of implementations with pylance's API.

Both adapters run this code over their own module. A transaction is given as the JSON form of its
protobuf arm (field names kept, bytes in base64, 64-bit integers as text).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pyarrow as pa
from google.protobuf import json_format
from lanceref.proto import transaction_pb2
from pylanceref.operation import LanceOperation
from pylanceref.transactions import from_message

from lance_conformance.adapters.server import Message, Operation, Unsupported

WRITE_OPERATIONS = ("write.dataset", "commit.apply", "mutate")
"""Operations that change a table."""

_ARMS = {
    arm.message_type.name: arm.name
    for arm in transaction_pb2.Transaction.DESCRIPTOR.oneofs_by_name["operation"].fields
    if arm.message_type is not None and hasattr(LanceOperation, arm.message_type.name)
}
"""Operations with a class in the reference: name of the message, name of the arm."""

_OLD_OPTION_NAMES = {"enable_stable_row_ids": "enable_move_stable_row_ids"}
"""Old names of options in early releases."""

Translate = Callable[[object], Any]
"""Translates an operation of the reference to one of the implementation."""


def operations(module: Any, translate: Translate) -> dict[str, Operation]:
    """Return the writing operations over a module with pylance's API."""

    def write_dataset(request: Message) -> Message:
        options = _rename_options(module.write_dataset, request.get("options", {}))
        if "version" in request:
            options["data_storage_version"] = request["version"]
        written = module.write_dataset(
            read_table(request["input"]), request["uri"], mode=request["mode"], **options
        )
        return {"version": str(written.version)}

    def commit_apply(request: Message) -> Message:
        written = module.LanceDataset.commit(
            request["uri"],
            translate(parse_operation(request["operation"])),
            read_version=int(request["read_version"]),
            max_retries=request.get("retries", 20),
        )
        return {"version": str(written.version)}

    def mutate(request: Message) -> Message:
        opened = module.dataset(request["uri"])
        changed = _VERBS[request["verb"]](opened, request.get("args", {}))
        return {"version": str((opened if changed is None else changed).version)}

    return {"write.dataset": write_dataset, "commit.apply": commit_apply, "mutate": mutate}


def _rename_options(function: Callable[..., Any], options: Mapping[str, Any]) -> Message:
    """Return options under the names that a function has for them."""
    old = inspect.signature(function).parameters.keys() & _OLD_OPTION_NAMES.values()
    return {
        _OLD_OPTION_NAMES[key] if _OLD_OPTION_NAMES.get(key) in old else key: options[key]
        for key in options
    }


def capabilities(module: Any, versions: list[str], verbs: list[str]) -> Message:
    """Return the claims for `operations`: every operation that has a class."""
    return {
        "write.dataset": {"versions": versions, "modes": ["create", "append", "overwrite"]},
        "commit.apply": {
            "operations": [name for name in _ARMS if hasattr(module.LanceOperation, name)]
        },
        "mutate": {"verbs": verbs},
    }


def parse_operation(document: Message) -> object:
    """Return the operation of `{"Append": {...}}`. Raises Unsupported for unknown ones."""
    ((name, fields),) = document.items()
    if name not in _ARMS:
        raise Unsupported(f"operation {name}")
    message = transaction_pb2.Transaction()
    json_format.ParseDict({_ARMS[name]: fields}, message)
    return from_message(message).operation


def read_table(path: str) -> pa.Table:
    """Read an Arrow IPC file."""
    with pa.OSFile(path) as source:
        return pa.ipc.open_file(source).read_all()


def _merge_insert(opened: Any, args: Message) -> None:
    builder = opened.merge_insert(args["on"])
    if args.get("when_matched") == "update_all":
        builder = builder.when_matched_update_all()
    if args.get("when_not_matched") == "insert_all":
        builder = builder.when_not_matched_insert_all()
    if args.get("when_not_matched_by_source") == "delete":
        builder = builder.when_not_matched_by_source_delete()
    builder.execute(read_table(args["input"]))


def _compact(opened: Any, args: Message) -> Any:
    opened.optimize.compact_files(**args)
    opened.checkout_latest()


def _cleanup(opened: Any, args: Message) -> None:
    opened.cleanup_old_versions(timedelta(0), **args)


def _create_index(opened: Any, args: Message) -> None:
    opened.create_scalar_index(args["column"], args["type"], name=args.get("name"))
    opened.checkout_latest()


_VERBS: dict[str, Callable[[Any, Message], Any]] = {
    "delete": lambda opened, args: opened.delete(args["predicate"]) and None,
    "update": lambda opened, args: opened.update(args["updates"], args.get("where")) and None,
    "merge_insert": _merge_insert,
    "compact": _compact,
    "add_columns": lambda opened, args: opened.add_columns(args["expressions"]),
    "drop_columns": lambda opened, args: opened.drop_columns(args["columns"]),
    "create_index": _create_index,
    "cleanup": _cleanup,
}

VERBS = list(_VERBS)
"""Every verb of `mutate`."""

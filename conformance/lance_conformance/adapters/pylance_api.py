"""Reading operations of implementations with pylance's API: the reference and the oracle.

Both adapters run the same code over their own modules, so that a difference between them is a
difference between the implementations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.server import Message, Operation, write_table

_STORED_VERSIONS = {"0.3": "2.0"}
"""Version 2.0 is stored as 0.3, and some readers return the stored version."""

_SYSTEM_COLUMN_OPTIONS = {"_rowid": "with_row_id", "_rowaddr": "with_row_address"}


def operations(open_file: Callable[..., Any], dataset: Callable[..., Any]) -> dict[str, Operation]:
    """Return the reading operations over a file reader class and a `dataset` function."""
    return {**_file_operations(open_file), **_dataset_operations(dataset)}


def _file_operations(open_file: Callable[..., Any]) -> dict[str, Operation]:
    def file_read(request: Message) -> Message:
        reader = open_file(request["path"], columns=request.get("columns"))
        if "ranges" in request:
            ((start, end),) = request["ranges"]
            results = reader.read_range(int(start), int(end) - int(start))
        elif "rows" in request:
            return write_table(request["out"], _take(reader, [*map(int, request["rows"])]))
        else:
            results = reader.read_all()
        return write_table(request["out"], results.to_table())

    def file_inspect(request: Message) -> Message:
        metadata = open_file(request["path"]).metadata()
        version = f"{metadata.major_version}.{metadata.minor_version}"
        return {
            "version": _STORED_VERSIONS.get(version, version),
            "num_rows": str(metadata.num_rows),
            "global_buffers": len(metadata.global_buffers),
        }

    return {"file.read": file_read, "file.inspect": file_inspect}


def _take(reader: Any, rows: list[int]) -> pa.Table:
    """Take rows in any order, also repeated, from a reader that requires ascending rows."""
    distinct = sorted({*rows})
    table = reader.take_rows(distinct).to_table()
    return table if rows == distinct else table.take([distinct.index(row) for row in rows])


def _dataset_operations(dataset: Callable[..., Any]) -> dict[str, Operation]:
    def opened_for(request: Message) -> Any:
        """Open the version, tag or branch of a request, by default the latest version."""
        version = int(request["version"]) if "version" in request else None
        if "branch" in request:
            return dataset(request["uri"]).checkout_version((request["branch"], version))
        return dataset(request["uri"], version=request.get("tag", version))

    def dataset_read(request: Message) -> Message:
        opened = opened_for(request)
        table = opened.to_table(**_scan_arguments(request, opened))
        return {**write_table(request["out"], table), "version": str(opened.version)}

    def dataset_take(request: Message) -> Message:
        opened, columns = opened_for(request), request.get("columns")
        if "offsets" in request:
            offsets = [int(row) for row in request["offsets"]]
            table = _with_blobs(opened, opened.take(offsets, columns=columns), offsets)
        else:
            named = request.get("rowids") or request["rowaddrs"]
            table = opened._take_rows([int(row) for row in named], columns=columns)
        return {**write_table(request["out"], table), "version": str(opened.version)}

    def dataset_versions(request: Message) -> Message:
        opened = dataset(request["uri"])
        tags: Mapping[str, Any] = opened.tags.list()
        return {
            "versions": [_version_body(entry, tags) for entry in opened.versions()],
            "latest": str(opened.version),
        }

    def dataset_describe(request: Message) -> Message:
        opened = opened_for(request)
        return {
            "config": dict(opened.config()),
            "fragments": [_fragment_body(one.metadata) for one in opened.get_fragments()],
        }

    return {
        "dataset.read": dataset_read,
        "dataset.take": dataset_take,
        "dataset.versions": dataset_versions,
        "dataset.describe": dataset_describe,
    }


def capabilities(file_versions: list[str], table_versions: list[str], *, filters: bool) -> Message:
    """Return the claims for `operations`."""
    projection = ["top", "nested"]
    return {
        "file.read": {
            "versions": file_versions,
            "projection": projection,
            "ranges": True,
            "rows": True,
        },
        "file.inspect": {"versions": file_versions},
        "dataset.read": {
            "versions": table_versions,
            "projection": projection,
            "filter": filters,
            "limit": True,
        },
        "dataset.take": {"versions": table_versions},
        "dataset.versions": {},
        "dataset.describe": {},
    }


def _fragment_body(fragment: Any) -> Message:
    files = [
        {"path": f.path, "fields": f.fields, "columns": f.column_indices} for f in fragment.files
    ]
    return {
        "id": fragment.id,
        "physical_rows": str(fragment.physical_rows),
        "deleted": str(fragment.num_deletions),
        "files": files,
    }


def _version_body(entry: Mapping[str, Any], tags: Mapping[str, Any]) -> Message:
    version = entry["version"]
    names = sorted(name for name, tag in tags.items() if tag["version"] == version)
    return {"version": str(version), **({"tags": names} if names else {})}


def _with_blobs(opened: Any, table: pa.Table, rows: list[int]) -> pa.Table:
    """Replace the descriptors of blobs, which a take returns, by their bytes."""
    for number, field in enumerate(table.schema):
        if (field.metadata or {}).get(b"lance-encoding:blob") == b"true":
            blobs = opened.take_blobs(field.name, indices=rows)
            values = [None if blob is None else blob.read() for blob in blobs]
            array = pa.array(values, pa.large_binary())
            table = table.set_column(number, pa.field(field.name, array.type), array)
    return table


def _scan_arguments(request: Message, opened: Any) -> Message:
    arguments: Message = {_SYSTEM_COLUMN_OPTIONS[name]: True for name in request.get("with", ())}
    if _accepts(opened.scanner, "blob_handling"):
        arguments["blob_handling"] = "all_binary"
    if "columns" in request:
        arguments["columns"] = request["columns"]
    if "filter" in request:
        arguments["filter"] = request["filter"]["sql"]
    for name in ("limit", "offset"):
        if name in request:
            arguments[name] = int(request[name])
    return arguments


def _accepts(function: Callable[..., object], name: str) -> bool:
    """Whether a function accepts a keyword argument of that name."""
    parameters = inspect.signature(function).parameters
    every = any(one.kind == inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    return every or name in parameters

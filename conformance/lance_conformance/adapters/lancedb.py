"""Adapter of LanceDB for Python: `python -m lance_conformance.adapters.lancedb`.

A table is opened by its name in its parent folder. Data files cannot be read. The library decides
whether a scalar index is used, which the plan of the query shows; a vector index can be bypassed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lance_conformance.adapters.index_search import INDEX_PLAN_STEPS, VECTOR_TYPES, text_query
from lance_conformance.adapters.refusals import refusal_response, refusal_types
from lance_conformance.adapters.releases import unsupported_if_missing
from lance_conformance.adapters.server import Adapter, Message, Unsupported, serve, write_table
from lance_conformance.adapters.table_writes import read_table

VERSIONS = ["2.0", "2.1", "2.2"]

_SCALAR_TYPES = ("BTREE", "BITMAP", "LABEL_LIST")
"""Types of indices that `create_scalar_index` creates."""

_SYSTEM_COLUMN_OPTIONS = {"_rowid": "with_row_id", "_rowaddr": "with_row_address"}
_LANCEDB: Any = import_module("lancedb")
_QUERIES: Any = import_module("lancedb.query")


def hello() -> Message:
    """Return the claims of LanceDB."""
    versions = ["0.1", *VERSIONS, "2.3"]
    types = ["BTREE", "BITMAP", "LABEL_LIST", "INVERTED", "NGRAM", "ZONEMAP", "BLOOMFILTER", "FM"]
    verbs = ["delete", "update", "merge_insert", "add_columns", "drop_columns", "compact"]
    return {
        "protocol": 1,
        "implementation": {
            "name": "lancedb",
            "version": version("lancedb"),
            "language": "python, rust",
            "homepage": "https://lancedb.com",
            "issues": "https://github.com/lancedb/lancedb/issues",
        },
        "capabilities": {
            "dataset.read": {
                "versions": versions,
                "projection": ["top"],
                "filter": True,
                "limit": True,
            },
            "dataset.take": {"versions": versions},
            "dataset.versions": {},
            "index.search": {
                "types": [*types, *VECTOR_TYPES],
                "filter": True,
                "text": True,
                "nearest": True,
                "scan": False,
            },
            "write.dataset": {"versions": VERSIONS, "modes": ["create", "append", "overwrite"]},
            "mutate": {"verbs": [*verbs, "create_index"]},
        },
        "features": {"exclude": ["blob"]},
        "profiles": ["format", "unstable"],
    }


def _open_table(request: Message) -> Any:
    uri = Path(request["uri"])
    database = _LANCEDB.connect(uri.parent)
    table = database.open_table(uri.stem, branch=request.get("branch"))
    at = int(request["version"]) if "version" in request else request.get("tag")
    if at is not None:
        table.checkout(at)
    return table


def _scan(builder: Any, request: Message) -> Message:
    """Run a query with the filter, limit and columns of a request."""
    if "filter" in request:
        builder = builder.where(request["filter"]["sql"])
    if "limit" in request:
        builder = builder.limit(int(request["limit"]))
    if "offset" in request:
        builder = builder.offset(int(request["offset"]))
    return write_table(request["out"], _with_columns(builder, request).to_arrow())


def _with_columns(builder: Any, request: Message) -> Any:
    """Return a query for the requested columns."""
    if "columns" in request:
        builder = builder.select(request["columns"])
    for name in request.get("with", ()):
        builder = getattr(builder, _SYSTEM_COLUMN_OPTIONS[name])(True)
    return builder


def _read(request: Message) -> Message:
    table = _open_table(request)
    return {**_scan(table.search(), request), "version": str(table.version)}


def _take(request: Message) -> Message:
    table = _open_table(request)
    if "rowaddrs" in request:
        raise Unsupported("rows by address")
    if "offsets" in request:
        builder = table.take_offsets([int(row) for row in request["offsets"]])
    else:
        builder = table.take_row_ids([int(row) for row in request["rowids"]])
    body = write_table(request["out"], _with_columns(builder, request).to_arrow())
    return {**body, "version": str(table.version)}


def _versions(request: Message) -> Message:
    table = _open_table(request)
    versions = [{"version": str(one["version"])} for one in table.list_versions()]
    return {"versions": versions, "latest": str(table.version)}


def _search(request: Message) -> Message:
    use_index = request.get("use_index", True)
    if not use_index and "nearest" not in request:
        raise Unsupported("a scan past the index")
    table = _open_table(request)
    if "text" in request:
        query = table.search(text_query(request["text"], _QUERIES), query_type="fts")
        return _scan(query.limit(max(1, table.count_rows())), request)
    builder = table.search()
    if "nearest" in request:
        builder = _nearest(table, request["nearest"])
        builder = builder if use_index else builder.bypass_vector_index()
    body = _scan(builder, request)
    plan = builder.explain_plan()
    return {**body, "used": any(step in plan for step in INDEX_PLAN_STEPS)}


def _nearest(table: Any, nearest: Message) -> Any:
    """Return a vector search.

    Without a number of partitions it uses as few as have k rows, which is not the default.
    """
    query = np.array(nearest["q"], np.float64)
    builder = table.search(query, vector_column_name=nearest["column"], query_type="vector")
    builder = builder.limit(nearest["k"])
    if "nprobes" in nearest:
        builder = builder.nprobes(nearest["nprobes"])
    else:
        builder = builder.minimum_nprobes(1).maximum_nprobes(0)
    if "metric" in nearest:
        builder = builder.distance_type(nearest["metric"])
    if "refine" in nearest:
        builder = builder.refine_factor(nearest["refine"])
    if "ef" in nearest:
        builder = builder.ef(nearest["ef"])
    if "range" in nearest:
        builder = builder.distance_range(*(float(end) for end in nearest["range"]))
    return builder


def _write(request: Message) -> Message:
    uri, rows = Path(request["uri"]), read_table(request["input"])
    database, options = _LANCEDB.connect(uri.parent), dict(request.get("options", {}))
    if request["mode"] == "append":
        if "version" in request:
            raise Unsupported("a file version of rows that are appended")
        table = database.open_table(uri.stem)
        table.add(rows)
        return {"version": str(table.version)}
    stable = options.pop("enable_stable_row_ids", False)
    if options:
        raise Unsupported(f"options {', '.join(sorted(options))}")
    table = database.create_table(
        uri.stem,
        rows,
        mode=request["mode"],
        data_storage_version=request.get("version"),
        storage_options={"new_table_enable_stable_row_ids": str(stable).lower()},
    )
    return {"version": str(table.version)}


def _mutate(request: Message) -> Message:
    table, args = _open_table(request), request.get("args", {})
    match request["verb"]:
        case "delete":
            table.delete(args["predicate"])
        case "update":
            table.update(args.get("where"), values_sql=args["updates"])
        case "add_columns":
            table.add_columns(args["expressions"])
        case "drop_columns":
            table.drop_columns(args["columns"])
        case "merge_insert":
            _merge_insert(table, args)
        case "compact":
            if args:
                raise Unsupported("options of compaction")
            table.optimize()
        case "create_index":
            _create_index(table, args)
        case verb:
            raise Unsupported(verb)
    return {"version": str(table.version)}


def _merge_insert(table: Any, args: Message) -> None:
    builder = table.merge_insert(args["on"])
    if args.get("when_matched") == "update_all":
        builder = builder.when_matched_update_all()
    if args.get("when_not_matched") == "insert_all":
        builder = builder.when_not_matched_insert_all()
    if args.get("when_not_matched_by_source") == "delete":
        builder = builder.when_not_matched_by_source_delete()
    builder.execute(read_table(args["input"]))


def _create_index(table: Any, args: Message) -> None:
    column, kind, name = args["column"], args["type"], args.get("name")
    if kind == "INVERTED":
        table.create_fts_index(column, name=name)
    elif kind in _SCALAR_TYPES:
        table.create_scalar_index(column, index_type=kind, name=name)
    else:
        raise Unsupported(f"making {kind}")


OPERATIONS = {
    "dataset.read": _read,
    "dataset.take": _take,
    "dataset.versions": _versions,
    "index.search": unsupported_if_missing(_search),
    "write.dataset": _write,
    "mutate": _mutate,
}
"""The supported operations by name."""


if __name__ == "__main__":
    serve(Adapter(hello(), OPERATIONS, refusal_types, refusal_response))

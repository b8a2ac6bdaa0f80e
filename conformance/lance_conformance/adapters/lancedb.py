"""Adapter of LanceDB for Python: `python -m lance_conformance.adapters.lancedb`.

A table is opened by its name in the folder that holds it. Data files cannot be asked for, and an
index is used or not as the library sees fit.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lance_conformance.adapters.refusing import refusals, refuse
from lance_conformance.adapters.searching import text_query
from lance_conformance.adapters.skeleton import Adapter, Message, NotClaimed, serve, write_table
from lance_conformance.adapters.writing import read_table

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]

_WITH = {"_rowid": "with_row_id", "_rowaddr": "with_row_address"}
_LANCEDB: Any = import_module("lancedb")
_QUERIES: Any = import_module("lancedb.query")


def hello() -> Message:
    """Return what LanceDB claims."""
    versions = ["0.1", *VERSIONS]
    types = ["BTREE", "BITMAP", "LABEL_LIST", "INVERTED", "NGRAM", "ZONEMAP", "BLOOMFILTER", "FM"]
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
            "index.search": {"types": types, "filter": True, "text": True, "scan": False},
            "write.dataset": {"versions": VERSIONS, "modes": ["create", "append", "overwrite"]},
            "mutate": {"verbs": ["delete", "update", "add_columns", "drop_columns"]},
        },
        "features": {"exclude": ["blob"]},
        "profiles": ["format", "unstable"],
    }


def _opened(request: Message) -> Any:
    uri = Path(request["uri"])
    database = _LANCEDB.connect(uri.parent)
    table = database.open_table(uri.stem, branch=request.get("branch"))
    at = int(request["version"]) if "version" in request else request.get("tag")
    if at is not None:
        table.checkout(at)
    return table


def _scan(table: Any, builder: Any, request: Message) -> Message:
    """Collect a query, narrowed as the request asks."""
    if "columns" in request:
        builder = builder.select(request["columns"])
    if "filter" in request:
        builder = builder.where(request["filter"]["sql"])
    for name in request.get("with", ()):
        builder = getattr(builder, _WITH[name])(True)
    builder = builder.limit(int(request.get("limit", max(1, table.count_rows()))))
    if "offset" in request:
        builder = builder.offset(int(request["offset"]))
    return write_table(request["out"], builder.to_arrow())


def _read(request: Message) -> Message:
    table = _opened(request)
    return {**_scan(table, table.search(), request), "version": str(table.version)}


def _take(request: Message) -> Message:
    table = _opened(request)
    if "rowaddrs" in request:
        raise NotClaimed("rows by address")
    if "offsets" in request:
        builder = table.take_offsets([int(row) for row in request["offsets"]])
    else:
        builder = table.take_row_ids([int(row) for row in request["rowids"]])
    if "columns" in request:
        builder = builder.select(request["columns"])
    body = write_table(request["out"], builder.to_arrow())
    return {**body, "version": str(table.version)}


def _versions(request: Message) -> Message:
    table = _opened(request)
    told = [{"version": str(one["version"])} for one in table.list_versions()]
    return {"versions": told, "latest": str(table.version)}


def _search(request: Message) -> Message:
    if not request.get("use_index", True):
        raise NotClaimed("a scan past the index")
    table = _opened(request)
    if "text" not in request:
        return _scan(table, table.search(), request)
    query = text_query(request["text"], _QUERIES)
    return _scan(table, table.search(query, query_type="fts"), request)


def _write(request: Message) -> Message:
    uri, rows = Path(request["uri"]), read_table(request["input"])
    database, options = _LANCEDB.connect(uri.parent), dict(request.get("options", {}))
    if request["mode"] == "append":
        table = database.open_table(uri.stem)
        table.add(rows)
        return {"version": str(table.version)}
    if options:
        raise NotClaimed(f"options {', '.join(sorted(options))}")
    mode = request["mode"]
    stored = request.get("version")
    table = database.create_table(uri.stem, rows, mode=mode, data_storage_version=stored)
    return {"version": str(table.version)}


def _mutate(request: Message) -> Message:
    table, args = _opened(request), request.get("args", {})
    match request["verb"]:
        case "delete":
            table.delete(args["predicate"])
        case "update":
            table.update(args.get("where"), values_sql=args["updates"])
        case "add_columns":
            table.add_columns(args["expressions"])
        case "drop_columns":
            table.drop_columns(args["columns"])
        case verb:
            raise NotClaimed(verb)
    return {"version": str(table.version)}


OPERATIONS = {
    "dataset.read": _read,
    "dataset.take": _take,
    "dataset.versions": _versions,
    "index.search": _search,
    "write.dataset": _write,
    "mutate": _mutate,
}
"""What is answered, by its name."""


if __name__ == "__main__":
    serve(Adapter(hello(), OPERATIONS, refusals, refuse))

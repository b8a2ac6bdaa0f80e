"""Adapter of DuckDB's Lance extension: `python -m lance_conformance.adapters.duckdb`.

The extension is a file of the package `duckdb-extension-lance`. A filter reaches Lance with casts
of its columns, which bypasses most scalar indices: none of those is claimed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusals import ORDINARY_ERRORS, refusal_response, refusal_types
from lance_conformance.adapters.server import Adapter, Message, Unsupported, serve, write_table
from lance_conformance.adapters.table_scan import Scan, hello_message, operations
from lance_conformance.adapters.table_writes import read_table

INDICES = ["INVERTED", "IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"]
"""Types of indices that its table functions use; they have no option `ef` for graphs."""

UNSUPPORTED_TYPES = [
    "decimal256", "float16", "date64", "fixed_size_binary", "time32:s", "time32:ms", "duration:ms",
    "duration:s", "timestamp:ns", "null", "json",
]  # fmt: skip
"""Arrow types that DuckDB converts to others or does not support."""

VERBS = ["delete", "update", "merge_insert", "drop_columns", "compact", "create_index"]
"""Changes that its SQL statements support."""

_DUCKDB: Any = import_module("duckdb")
_PACKAGE = "duckdb-extension-lance"


def connection() -> Any:
    """Return a connection with the extension loaded."""
    files = distribution(_PACKAGE).files or []
    extension = next(file for file in files if file.suffix == ".duckdb_extension")
    made = _DUCKDB.connect(config={"allow_unsigned_extensions": True})
    made.load_extension(str(Path(str(extension.locate()))))
    return made


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def scan(connected: Any, request: Scan) -> pa.Table:
    """Read the latest version."""
    if request.version is not None:
        raise Unsupported("versions")
    text = f"SELECT {_select_list(request.columns)} FROM {_sql_text(request.uri)}"
    if request.filter is not None:
        text += f" WHERE {request.filter}"
    if request.limit is not None:
        text += f" LIMIT {request.limit}"
    if request.offset:
        text += f" OFFSET {request.offset}"
    return connected.execute(text).to_arrow_table()


def _select_list(columns: list[str] | None) -> str:
    return ", ".join(_sql_name(name) for name in columns) if columns else "*"


def search(connected: Any, request: Message) -> Message:
    """Respond to `index.search` for vectors and for words."""
    if not request.get("use_index", True) and "nearest" not in request:
        raise Unsupported("a scan past the index")
    columns = list(request.get("columns", ()))
    if "nearest" in request:
        source = _vector_search(request)
    else:
        source, columns = _text_search(connected, request), columns and [*columns, "_score"]
    table = connected.execute(f"SELECT {_select_list(columns)} FROM {source}").to_arrow_table()
    return write_table(request["out"], table)


def _vector_search(request: Message) -> str:
    nearest = request["nearest"]
    lacking = [name for name in ("metric", "ef", "range") if name in nearest]
    if lacking or isinstance(nearest["q"][0], list):
        raise Unsupported(f"searches for vectors with {' '.join(lacking) or 'several'}")
    if "nprobes" not in nearest:
        raise Unsupported("a search of as few partitions as hold k rows")
    query = f"[{', '.join(nearest['q'])}]::DOUBLE[]"
    options = {"k": nearest["k"], "nprobs": nearest["nprobes"]}
    options["use_index"] = request.get("use_index", True)
    options |= {"refine_factor": nearest["refine"]} if "refine" in nearest else {}
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    table, column = _sql_text(request["uri"]), _sql_text(nearest["column"])
    return f"lance_vector_search({table}, {column}, {query}, {listed})"


def _text_search(connected: Any, request: Message) -> str:
    uri, ((kind, query),) = _sql_text(request["uri"]), request["text"].items()
    if kind != "match" or query.keys() != {"query", "column"}:
        raise Unsupported(f"queries of words of kind {kind} with {' '.join(sorted(query))}")
    count = connected.execute(f"SELECT count(*) FROM {uri}").fetchone()[0]
    column, words = _sql_text(query["column"]), _sql_text(query["query"])
    return f"lance_fts({uri}, {column}, {words}, k = {max(1, count)})"


def write(connected: Any, request: Message) -> Message:
    """Respond to `write.dataset` by COPY."""
    options = dict(request.get("options", {}))
    copy_options = {"mode": _sql_text(request["mode"])}
    if "version" in request:
        copy_options["data_storage_version"] = _sql_text(request["version"])
    if "max_rows_per_file" in options:
        copy_options["max_rows_per_file"] = str(options.pop("max_rows_per_file"))
    if options:
        raise Unsupported(f"options {', '.join(sorted(options))}")
    rows = read_table(request["input"])
    connected.register("rows_to_write", rows)
    listed = ", ".join(f"{name} {value}" for name, value in copy_options.items())
    connected.execute(f"COPY rows_to_write TO {_sql_text(request['uri'])} (FORMAT lance, {listed})")
    return {}


def mutate(connected: Any, request: Message) -> Message:
    """Respond to `mutate` by SQL statements; the folder of the table is attached meanwhile."""
    uri, args = Path(request["uri"]), request.get("args", {})
    table = f"held.main.{_sql_name(uri.stem)}"
    connected.execute(f"ATTACH {_sql_text(str(uri.parent))} AS held (TYPE LANCE)")
    try:
        for statement in _statements(connected, request["verb"], table, _sql_text(str(uri)), args):
            connected.execute(statement)
    finally:
        connected.execute("DETACH held")
    return {}


def _statements(connected: Any, verb: str, table: str, uri: str, args: Message) -> list[str]:
    where = f" WHERE {args['where']}" if "where" in args else ""
    match verb:
        case "delete":
            return [f"DELETE FROM {table} WHERE {args['predicate']}"]
        case "update":
            values = (f"{_sql_name(name)} = {value}" for name, value in args["updates"].items())
            return [f"UPDATE {table} SET {', '.join(values)}{where}"]
        case "merge_insert":
            connected.register("rows_to_merge", read_table(args["input"]))
            return [_merge_statement(table, args)]
        case "drop_columns":
            names = (_sql_name(name) for name in args["columns"])
            return [f"ALTER TABLE {table} DROP COLUMN {name}" for name in names]
        case "compact" if not args:
            return [f"OPTIMIZE {uri}"]
        case "create_index":
            name, column = _sql_name(args.get("name") or f"{args['column']}_idx"), args["column"]
            return [f"CREATE INDEX {name} ON {uri} ({_sql_name(column)}) USING {args['type']}"]
    raise Unsupported(f"{verb} with {' '.join(sorted(args))}")


def _merge_statement(table: str, args: Message) -> str:
    """Return the statement for matched and unmatched rows."""
    keys = " AND ".join(f"old.{_sql_name(on)} = new.{_sql_name(on)}" for on in args["on"])
    words = [f"MERGE INTO {table} AS old USING rows_to_merge AS new ON ({keys})"]
    if args.get("when_matched") == "update_all":
        words.append("WHEN MATCHED THEN UPDATE")
    if args.get("when_not_matched") == "insert_all":
        words.append("WHEN NOT MATCHED THEN INSERT")
    if args.get("when_not_matched_by_source") == "delete":
        words.append("WHEN NOT MATCHED BY SOURCE THEN DELETE")
    return " ".join(words)


def main() -> None:
    """Serve until the runner sends `bye`."""
    connected = connection()
    implementation = {
        "name": "duckdb-lance",
        "version": version(_PACKAGE),
        "language": "c++, rust",
        "homepage": "https://github.com/lance-format/lance-duckdb",
        "issues": "https://github.com/lance-format/lance-duckdb/issues",
    }
    excluded = {"features": ["blob", "branch"], "types": UNSUPPORTED_TYPES}
    error_types = (_DUCKDB.Error, *ORDINARY_ERRORS)
    versions = ["2.0", "2.1", "2.2"]  # its 2.3 is from an older core
    hello = hello_message(
        implementation,
        excluded,
        **{
            "index.search": {"types": INDICES, "text": True, "nearest": True},
            "write.dataset": {"versions": versions, "modes": ["create", "append", "overwrite"]},
            "mutate": {"verbs": VERBS},
        },
    )
    handlers = {
        **operations(lambda asked: scan(connected, asked)),
        "index.search": lambda request: search(connected, request),
        "write.dataset": lambda request: write(connected, request),
        "mutate": lambda request: mutate(connected, request),
    }
    serve(Adapter(hello, handlers, lambda: (*error_types, *refusal_types()), refusal_response))


if __name__ == "__main__":
    main()

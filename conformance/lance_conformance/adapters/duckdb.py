"""Adapter of DuckDB's Lance extension: `python -m lance_conformance.adapters.duckdb`.

The extension is the file that the package `duckdb-extension-lance` brings. A filter reaches Lance
with casts around its columns, past most indices over values: none of those is claimed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusing import ORDINARY, refusals, refuse
from lance_conformance.adapters.scanned import Scan, claims, operations
from lance_conformance.adapters.skeleton import Adapter, Message, NotClaimed, serve, write_table
from lance_conformance.adapters.writing import read_table

INDICES = ["INVERTED", "IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ"]
"""Types of indices that its table functions ask; a search of a graph has no `ef` there."""

TYPES_IT_LACKS = [
    "decimal256", "float16", "date64", "fixed_size_binary", "time32:s", "time32:ms", "duration:ms",
    "duration:s", "timestamp:ns", "null", "json",
]  # fmt: skip
"""Types of Arrow that DuckDB turns into others, or has nothing for."""

VERBS = ["delete", "update", "merge_insert", "drop_columns", "compact", "create_index"]
"""Changes that its statements make."""

_DUCKDB: Any = import_module("duckdb")
_PACKAGE = "duckdb-extension-lance"


def connection() -> Any:
    """Return a connection that has the extension."""
    files = distribution(_PACKAGE).files or []
    extension = next(file for file in files if file.suffix == ".duckdb_extension")
    made = _DUCKDB.connect(config={"allow_unsigned_extensions": True})
    made.load_extension(str(Path(str(extension.locate()))))
    return made


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def scan(held: Any, asked: Scan) -> pa.Table:
    """Read the latest version."""
    if asked.version is not None:
        raise NotClaimed("versions")
    text = f"SELECT {_chosen(asked.columns)} FROM {_text(asked.uri)}"
    if asked.filter is not None:
        text += f" WHERE {asked.filter}"
    if asked.limit is not None:
        text += f" LIMIT {asked.limit}"
    if asked.offset:
        text += f" OFFSET {asked.offset}"
    return held.execute(text).to_arrow_table()


def _chosen(columns: list[str] | None) -> str:
    return ", ".join(_quoted(name) for name in columns) if columns else "*"


def search(held: Any, request: Message) -> Message:
    """Answer `index.search` for vectors and for words."""
    if not request.get("use_index", True) and "nearest" not in request:
        raise NotClaimed("a scan past the index")
    columns = list(request.get("columns", ()))
    if "nearest" in request:
        asked = _nearest(request)
    else:
        asked, columns = _words(held, request), columns and [*columns, "_score"]
    table = held.execute(f"SELECT {_chosen(columns)} FROM {asked}").to_arrow_table()
    return write_table(request["out"], table)


def _nearest(request: Message) -> str:
    asked = request["nearest"]
    lacking = [name for name in ("metric", "ef", "range") if name in asked]
    if lacking or isinstance(asked["q"][0], list):
        raise NotClaimed(f"searches for vectors with {' '.join(lacking) or 'several'}")
    if "nprobes" not in asked:
        raise NotClaimed("a search of as few partitions as hold k rows")
    query = f"[{', '.join(asked['q'])}]::DOUBLE[]"
    options = {"k": asked["k"], "nprobs": asked["nprobes"]}
    options["use_index"] = request.get("use_index", True)
    options |= {"refine_factor": asked["refine"]} if "refine" in asked else {}
    told = ", ".join(f"{name} = {value}" for name, value in options.items())
    return (
        f"lance_vector_search({_text(request['uri'])}, {_text(asked['column'])}, {query}, {told})"
    )


def _words(held: Any, request: Message) -> str:
    uri, ((kind, asked),) = _text(request["uri"]), request["text"].items()
    if kind != "match" or asked.keys() != {"query", "column"}:
        raise NotClaimed(f"queries of words of kind {kind} with {' '.join(sorted(asked))}")
    count = held.execute(f"SELECT count(*) FROM {uri}").fetchone()[0]
    return (
        f"lance_fts({uri}, {_text(asked['column'])}, {_text(asked['query'])}, k = {max(1, count)})"
    )


def write(held: Any, request: Message) -> Message:
    """Answer `write.dataset` by COPY."""
    options = dict(request.get("options", {}))
    told = {"mode": _text(request["mode"])}
    if "version" in request:
        told["data_storage_version"] = _text(request["version"])
    if "max_rows_per_file" in options:
        told["max_rows_per_file"] = str(options.pop("max_rows_per_file"))
    if options:
        raise NotClaimed(f"options {', '.join(sorted(options))}")
    rows = read_table(request["input"])
    held.register("rows_to_write", rows)
    words = ", ".join(f"{name} {value}" for name, value in told.items())
    held.execute(f"COPY rows_to_write TO {_text(request['uri'])} (FORMAT lance, {words})")
    return {}


def mutate(held: Any, request: Message) -> Message:
    """Answer `mutate`: by statements over the folder of the table, which is attached meanwhile."""
    uri, args = Path(request["uri"]), request.get("args", {})
    table = f"held.main.{_quoted(uri.stem)}"
    held.execute(f"ATTACH {_text(str(uri.parent))} AS held (TYPE LANCE)")
    try:
        for statement in _statements(held, request["verb"], table, _text(str(uri)), args):
            held.execute(statement)
    finally:
        held.execute("DETACH held")
    return {}


def _statements(held: Any, verb: str, table: str, uri: str, args: Message) -> list[str]:
    where = f" WHERE {args['where']}" if "where" in args else ""
    match verb:
        case "delete":
            return [f"DELETE FROM {table} WHERE {args['predicate']}"]
        case "update":
            values = (f"{_quoted(name)} = {value}" for name, value in args["updates"].items())
            return [f"UPDATE {table} SET {', '.join(values)}{where}"]
        case "merge_insert":
            held.register("rows_to_merge", read_table(args["input"]))
            return [_merge(table, args)]
        case "drop_columns":
            names = (_quoted(name) for name in args["columns"])
            return [f"ALTER TABLE {table} DROP COLUMN {name}" for name in names]
        case "compact" if not args:
            return [f"OPTIMIZE {uri}"]
        case "create_index":
            name, column = _quoted(args.get("name") or f"{args['column']}_idx"), args["column"]
            return [f"CREATE INDEX {name} ON {uri} ({_quoted(column)}) USING {args['type']}"]
    raise NotClaimed(f"{verb} with {' '.join(sorted(args))}")


def _merge(table: str, args: Message) -> str:
    """Return the statement for rows that are there, and for those that are not."""
    keys = " AND ".join(f"old.{_quoted(on)} = new.{_quoted(on)}" for on in args["on"])
    words = [f"MERGE INTO {table} AS old USING rows_to_merge AS new ON ({keys})"]
    if args.get("when_matched") == "update_all":
        words.append("WHEN MATCHED THEN UPDATE")
    if args.get("when_not_matched") == "insert_all":
        words.append("WHEN NOT MATCHED THEN INSERT")
    if args.get("when_not_matched_by_source") == "delete":
        words.append("WHEN NOT MATCHED BY SOURCE THEN DELETE")
    return " ".join(words)


def main() -> None:
    """Serve until the runner says good-bye."""
    held = connection()
    implementation = {
        "name": "duckdb-lance",
        "version": version(_PACKAGE),
        "language": "c++, rust",
        "homepage": "https://github.com/lance-format/lance-duckdb",
        "issues": "https://github.com/lance-format/lance-duckdb/issues",
    }
    excluded = {"features": ["blob", "branch"], "types": TYPES_IT_LACKS}
    refused = (_DUCKDB.Error, *ORDINARY)
    versions = ["2.0", "2.1", "2.2"]  # its 2.3 is that of an older core
    served = claims(
        implementation,
        excluded,
        **{
            "index.search": {"types": INDICES, "text": True, "nearest": True},
            "write.dataset": {"versions": versions, "modes": ["create", "append", "overwrite"]},
            "mutate": {"verbs": VERBS},
        },
    )
    answered = {
        **operations(lambda asked: scan(held, asked)),
        "index.search": lambda request: search(held, request),
        "write.dataset": lambda request: write(held, request),
        "mutate": lambda request: mutate(held, request),
    }
    serve(Adapter(served, answered, lambda: (*refused, *refusals()), refuse))


if __name__ == "__main__":
    main()

"""Adapter of the command `lancecli`: `python -m lance_conformance.adapters.lancecli`.

The entry point of the command is called in this process. It prints rows as lines of JSON and a
schema as lines of `name: type`; types that survive this are converted back to a table.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.index_search import TYPES
from lance_conformance.adapters.refusals import refusal_response, refusal_types
from lance_conformance.adapters.server import Adapter, Message, Unsupported, serve, write_table
from lance_conformance.adapters.table_scan import Scan, hello_message, operations, parse_scan

_APP: Any = import_module("lancecli.cli").app

PRINTED_TYPES = {
    str(kind): kind
    for kind in (
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.null()),
    )
}
"""Types whose values survive JSON, by the names that `schema` prints."""


class CommandFailed(ValueError):
    """The command failed; the message is its error."""


def run_command(*words: str) -> str:
    """Return the output of the command. Raises CommandFailed for an exit code other than 0."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            _APP(list(words), standalone_mode=True)
        except SystemExit as ended:
            code = ended.code
        else:
            code = 0
    if code:
        raise CommandFailed(
            errors.getvalue().strip() or out.getvalue().strip() or f"exit code {code}"
        )
    return out.getvalue()


def _schema(uri: str, columns: list[str] | None, at: list[str]) -> pa.Schema:
    """Return the schema of the columns. Raises Unsupported for a type that JSON cannot express."""
    lines = run_command("schema", *at, uri).splitlines()
    types = {name: kind for name, _, kind in (line.partition(": ") for line in lines if line)}
    chosen = {name: types.get(name, "no such column") for name in columns or types}
    lacking = next((kind for kind in chosen.values() if kind not in PRINTED_TYPES), None)
    if lacking is not None:
        raise Unsupported(f"printing {lacking}")
    return pa.schema([(name, PRINTED_TYPES[kind]) for name, kind in chosen.items()])


def scan(request: Scan) -> pa.Table:
    """Read one version."""
    if request.offset:
        raise Unsupported("offsets")
    version = _version_arguments(request.version)
    schema = _schema(request.uri, request.columns, version)
    words = ["jsonl", "--full", *version, request.uri]
    if request.columns is not None:
        words += ["--columns", ",".join(request.columns)]
    if request.filter is not None:
        words += ["--filter", request.filter]
    return _rows(run_command(*words), schema)


def _version_arguments(version: int | str | None) -> list[str]:
    if version is None:
        return []
    return ["--version" if isinstance(version, int) else "--tag", str(version)]


def _rows(printed: str, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([json.loads(line) for line in printed.splitlines()], schema)


def take(request: Message) -> Message:
    """Take rows by their offsets."""
    if "offsets" not in request or "branch" in request:
        raise Unsupported("rows by their ids, and of branches")
    at = _version_arguments(int(request["version"]) if "version" in request else None)
    schema = _schema(request["uri"], request.get("columns"), at)
    words = ["take", "--full", "--format", "jsonl", "--indices", ",".join(request["offsets"]), *at]
    if "columns" in request:
        words += ["--columns", ",".join(request["columns"])]
    return write_table(request["out"], _rows(run_command(*words, request["uri"]), schema))


def search(request: Message) -> Message:
    """Read with a filter, which the command passes to Lance's scan."""
    if not request.get("use_index", True):
        raise Unsupported("a scan past the index")
    return write_table(request["out"], scan(parse_scan(request)))


def versions(request: Message) -> Message:
    """List the versions of a table."""
    numbers = [
        str(one["version"])
        for one in json.loads(run_command("versions", "--format", "json", request["uri"]))
    ]
    return {"versions": [{"version": one} for one in numbers], "latest": numbers[-1]}


def main() -> None:
    """Serve until the runner sends `bye`."""
    implementation = {
        "name": "lancecli",
        "version": version("lancecli"),
        "language": "python",
        "homepage": "https://pypi.org/project/lancecli/",
    }
    hello = hello_message(
        implementation,
        {"features": ["blob", "branch"]},
        **{
            "dataset.take": {},
            "dataset.versions": {},
            "index.search": {"types": TYPES, "filter": True, "scan": False},
        },
    )
    del hello["capabilities"]["dataset.read"]["limit"]
    handlers = {
        **operations(scan),
        "dataset.take": take,
        "dataset.versions": versions,
        "index.search": search,
    }
    serve(Adapter(hello, handlers, refusal_types, refusal_response))


if __name__ == "__main__":
    main()

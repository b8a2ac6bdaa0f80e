"""Adapter of the command `lancecli`: `python -m lance_conformance.adapters.lancecli`.

The command is called in this process, as its entry point is. It prints rows as lines of JSON and a
schema as lines of `name: type`; what of that keeps its type is made a table again.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusing import refusals, refuse
from lance_conformance.adapters.scanned import Scan, claims, operations, scan_of
from lance_conformance.adapters.searching import TYPES
from lance_conformance.adapters.skeleton import Adapter, Message, NotClaimed, serve, write_table

_APP: Any = import_module("lancecli.cli").app

PRINTED = {
    str(kind): kind
    for kind in (
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.null()),
    )
}
"""Types whose values are the same in JSON, by the names that `schema` prints."""


class Refused(ValueError):
    """The command ended with an error, which is the text."""


def call(*words: str) -> str:
    """Return what the command prints. Raises Refused when it ends with anything but 0."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            _APP(list(words), standalone_mode=True)
        except SystemExit as ended:
            code = ended.code
        else:
            code = 0
    if code:
        raise Refused(errors.getvalue().strip() or out.getvalue().strip() or f"exit code {code}")
    return out.getvalue()


def _schema(uri: str, columns: list[str] | None, at: list[str]) -> pa.Schema:
    """Return the schema of what is asked for. Raises NotClaimed for a type that JSON has not."""
    lines = call("schema", *at, uri).splitlines()
    told = {name: kind for name, _, kind in (line.partition(": ") for line in lines if line)}
    wanted = {name: told.get(name, "no such column") for name in columns or told}
    lacking = next((kind for kind in wanted.values() if kind not in PRINTED), None)
    if lacking is not None:
        raise NotClaimed(f"printing {lacking}")
    return pa.schema([(name, PRINTED[kind]) for name, kind in wanted.items()])


def scan(asked: Scan) -> pa.Table:
    """Read one version."""
    if asked.offset:
        raise NotClaimed("offsets")
    at = _at(asked.version)
    schema = _schema(asked.uri, asked.columns, at)
    words = ["jsonl", "--full", *at, asked.uri]
    if asked.columns is not None:
        words += ["--columns", ",".join(asked.columns)]
    if asked.filter is not None:
        words += ["--filter", asked.filter]
    return _rows(call(*words), schema)


def _at(version: int | str | None) -> list[str]:
    if version is None:
        return []
    return ["--version" if isinstance(version, int) else "--tag", str(version)]


def _rows(printed: str, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([json.loads(line) for line in printed.splitlines()], schema)


def take(request: Message) -> Message:
    """Take rows by their offsets."""
    if "offsets" not in request or "branch" in request:
        raise NotClaimed("rows by their ids, and of branches")
    at = _at(int(request["version"]) if "version" in request else None)
    schema = _schema(request["uri"], request.get("columns"), at)
    words = ["take", "--full", "--format", "jsonl", "--indices", ",".join(request["offsets"]), *at]
    if "columns" in request:
        words += ["--columns", ",".join(request["columns"])]
    return write_table(request["out"], _rows(call(*words, request["uri"]), schema))


def search(request: Message) -> Message:
    """Read with a filter, which the command gives to Lance's own scan."""
    if not request.get("use_index", True):
        raise NotClaimed("a scan past the index")
    return write_table(request["out"], scan(scan_of(request)))


def versions(request: Message) -> Message:
    """List the versions of a table."""
    told = [
        str(one["version"])
        for one in json.loads(call("versions", "--format", "json", request["uri"]))
    ]
    return {"versions": [{"version": one} for one in told], "latest": told[-1]}


def main() -> None:
    """Serve until the runner says good-bye."""
    implementation = {
        "name": "lancecli",
        "version": version("lancecli"),
        "language": "python",
        "homepage": "https://pypi.org/project/lancecli/",
    }
    served = claims(
        implementation,
        {"features": ["blob", "branch"]},
        **{
            "dataset.take": {},
            "dataset.versions": {},
            "index.search": {"types": TYPES, "filter": True, "scan": False},
        },
    )
    del served["capabilities"]["dataset.read"]["limit"]
    offered = {
        **operations(scan),
        "dataset.take": take,
        "dataset.versions": versions,
        "index.search": search,
    }
    serve(Adapter(served, offered, refusals, refuse))


if __name__ == "__main__":
    main()

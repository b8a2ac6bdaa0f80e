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
from lance_conformance.adapters.scanned import Scan, claims, operations
from lance_conformance.adapters.skeleton import Adapter, Message, NotClaimed, serve

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


def _schema(uri: str) -> pa.Schema:
    lines = call("schema", uri).splitlines()
    told = [line.partition(": ") for line in lines if line]
    lacking = next((kind for _, _, kind in told if kind not in PRINTED), None)
    if lacking is not None:
        raise NotClaimed(f"printing {lacking}")
    return pa.schema([(name, PRINTED[kind]) for name, _, kind in told])


def scan(asked: Scan) -> pa.Table:
    """Read the latest version."""
    if asked.version is not None or asked.offset:
        raise NotClaimed("versions and offsets")
    schema = _schema(asked.uri)
    words = ["jsonl", "--full", asked.uri]
    if asked.columns is not None:
        words += ["--columns", ",".join(asked.columns)]
        schema = pa.schema([schema.field(name) for name in asked.columns])
    if asked.filter is not None:
        words += ["--filter", asked.filter]
    rows = [json.loads(line) for line in call(*words).splitlines()]
    return pa.Table.from_pylist(rows, schema)


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
    served = claims(implementation, {"features": ["blob"]}, **{"dataset.versions": {}})
    del served["capabilities"]["dataset.read"]["limit"]
    offered = {**operations(scan), "dataset.versions": versions}
    serve(Adapter(served, offered, refusals, refuse))


if __name__ == "__main__":
    main()

"""Adapter of Daft's Lance integration: `python -m lance_conformance.adapters.daft_lance`.

Every read leaks a thread: small stacks keep an adapter that serves hundreds of requests below the
memory limit of the suite.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusals import refusal_response, refusal_types
from lance_conformance.adapters.server import Adapter, Message, Unsupported, serve
from lance_conformance.adapters.table_scan import Scan, hello_message, operations
from lance_conformance.adapters.table_writes import read_table

UNSUPPORTED_TYPES = [
    "decimal256", "date64", "time32:s", "time32:ms", "dictionary",
]  # fmt: skip
"""Arrow types that Daft converts to others or does not support."""

STACK_BYTES = 512 * 1024
"""Stack size of a thread."""

_DAFT: Any = import_module("daft")
_READER: Any = import_module("daft_lance")


def scan(request: Scan) -> pa.Table:
    """Read one version."""
    frame = _READER.read_lance(request.uri, version=request.version)
    if request.filter is not None:
        frame = frame.where(_DAFT.sql_expr(request.filter))
    if request.offset:
        frame = frame.offset(request.offset)
    if request.limit is not None:
        frame = frame.limit(request.limit)
    if request.columns is not None:
        frame = frame.select(*request.columns)
    return frame.to_arrow()


def write(request: Message) -> Message:
    """Write rows; options are passed to Lance."""
    frame = _DAFT.from_arrow(read_table(request["input"]))
    options = dict(request.get("options", {}))
    if "version" in request:
        options["data_storage_version"] = request["version"]
    _READER.write_lance(frame, request["uri"], mode=request["mode"], **options)
    return {}


def mutate(request: Message) -> Message:
    """Add columns, compact, or create an index."""
    uri, args = request["uri"], request.get("args", {})
    match request["verb"]:
        case "add_columns":
            _READER.merge_columns(uri, transform=args["expressions"])
        case "compact":
            _READER.compact_files(uri, compaction_options=args)
        case "create_index":
            named = {"column": args["column"], "index_type": args["type"], "name": args.get("name")}
            _READER.create_scalar_index(uri, **named)
        case verb:
            raise Unsupported(verb)
    return {}


def _register_json_type() -> None:
    """Read a JSON column: only the first such read of a process is refused.

    Responses then do not depend on earlier cases (`D.parties.engine-types`).
    """
    with tempfile.TemporaryDirectory() as folder:
        import_module("lance").write_dataset(pa.table({"j": pa.array(["1"], pa.json_())}), folder)
        with contextlib.suppress(pa.ArrowInvalid):
            scan(Scan(folder, None, None, None, None, 0))


def _refusal_types() -> tuple[type[BaseException], ...]:
    return (_DAFT.exceptions.DaftCoreException, *refusal_types())


def main() -> None:
    """Serve until the runner sends `bye`."""
    threading.stack_size(STACK_BYTES)
    _register_json_type()
    implementation = {
        "name": "daft-lance",
        "version": version("daft-lance"),
        "language": "python, rust",
        "homepage": "https://pypi.org/project/daft-lance/",
    }
    versions = ["2.0", "2.1", "2.2", "2.3"]
    modes = ["create", "append", "overwrite"]
    hello = hello_message(
        implementation,
        {"features": ["blob", "branch"], "types": UNSUPPORTED_TYPES},
        **{
            "write.dataset": {"versions": versions, "modes": modes},
            "mutate": {"verbs": ["add_columns", "compact", "create_index"]},
        },
    )
    handlers = {**operations(scan), "write.dataset": write, "mutate": mutate}
    serve(Adapter(hello, handlers, _refusal_types, refusal_response))


if __name__ == "__main__":
    main()

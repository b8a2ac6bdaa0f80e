"""Adapter of the Lance plugin of Polars: `python -m lance_conformance.adapters.polars_lance`.

The plugin 0.5.0 needs Polars 1: the engine of 2.1 uses the scanner in another thread than the one
that created it, and every read panics.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusals import refusal_response, refusal_types
from lance_conformance.adapters.server import Adapter, Message, Unsupported, serve
from lance_conformance.adapters.table_scan import Scan, hello_message, operations
from lance_conformance.adapters.table_writes import read_table

UNSUPPORTED_TYPES = [
    "decimal256", "date64", "fixed_size_binary", "bfloat16",
    "time32:s", "time32:ms", "time64:us", "timestamp:s", "json",
]  # fmt: skip
"""Arrow types that Polars converts to others or does not support."""

WRITTEN_VERSION = "2.0"
"""The file version of written tables."""

_POLARS: Any = import_module("polars")
_PLUGIN: Any = import_module("polars_lance")


def scan(request: Scan) -> pa.Table:
    """Read the latest version."""
    if request.version is not None:
        raise Unsupported("versions")
    frame = _PLUGIN.scan_lance(request.uri)
    if request.filter is not None:
        frame = frame.filter(_POLARS.sql_expr(request.filter))
    if request.limit is not None or request.offset:
        frame = frame.slice(request.offset, request.limit)
    if request.columns is not None:
        frame = frame.select(request.columns)
    return frame.collect().to_arrow(compat_level=_POLARS.CompatLevel.oldest())


def write(request: Message) -> Message:
    """Write rows; the plugin writes files of version 2.0, and appends to any table."""
    if request.get("version", WRITTEN_VERSION) != WRITTEN_VERSION:
        raise Unsupported(f"a choice of file version {request['version']}")
    options = dict(request.get("options", {}))
    most = options.pop("max_rows_per_file", None)
    if options:
        raise Unsupported(f"options {', '.join(sorted(options))}")
    mode = {"create": "error"}.get(request["mode"], request["mode"])
    rows = _POLARS.from_arrow(read_table(request["input"]))
    _PLUGIN.write_lance(rows, request["uri"], mode=mode, max_rows_per_file=most)
    return {}


def _refusal_types() -> tuple[type[BaseException], ...]:
    return (_POLARS.exceptions.PolarsError, *refusal_types())


def main() -> None:
    """Serve until the runner sends `bye`."""
    implementation = {
        "name": "polars-lance",
        "version": version("polars-lance"),
        "language": "python, rust",
        "homepage": "https://pypi.org/project/polars-lance/",
    }
    writes = {"versions": [WRITTEN_VERSION], "modes": ["create", "append", "overwrite"]}
    hello = hello_message(
        implementation,
        {"features": ["blob", "branch"], "types": UNSUPPORTED_TYPES},
        **{"write.dataset": writes},
    )
    handlers = {**operations(scan), "write.dataset": write}
    serve(Adapter(hello, handlers, _refusal_types, refusal_response))


if __name__ == "__main__":
    main()

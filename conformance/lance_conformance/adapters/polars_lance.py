"""Adapter of the Lance plugin of Polars: `python -m lance_conformance.adapters.polars_lance`.

The plugin 0.5.0 needs a Polars before 2: in 2.1 the engine uses the scanner in another thread than
the one that made it, and every read is a panic.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusing import refusals, refuse
from lance_conformance.adapters.scanned import Scan, claims, operations
from lance_conformance.adapters.skeleton import Adapter, Message, NotClaimed, serve
from lance_conformance.adapters.writing import read_table

TYPES_IT_LACKS = [
    "decimal256", "date64", "fixed_size_binary", "bfloat16",
    "time32:s", "time32:ms", "time64:us", "timestamp:s", "json",
]  # fmt: skip
"""Types of Arrow that Polars turns into others, or has nothing for."""

WRITTEN = "2.0"
"""The file version of tables that it makes."""

_POLARS: Any = import_module("polars")
_PLUGIN: Any = import_module("polars_lance")


def scan(asked: Scan) -> pa.Table:
    """Read the latest version."""
    if asked.version is not None:
        raise NotClaimed("versions")
    frame = _PLUGIN.scan_lance(asked.uri)
    if asked.filter is not None:
        frame = frame.filter(_POLARS.sql_expr(asked.filter))
    if asked.limit is not None or asked.offset:
        frame = frame.slice(asked.offset, asked.limit)
    if asked.columns is not None:
        frame = frame.select(asked.columns)
    return frame.collect().to_arrow(compat_level=_POLARS.CompatLevel.oldest())


def write(request: Message) -> Message:
    """Write rows; the plugin makes files of version 2.0, and appends to any table."""
    if request.get("version", WRITTEN) != WRITTEN:
        raise NotClaimed(f"a choice of file version {request['version']}")
    options = dict(request.get("options", {}))
    most = options.pop("max_rows_per_file", None)
    if options:
        raise NotClaimed(f"options {', '.join(sorted(options))}")
    mode = {"create": "error"}.get(request["mode"], request["mode"])
    rows = _POLARS.from_arrow(read_table(request["input"]))
    _PLUGIN.write_lance(rows, request["uri"], mode=mode, max_rows_per_file=most)
    return {}


def _refused() -> tuple[type[BaseException], ...]:
    return (_POLARS.exceptions.PolarsError, *refusals())


def main() -> None:
    """Serve until the runner says good-bye."""
    implementation = {
        "name": "polars-lance",
        "version": version("polars-lance"),
        "language": "python, rust",
        "homepage": "https://pypi.org/project/polars-lance/",
    }
    writes = {"versions": [WRITTEN], "modes": ["create", "append", "overwrite"]}
    served = claims(
        implementation,
        {"features": ["blob", "branch"], "types": TYPES_IT_LACKS},
        **{"write.dataset": writes},
    )
    answered = {**operations(scan), "write.dataset": write}
    serve(Adapter(served, answered, _refused, refuse))


if __name__ == "__main__":
    main()

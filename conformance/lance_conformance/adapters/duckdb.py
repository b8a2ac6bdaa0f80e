"""Adapter of DuckDB's Lance extension: `python -m lance_conformance.adapters.duckdb`.

The extension is the file that the package `duckdb-extension-lance` brings.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusing import ORDINARY, refusals, refuse
from lance_conformance.adapters.scanned import Scan, claims, operations
from lance_conformance.adapters.skeleton import Adapter, NotClaimed, serve

TYPES_IT_LACKS = [
    "decimal256", "float16", "date64", "fixed_size_binary", "time32-s", "time32-ms", "duration-ms",
    "duration[s]", "timestamp-ns-utc", "null", "json",
]  # fmt: skip
"""Types of Arrow that DuckDB turns into others, or has nothing for."""

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


def main() -> None:
    """Serve until the runner says good-bye."""
    held = connection()

    def scan(asked: Scan) -> pa.Table:
        if asked.version is not None:
            raise NotClaimed("versions")
        columns = ", ".join(_quoted(name) for name in asked.columns) if asked.columns else "*"
        text = f"SELECT {columns} FROM '{asked.uri}'"
        if asked.filter is not None:
            text += f" WHERE {asked.filter}"
        if asked.limit is not None:
            text += f" LIMIT {asked.limit}"
        if asked.offset:
            text += f" OFFSET {asked.offset}"
        return held.execute(text).to_arrow_table()

    implementation = {
        "name": "duckdb-lance",
        "version": version(_PACKAGE),
        "language": "c++, rust",
        "homepage": "https://github.com/lance-format/lance-duckdb",
        "issues": "https://github.com/lance-format/lance-duckdb/issues",
    }
    excluded = {"features": ["blob"], "types": TYPES_IT_LACKS}
    refused = (_DUCKDB.Error, *ORDINARY)
    served = claims(implementation, excluded)
    serve(Adapter(served, operations(scan), lambda: (*refused, *refusals()), refuse))


if __name__ == "__main__":
    main()

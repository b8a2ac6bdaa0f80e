"""Shared parts of adapters of engines that scan tables: requests as scans of a data frame.

Such an engine reads a table with columns, a filter and a limit; it has neither row ids nor data
files. Each adapter provides one function that scans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.server import Message, Operation, Unsupported, write_table


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan of a table; None: the latest version, all columns, all rows."""

    uri: str
    version: int | str | None
    columns: list[str] | None
    filter: str | None
    limit: int | None
    offset: int


def parse_scan(request: Message) -> Scan:
    """Return the scan of a request. Raises Unsupported for features that no engine has."""
    for name in ("with", "branch"):
        if request.get(name):
            raise Unsupported(name)
    return Scan(
        request["uri"],
        int(request["version"]) if "version" in request else request.get("tag"),
        request.get("columns"),
        request["filter"]["sql"] if "filter" in request else None,
        int(request["limit"]) if "limit" in request else None,
        int(request.get("offset", 0)),
    )


def operations(scan: Callable[[Scan], pa.Table]) -> dict[str, Operation]:
    """Return the operations of an engine with the given scan function."""

    def read(request: Message) -> Message:
        table = scan(
            parse_scan(request)
        ).unify_dictionaries()  # a file has one dictionary per column
        return write_table(request["out"], table)

    return {"dataset.read": read}


def hello_message(
    implementation: Mapping[str, str], excluded: Mapping[str, list[str]], **writes: Any
) -> Message:
    """Return the `hello` of an engine; `excluded` are its unsupported types and features."""
    return {
        "protocol": 1,
        "implementation": dict(implementation),
        "capabilities": {
            "dataset.read": {
                "versions": ["0.1", "2.0", "2.1", "2.2", "2.3"],
                "projection": ["top"],
                "filter": True,
                "limit": True,
            },
            **writes,
        },
        **{what: {"exclude": names} for what, names in excluded.items()},
        "profiles": ["format", "unstable"],
    }

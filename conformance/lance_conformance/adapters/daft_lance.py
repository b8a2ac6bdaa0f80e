"""Adapter of Daft's Lance integration: `python -m lance_conformance.adapters.daft_lance`.

Every read leaves a thread behind: with small stacks, an adapter that answers hundreds of requests
stays under the memory limit of the suite.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lance_conformance.adapters.refusing import refusals, refuse
from lance_conformance.adapters.scanned import Scan, claims, operations
from lance_conformance.adapters.skeleton import Adapter, Message, NotClaimed, serve
from lance_conformance.adapters.writing import read_table

TYPES_IT_LACKS = [
    "decimal256", "date64", "time32:s", "time32:ms", "dictionary",
]  # fmt: skip
"""Types of Arrow that Daft turns into others, or has nothing for."""

STACK_BYTES = 512 * 1024
"""Size of the stack of a thread."""

_DAFT: Any = import_module("daft")
_READER: Any = import_module("daft_lance")


def scan(asked: Scan) -> pa.Table:
    """Read one version."""
    frame = _READER.read_lance(asked.uri, version=asked.version)
    if asked.filter is not None:
        frame = frame.where(_DAFT.sql_expr(asked.filter))
    if asked.offset:
        frame = frame.offset(asked.offset)
    if asked.limit is not None:
        frame = frame.limit(asked.limit)
    if asked.columns is not None:
        frame = frame.select(*asked.columns)
    return frame.to_arrow()


def write(request: Message) -> Message:
    """Write rows; options go to Lance as they are."""
    frame = _DAFT.from_arrow(read_table(request["input"]))
    options = dict(request.get("options", {}))
    if "version" in request:
        options["data_storage_version"] = request["version"]
    _READER.write_lance(frame, request["uri"], mode=request["mode"], **options)
    return {}


def mutate(request: Message) -> Message:
    """Add columns, compact, make an index."""
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
            raise NotClaimed(verb)
    return {}


def _meet_json() -> None:
    """Read a column of JSON: the first such read of a process is refused, and later ones are not.

    So what an adapter answers does not depend on the cases before (`D.parties.engine-types`).
    """
    with tempfile.TemporaryDirectory() as folder:
        import_module("lance").write_dataset(pa.table({"j": pa.array(["1"], pa.json_())}), folder)
        with contextlib.suppress(pa.ArrowInvalid):
            scan(Scan(folder, None, None, None, None, 0))


def _refused() -> tuple[type[BaseException], ...]:
    return (_DAFT.exceptions.DaftCoreException, *refusals())


def main() -> None:
    """Serve until the runner says good-bye."""
    threading.stack_size(STACK_BYTES)
    _meet_json()
    implementation = {
        "name": "daft-lance",
        "version": version("daft-lance"),
        "language": "python, rust",
        "homepage": "https://pypi.org/project/daft-lance/",
    }
    versions = ["2.0", "2.1", "2.2", "2.3"]
    modes = ["create", "append", "overwrite"]
    served = claims(
        implementation,
        {"features": ["blob", "branch"], "types": TYPES_IT_LACKS},
        **{
            "write.dataset": {"versions": versions, "modes": modes},
            "mutate": {"verbs": ["add_columns", "compact", "create_index"]},
        },
    )
    answered = {**operations(scan), "write.dataset": write, "mutate": mutate}
    serve(Adapter(served, answered, _refused, refuse))


if __name__ == "__main__":
    main()

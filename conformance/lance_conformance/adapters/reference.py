"""Adapter of the reference: `python -m lance_conformance.adapters.reference`.

Every refusal of the reference is a `LanceError` with stage and kind, so this adapter needs no
mapping of messages to kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import pylanceref
import pylanceref.query
from lanceref.core.errors import LanceError
from lanceref.inspection import validate
from lanceref.table.flags import READABLE
from pylanceref.file import LanceFileReader

from lance_conformance import __version__
from lance_conformance.adapters import index_dump, index_search, pylance_api, table_writes
from lance_conformance.adapters.server import Adapter, Message, respond, serve

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]


SQL = find_spec("datafusion") is not None
"""Whether the extra `sql` is installed; without it no operation with a filter is claimed."""

WITHOUT_SQL = ["compact", "drop_columns", "create_index", "cleanup"]
"""Verbs without SQL arguments."""


def hello() -> Message:
    """Return the claims of the reference."""
    verbs = table_writes.VERBS if SQL else WITHOUT_SQL
    return {
        "protocol": 1,
        "implementation": {"name": "lanceref", "version": __version__, "language": "python"},
        "capabilities": {
            **pylance_api.capabilities(["0.1", *VERSIONS], ["0.1", *VERSIONS], filters=SQL),
            **table_writes.capabilities(pylanceref, VERSIONS, verbs),
            **index_search.capabilities(filters=SQL),
            "index.dump": {"types": index_dump.TYPES},
            "validate": {},
        },
        "flags": {"reader_known": str(READABLE), "writer_known": str(READABLE)},
        "profiles": ["format", "unstable"],
    }


def run_validate(request: Message) -> Message:
    """Answer `validate`."""
    findings = validate(request.get("path") or request["uri"], deep=request.get("deep", False))
    return {
        "valid": not any(finding.severity == "must" for finding in findings),
        "findings": [
            {
                "clause": finding.clause,
                "severity": finding.severity,
                "file": finding.file,
                "offset": str(finding.offset),
                "message": finding.message,
            }
            for finding in findings
        ],
    }


def refusal_response(error: BaseException) -> Message:
    """Return the response to a refusal, with stage and kind of the error."""
    kind = getattr(error, "kind", "other")
    stage = error.stage if isinstance(error, LanceError) else "unknown"
    return {"reject": {"stage": stage, "kind": kind, "message": str(error)}}


def adapter() -> Adapter:
    """Return the adapter."""
    operations = {
        **pylance_api.operations(LanceFileReader, pylanceref.dataset),
        **table_writes.operations(pylanceref, lambda operation: operation),
        **index_search.operations(pylanceref, pylanceref.query),
        "index.dump": index_dump.dump,
        "validate": run_validate,
    }
    return Adapter(hello(), operations, lambda: (LanceError,), refusal_response)


def in_process(op: str, fields: Mapping[str, object]) -> Message:
    """Return the response to a request, computed in this process."""
    return respond(adapter(), {"op": op, **fields})


def main() -> None:
    """Serve until the runner sends `bye`."""
    serve(adapter())


if __name__ == "__main__":
    main()

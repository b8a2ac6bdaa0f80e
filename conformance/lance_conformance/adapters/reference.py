"""Adapter of the reference: `python -m lance_conformance.adapters.reference`.

Every refusal of the reference is a `LanceError` that carries stage and kind itself, so there is no
mapping of messages to kinds beside this adapter.
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
from lance_conformance.adapters import dumping, face, searching, writing
from lance_conformance.adapters.skeleton import Adapter, Message, answer, serve

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]


SQL = find_spec("datafusion") is not None
"""Whether the extra `sql` is installed, without which nothing that takes a filter is claimed."""

WITHOUT_SQL = ["compact", "drop_columns", "create_index", "cleanup"]
"""Verbs whose arguments are no SQL."""


def hello() -> Message:
    """Return what the reference claims."""
    verbs = writing.VERBS if SQL else WITHOUT_SQL
    return {
        "protocol": 1,
        "implementation": {"name": "lanceref", "version": __version__, "language": "python"},
        "capabilities": {
            **face.capabilities(["0.1", *VERSIONS], ["0.1", *VERSIONS], filters=SQL),
            **writing.capabilities(pylanceref, VERSIONS, verbs),
            **searching.capabilities(filters=SQL),
            "index.dump": {"types": dumping.TYPES},
            "validate": {},
        },
        "flags": {"reader_known": str(READABLE), "writer_known": str(READABLE)},
        "profiles": ["format", "unstable"],
    }


def check(request: Message) -> Message:
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


def refuse(error: BaseException) -> Message:
    """Answer a refusal in the error's own words."""
    kind = getattr(error, "kind", "other")
    stage = error.stage if isinstance(error, LanceError) else "unknown"
    return {"reject": {"stage": stage, "kind": kind, "message": str(error)}}


def adapter() -> Adapter:
    """Return all of it."""
    operations = {
        **face.operations(LanceFileReader, pylanceref.dataset),
        **writing.operations(pylanceref, lambda operation: operation),
        **searching.operations(pylanceref, pylanceref.query),
        "index.dump": dumping.dump,
        "validate": check,
    }
    return Adapter(hello(), operations, lambda: (LanceError,), refuse)


def in_process(op: str, fields: Mapping[str, object]) -> Message:
    """Return the response to a request without a process between."""
    return answer(adapter(), {"op": op, **fields})


def main() -> None:
    """Serve until the runner says good-bye."""
    serve(adapter())


if __name__ == "__main__":
    main()

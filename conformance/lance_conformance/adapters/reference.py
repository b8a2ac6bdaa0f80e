"""Adapter of the reference: `python -m lance_conformance.adapters.reference`.

Every refusal of the reference is a `LanceError` that carries stage and kind itself, so there is no
mapping of messages to kinds beside this adapter.
"""

from __future__ import annotations

import lanceref
from lanceref.errors import LanceError
from lanceref.file import LanceFileReader
from lanceref.validate import validate

from lance_conformance import __version__
from lance_conformance.adapters import face
from lance_conformance.adapters.skeleton import Adapter, Message, serve

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]


def hello() -> Message:
    """Return what the reference claims."""
    return {
        "protocol": 1,
        "implementation": {"name": "lanceref", "version": __version__, "language": "python"},
        "capabilities": {
            **face.capabilities(VERSIONS, VERSIONS, filters=False),
            "validate": {},
        },
        "profiles": ["format", "robust", "unstable"],
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


def main() -> None:
    """Serve until the runner says good-bye."""
    operations = {**face.operations(LanceFileReader, lanceref.dataset), "validate": check}
    serve(Adapter(hello(), operations, lambda: (LanceError,), refuse))


if __name__ == "__main__":
    main()

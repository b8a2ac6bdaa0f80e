"""Releases of pylance: the claims of each, and how it reports a missing feature.

The claims are those of the oracle without later features. The first release of a feature is the
first one of the matrix that could write the format or build the index.
"""

from __future__ import annotations

import re

from lance_conformance.adapters.index_search import TYPES
from lance_conformance.adapters.server import Message, Operation, Unsupported

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]

VECTORS = "vectors"
"""All types of vector indices."""

_FIRST_RELEASE = {
    "2.1": (0, 33),
    "2.2": (0, 39),
    "2.3": (4, 0),
    "BITMAP": (0, 20),
    "LABEL_LIST": (0, 20),
    "INVERTED": (0, 20),
    "NGRAM": (0, 33),
    "ZONEMAP": (0, 39),
    "BLOOMFILTER": (0, 39),
    "FM": (14, 0),
    "JSON": (14, 0),
    "RTREE": (14, 0),
    VECTORS: (14, 0),
}
"""First release of the matrix with a file version or an index type; all others are older.

JSON, RTREE and vector indices may be older; no release before the oracle has been tested.
"""

_NAME_MISSING = re.compile(
    r"unexpected keyword argument|has no attribute|object is not (callable|subscriptable)$"
    r"|no class |^\w+(\.\w+)* has no "
)
"""Python's messages about a missing name."""


def supports(release: str, piece: str) -> bool:
    """Whether a release has a file version or an index type."""
    major, minor = (int(part) for part in release.split(".")[:2])
    return (major, minor) >= _FIRST_RELEASE.get(piece, (0, 0))


def file_versions(release: str) -> list[str]:
    """Return the file versions of 2.x that a release reads and writes."""
    return [version for version in VERSIONS if supports(release, version)]


def index_types(release: str) -> list[str]:
    """Return the index types that have cases and that a release builds."""
    return [name for name in TYPES if supports(release, name)]


def unsupported_if_missing(operation: Operation) -> Operation:
    """Return an operation that raises Unsupported for a name that the release lacks."""

    def run(request: Message) -> Message:
        try:
            return operation(request)
        except (AttributeError, LookupError, TypeError) as error:
            message = str(error)
            if _NAME_MISSING.search(message):
                raise Unsupported(message) from error
            raise

    return run

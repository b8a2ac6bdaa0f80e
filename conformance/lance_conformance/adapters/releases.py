"""Releases of pylance: what each claims, and how it says that it has no such thing.

The claims are those of the oracle, less what came after a release. When that was, was found by
asking the releases of the matrix to write each format and to build each index: a piece counts as
there from the first of them that did.
"""

from __future__ import annotations

import re

from lance_conformance.adapters.searching import TYPES
from lance_conformance.adapters.skeleton import Message, NotClaimed, Operation

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]

VECTORS = "vectors"
"""All types of vector indices."""

_FIRST = {
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
"""First release of the matrix that has a file version or an index type; the rest is older.

JSON, RTREE and vector indices may be older; no release before the oracle has been asked.
"""

_NOT_OFFERED = re.compile(
    r"unexpected keyword argument|has no attribute|object is not (callable|subscriptable)$"
    r"|no class |^\w+(\.\w+)* has no "
)
"""What Python says of a name that is not there."""


def has(release: str, piece: str) -> bool:
    """Whether a release has a file version or an index type."""
    major, minor = (int(part) for part in release.split(".")[:2])
    return (major, minor) >= _FIRST.get(piece, (0, 0))


def file_versions(release: str) -> list[str]:
    """Return the file versions of 2.x that a release reads and writes."""
    return [version for version in VERSIONS if has(release, version)]


def index_types(release: str) -> list[str]:
    """Return the types of indices that have cases and that a release builds."""
    return [name for name in TYPES if has(release, name)]


def as_offered(operation: Operation) -> Operation:
    """Return an operation for which a name that the release lacks is a gap, and no refusal."""

    def asked(request: Message) -> Message:
        try:
            return operation(request)
        except (AttributeError, LookupError, TypeError) as error:
            told = str(error)
            if _NOT_OFFERED.search(told):
                raise NotClaimed(told) from error
            raise

    return asked

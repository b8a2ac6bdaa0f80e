"""The file container of 2.0 to 2.3, its reader and writer under the names pylance users import.

The public names load on first use, so that importing a piece of the container does not pull in the
decoders.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.file.reader import (
        LanceFileMetadata,
        LanceFileReader,
        LanceFileStatistics,
        ReaderResults,
    )
    from lanceref.file.session import LanceFileSession, ListResult
    from lanceref.file.versions import stable_version
    from lanceref.file.writer import LanceFileWriter

_PUBLIC = {
    "LanceFileReader": "lanceref.file.reader",
    "LanceFileMetadata": "lanceref.file.reader",
    "LanceFileStatistics": "lanceref.file.reader",
    "ReaderResults": "lanceref.file.reader",
    "LanceFileSession": "lanceref.file.session",
    "LanceFileWriter": "lanceref.file.writer",
    "ListResult": "lanceref.file.session",
    "stable_version": "lanceref.file.versions",
}

__all__ = [
    "LanceFileMetadata",
    "LanceFileReader",
    "LanceFileSession",
    "LanceFileStatistics",
    "LanceFileWriter",
    "ListResult",
    "ReaderResults",
    "stable_version",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

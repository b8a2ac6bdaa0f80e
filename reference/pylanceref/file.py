"""File: readers and writers of single files of 2.0 to 2.3, under the names of `lance.file`.

The public names load on first use, so that importing a piece of the container does not pull in the
decoders.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.core.file_versions import stable_version
    from lanceref.data_file.reader import (
        LanceFileMetadata,
        LanceFileReader,
        LanceFileStatistics,
        ReaderResults,
    )
    from lanceref.data_file.writer import LanceFileWriter

    from pylanceref.file_session import LanceFileSession, ListResult

_PUBLIC = {
    "LanceFileReader": "lanceref.data_file.reader",
    "LanceFileMetadata": "lanceref.data_file.reader",
    "LanceFileStatistics": "lanceref.data_file.reader",
    "ReaderResults": "lanceref.data_file.reader",
    "LanceFileSession": "pylanceref.file_session",
    "LanceFileWriter": "lanceref.data_file.writer",
    "ListResult": "pylanceref.file_session",
    "stable_version": "lanceref.core.file_versions",
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

"""Version markers: file versions and reader flags, by which an old reader detects new bytes.

A marker that no published case of the base has is new: an old reader may refuse bytes with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.storage import LocalStore
from lanceref.table.manifest import open_version

from lance_conformance.suite.cases import Case


def markers_of(case: Case) -> frozenset[str]:
    """Return the markers of a case: `file 2.2`, `reader flag 16`."""
    version = case.requires.get("file_version")
    found = {f"file {version}"} if version else set()
    if case.input_root.is_dir():
        word = _reader_word(case.input_root)
        found |= {f"reader flag {1 << bit}" for bit in range(word.bit_length()) if word >> bit & 1}
    return frozenset(found)


def all_markers(cases: Iterable[Case]) -> frozenset[str]:
    """Return the markers of all cases."""
    return frozenset[str]().union(*map(markers_of, cases))


def _reader_word(table: Path) -> int:
    """Return the reader word of the latest version; 0 where it cannot be read."""
    try:
        manifest = open_version(LocalStore(str(table)), None, Context(table.name))
    except LanceError:
        return 0
    return manifest.message.reader_feature_flags

"""Early releases: what tables of old writers may have that no later one may.

A manifest names the release of the official library that wrote it. Up to 0.10 a column added after
a drop could get the id of the dropped one, so that two files of a fragment hold a field: the later
one is right. Up to 0.16 fragment ids could be used twice, and files of 0.1 and 2.0 stand in one
table.

Clauses: L.table.datafile.once-early, L.table.fragments.ids-early

Divergences: D.table.field-in-two-files
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanceref.proto import table_pb2
from lanceref.table.file_entries import FileOfFragment

LIBRARY = "lance"

FIELD_TWICE = (0, 11)
"""The first release that gave no field id twice."""

FRAGMENT_TWICE = (0, 17)
"""The first release that gave no fragment id twice."""


def is_before(manifest: table_pb2.Manifest, release: tuple[int, int]) -> bool:
    """Whether a release of the official library before another one wrote the manifest."""
    writer = manifest.writer_version
    parts = writer.version.split(".")[:2]
    if writer.library != LIBRARY or len(parts) < 2 or not all(map(str.isdigit, parts)):
        return False
    return (int(parts[0]), int(parts[1])) < release


def last_holders(files: Sequence[FileOfFragment]) -> list[FileOfFragment]:
    """Return the files with each field in the last of those that hold it."""
    found: list[FileOfFragment] = []
    later: set[int] = set()
    for file in reversed(files):
        columns = {number: at for number, at in file.columns.items() if number not in later}
        found.append(replace(file, columns=columns))
        later |= columns.keys()
    return found[::-1]


def fields_held_twice(fragments: Sequence[table_pb2.DataFragment]) -> list[int]:
    """Return the field ids that two files of a fragment hold, ascending."""
    found: set[int] = set()
    for fragment in fragments:
        seen: set[int] = set()
        for file in fragment.files:
            found |= {number for number in file.fields if number >= 0 and number in seen}
            seen.update(file.fields)
    return sorted(found)

"""Hexmap: the owner of every byte range of a data file, as text for people.

It is made of the bytes and not stored: `copy` lays it beside the file as `data.lance.hexmap`.
"""

from __future__ import annotations

HEXMAP = ".hexmap"
"""What is appended to the name of the data file."""


def hexmap(data: bytes, name: str = "data.lance") -> str:
    """Return the owner of every byte range of a file: `start end kind clause name` a line.

    The `name` says what kind of file it is: a data file, a manifest.
    """
    from lanceref.inspection import explain_source  # a run without a report does without it
    from lanceref.storage import BytesSource

    root = explain_source(BytesSource(data, name)).root
    leaves = sorted(root.leaves(), key=lambda span: (span.start, span.end))
    return "".join(
        f"{leaf.start} {leaf.end} {leaf.kind.replace(' ', '-')} {leaf.clause or '-'} {leaf.name}\n"
        for leaf in leaves
    )

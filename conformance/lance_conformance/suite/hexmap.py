"""Hexmap: the owner of every byte range of a data file, as readable text.

It is derived from the bytes and not stored: `copy` writes it next to `data.lance`.
"""

from __future__ import annotations

HEXMAP_SUFFIX = ".hexmap"
"""Suffix that is appended to the name of the data file."""


def build_hexmap(data: bytes, name: str = "data.lance") -> str:
    """Return the owner of every byte range of a file: `start end kind clause name` a line.

    The kind of the file, a data file or a manifest, follows from `name`.
    """
    from lanceref.inspection import explain_source  # not needed by a run without a report
    from lanceref.storage import BytesSource

    root = explain_source(BytesSource(data, name)).root
    leaves = sorted(root.leaves(), key=lambda span: (span.start, span.end))
    return "".join(
        f"{leaf.start} {leaf.end} {leaf.kind.replace(' ', '-')} {leaf.clause or '-'} {leaf.name}\n"
        for leaf in leaves
    )

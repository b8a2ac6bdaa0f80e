"""Undeclared types: entries of early releases, and of some writers, that say no type.

Which files lie in the segment's folder tells the type.

Clauses: L.index.details.missing
"""

from __future__ import annotations

from lanceref.file.schema import Field
from lanceref.index.index_type import Kind
from lanceref.index.segment import Segment

TELLING = {
    "bitmap_page_lookup.lance": "BITMAP",
    "metadata.lance": "INVERTED",
    "invert.lance": "INVERTED",
    "page_lookup.lance": "BTREE",
}
"""Files that an index of a type has and the others before it have not."""


def kind_by_files(segment: Segment, field: Field) -> Kind | None:
    """Return the type that the files of a segment are of, None when they do not tell."""
    from lanceref.index.registry import BY_NAME  # who has no index needs no type
    from lanceref.index.vector.vector_file import AUXILIARY, HEAD
    from lanceref.index.vector.vector_kind import VECTOR

    if segment.has(HEAD) and not segment.has(AUXILIARY):
        return VECTOR
    for path, name in TELLING.items():
        if segment.has(path):
            is_list = field.logical_type in ("list", "large_list")
            return BY_NAME["LABEL_LIST" if is_list and name == "BITMAP" else name]
    return None

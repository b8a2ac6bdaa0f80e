"""Registry: the types of indices, by the names that users and manifests give them.

Entries of early releases, and of some writers, name no type: the files in the folder of the segment
tell it.

Clauses: L.index.details.missing
"""

from __future__ import annotations

from lanceref.file.schema import Field
from lanceref.index.fm.fm import FM
from lanceref.index.full_text.inverted import INVERTED
from lanceref.index.index_type import Kind
from lanceref.index.minhash.minhash_lsh import MINHASHLSH
from lanceref.index.scalar.bitmap import BITMAP, LABEL_LIST
from lanceref.index.scalar.bloomfilter import BLOOMFILTER
from lanceref.index.scalar.btree import BTREE
from lanceref.index.scalar.json import JSON
from lanceref.index.scalar.ngram import NGRAM
from lanceref.index.scalar.rtree import RTREE
from lanceref.index.scalar.zonemap import ZONEMAP
from lanceref.index.segment import Segment
from lanceref.index.vector.vector_index import AUXILIARY, HEAD
from lanceref.index.vector.vector_kind import VECTOR

_SCALAR = (BTREE, BITMAP, LABEL_LIST, NGRAM, ZONEMAP, BLOOMFILTER)
KINDS: tuple[Kind, ...] = (*_SCALAR, INVERTED, JSON, FM, VECTOR, MINHASHLSH, RTREE)
"""Every type that is there."""

BY_NAME = {kind.name: kind for kind in KINDS}
"""Type by its name."""

BY_DETAILS = {kind.details.rpartition(".")[2].lower(): kind for kind in KINDS}
"""Type by the name of its details message, without the package and in lower case."""


TELLING = {
    "bitmap_page_lookup.lance": "BITMAP",
    "metadata.lance": "INVERTED",
    "invert.lance": "INVERTED",
    "page_lookup.lance": "BTREE",
}
"""Files that an index of a type has and the others before it have not."""


def kind_by_files(segment: Segment, field: Field) -> Kind | None:
    """Return the type that the files of a segment are of, None when they do not tell."""
    if segment.has(HEAD) and not segment.has(AUXILIARY):
        return VECTOR
    for path, name in TELLING.items():
        if segment.has(path):
            is_list = field.logical_type in ("list", "large_list")
            return BY_NAME["LABEL_LIST" if is_list and name == "BITMAP" else name]
    return None

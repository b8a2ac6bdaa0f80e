"""Registry: the types of indices, by the names that users and manifests give them.

Entries of early releases, and of some writers, name no type: the files in the folder of the segment
tell it.

Clauses: L.index.details.missing
"""

from __future__ import annotations

from lanceref.file.schema import Field
from lanceref.index.fm.fm import Fm
from lanceref.index.full_text.inverted import Inverted
from lanceref.index.index_type import Kind
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from lanceref.index.scalar.bitmap import Bitmap, LabelList
from lanceref.index.scalar.bloomfilter import BloomFilter
from lanceref.index.scalar.btree import BTree
from lanceref.index.scalar.json import JsonIndex
from lanceref.index.scalar.ngram import Ngram
from lanceref.index.scalar.rtree import RTree
from lanceref.index.scalar.zonemap import ZoneMap
from lanceref.index.segment import Segment
from lanceref.index.vector.vector_index import AUXILIARY, HEAD
from lanceref.index.vector.vector_kind import Vector

_SCALAR = (BTree, Bitmap, LabelList, Ngram, ZoneMap, BloomFilter)
KINDS: tuple[Kind, ...] = (*_SCALAR, Inverted, JsonIndex, Fm, Vector, MinHashLsh, RTree)
BY_NAME = {kind.name: kind for kind in KINDS}

BY_DETAILS = {kind.details.rpartition(".")[2].lower(): kind for kind in KINDS}
"""Type by the name of its details message, without the package and in lower case."""

BY_FILE: dict[str, Kind] = {
    "bitmap_page_lookup.lance": Bitmap,
    "metadata.lance": Inverted,
    "invert.lance": Inverted,
    "page_lookup.lance": BTree,
}
"""Type by a file that no type before it has."""


def kind_by_files(segment: Segment, field: Field) -> Kind | None:
    """Return the type of a segment by its files, None when they do not show it."""
    if segment.has(HEAD) and not segment.has(AUXILIARY):
        return Vector
    for path, kind in BY_FILE.items():
        if segment.has(path):
            is_list = field.logical_type in ("list", "large_list")
            return LabelList if is_list and kind is Bitmap else kind
    return None

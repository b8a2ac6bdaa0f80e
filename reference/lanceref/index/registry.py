"""The types of indices, by the names that users and manifests give them."""

from __future__ import annotations

from lanceref.index.fm.fm import FM
from lanceref.index.full_text.inverted import INVERTED
from lanceref.index.index_type import Kind
from lanceref.index.minhash.minhash_lsh import MINHASHLSH
from lanceref.index.scalar.bitmap import BITMAP
from lanceref.index.scalar.bloomfilter import BLOOMFILTER
from lanceref.index.scalar.btree import BTREE
from lanceref.index.scalar.json import JSON
from lanceref.index.scalar.label_list import LABEL_LIST
from lanceref.index.scalar.ngram import NGRAM
from lanceref.index.scalar.rtree import RTREE
from lanceref.index.scalar.zonemap import ZONEMAP
from lanceref.index.vector.vector_kind import VECTOR

KINDS: tuple[Kind, ...] = (
    BTREE,
    BITMAP,
    LABEL_LIST,
    NGRAM,
    ZONEMAP,
    BLOOMFILTER,
    INVERTED,
    JSON,
    FM,
    VECTOR,
    MINHASHLSH,
    RTREE,
)
"""Every type that is there."""

BY_NAME = {kind.name: kind for kind in KINDS}
"""Type by its name."""

BY_DETAILS = {kind.details.rpartition(".")[2].lower(): kind for kind in KINDS}
"""Type by the name of its details message, without the package and in lower case."""

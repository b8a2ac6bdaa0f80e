"""Cases of indices in files of 2.0, whose bytes lie plain: the parents of the damaged ones.

Their entries do not say how long the files are, so that a file may become longer.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.messages import descriptor, index
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.tables.indices import (
    BITMAP,
    BLOOMFILTER,
    BTREE,
    LABEL_LIST,
    ZONEMAP,
    search,
)
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.indices_text import TEXT, blocks, phrase, scores_of, text_case

TITLE = "files of 2.0, whose sizes nobody says"

NGRAM = Indexed(pa.array(["abcd"] * 12), "NGRAM")


def without_sizes(entry: IndexMetadata) -> None:
    """Let an entry not say how long its files are."""
    entry.ClearField("files")


def _plain(case: Positive, last: str = LAST) -> Positive:
    make = reworked(case.make, index(without_sizes, last))
    return replace(case, make=make, reachable=False)


def _early(table: Indexed) -> Indexed:
    return replace(table, version="2.0")


def _blocks(slug: str, clause: str, **parameters: object) -> Positive:
    """Return the case of a word in every document: its weight is near nothing, and not exact."""
    case = blocks(slug, TITLE, (clause,), asked="word", version="2.0", **parameters)
    return _plain(replace(case, tolerance="0.001"), "_versions/18446744073709551613.manifest")


_WORDS = scores_of("quick fox", 1, 10)


def _without_page_rows(message: FileDescriptor) -> None:
    del message.schema.metadata["batch_size"]


_DEFAULT = search("page-rows", "pages whose rows nobody counts have 4096", "c = 3", [0, 4, 10],
                  replace(BTREE, version="2.0", parameters={}),
                  ("L.index.btree.batch-size",))  # fmt: skip

_LOOKUP = "_indices/*/page_lookup.lance"

POSITIVES = (
    replace(_DEFAULT, reachable=False, make=reworked(
        _plain(_DEFAULT).make, descriptor(_without_page_rows, _LOOKUP))),
    _plain(search("plain", TITLE, "c >= 2 AND c < 9", [0, 3, 4, 5, 10, 11], _early(BTREE))),
    _plain(search("plain", TITLE, "c = 2 OR c = 3", [0, 4, 5, 10], _early(BITMAP))),
    _plain(search("plain", TITLE, "NOT array_has(c, 'a')", [1, 3, 4, 6, 8, 10],
                  _early(LABEL_LIST))),
    _plain(search("plain", TITLE, "contains(c, 'abc')", [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11],
                  _early(NGRAM))),
    _plain(search("plain", TITLE, "c IS NULL", [1, 6], _early(ZONEMAP))),
    _plain(search("plain", TITLE, "c = 3", [0, 4, 10], _early(BLOOMFILTER))),
    _plain(text_case("plain", TITLE, phrase("quick fox"), _WORDS, _early(TEXT),
                     ("L.index.fts.positions.offsets",))),
    _blocks("plain-blocks", "L.index.fts.posting.width"),
    _blocks("plain-256", "L.index.fts.posting.exception", block_size=256),
)  # fmt: skip

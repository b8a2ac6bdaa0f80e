"""Negative cases at the edge: the first number that is no longer allowed, in tables and indices."""

from __future__ import annotations

from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes.hand import words
from lance_conformance.recipes.messages import data_file, fragment, manifest, setting
from lance_conformance.recipes.model import Negative, Resize, SpanPatch
from lance_conformance.recipes.tables.edits import table_fault
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata, values
from lance_conformance.recipes.tables.faults_vectors import GRAPH, graph, levels
from lance_conformance.recipes.tables.faults_vectors_codes import PQ, SQ, stored

_ZONES, _NGRAM, _LOOKUP = "zonemap.lance", "ngram_postings.lance", "page_lookup.lance"
_BLOOM, _KEYS = "bloomfilter.lance", "bitmap_page_lookup.lance"
_PLAIN = "table/any/manifest/plain"

_TOKENS = 37**3
"""Tokens of three of 37 letters."""


def _first_level_less(offsets: list[int]) -> list[int]:
    return [offsets[0], offsets[1] - 1, *offsets[2:]]


def _first_level_later(offsets: list[int]) -> list[int]:
    return [1, *offsets[1:]]


_INDICES = (
    fault(GRAPH, "entry-behind", "a graph entered one after its last node",
          "L.index.vector.graph.entry", graph(entry_point=53)),
    fault(GRAPH, "levels-less", "a lowest level of one node less", "L.index.vector.graph.rows",
          levels(_first_level_less)),
    fault(GRAPH, "levels-first", "a lowest level without its first node",
          "L.index.vector.graph.levels", levels(_first_level_later)),
    fault("btree/plain", "page-behind", "a page one after the last", "L.index.btree.pages",
          values(_LOOKUP, "page_idx", b"\3", 8)),
    fault("ngram/plain", "token-behind", "the number one after the last token",
          "L.index.ngram.order",
          values(_NGRAM, "tokens", words(_TOKENS, width=4), 4)),
    fault("zonemap/plain", "zone-behind", "a zone that begins at row 2**32",
          "L.index.zones.order", values(_ZONES, "zone_start", words(2**32), 8)),
    fault("zonemap/plain", "zone-long", "a zone of 2**32 rows and one", "L.index.zones.order",
          values(_ZONES, "zone_length", words(2**32 + 1), 0)),
    fault("bloomfilter/plain", "fragment-behind", "a zone of fragment 2**32",
          "L.index.zones.order", values(_BLOOM, "fragment_id", words(2**32), 40)),
    fault(SQ, "bits-nine", "codes of nine bits", "L.index.vector.sq.bits", stored(num_bits=9)),
    fault(PQ, "bits-nine", "codes of nine bits", "L.index.vector.pq.bits", stored(nbits=9)),
    fault(PQ, "sub-vectors-more", "more sub-vectors than numbers",
          "L.index.vector.pq.sub-vectors", stored(num_sub_vectors=9)),
    lint("bitmap/plain", "statistics-more", "one key more than there are",
         "L.index.bitmap.statistics", metadata(_KEYS, "lance:index_stats", '{"num_bitmaps":8}')),
)  # fmt: skip


def _next_fragment(message: Manifest) -> None:
    message.fragments[0].id = message.max_fragment_id + 1


_TABLES = (
    table_fault(_PLAIN, "max-id-next", "a fragment one above max_fragment_id",
                "L.table.fragments.max-id", manifest(_next_fragment)),
    table_fault(_PLAIN, "rows-next", "one row less than the file has", "L.table.fragments.rows",
                fragment(lambda f: setting(physical_rows=f.physical_rows - 1)(f))),
    table_fault(_PLAIN, "index-next", "the column one after the last",
                "L.file.schema.num-columns",
                data_file(lambda f: f.column_indices.__setitem__(0, 1))),
    table_fault("table/any/deletions/bitmap-array", "deleted-next", "a row one after the last",
                "L.table.deletions.range",
                Resize(keep=0, append=words(12346, 1, width=4) + words(0, 1, width=2)
                       + words(16, width=4) + words(1, 5, width=2), target="_deletions/*.bin")),
    table_fault(_PLAIN, "section-next", "a manifest one byte shorter than it is",
                "L.table.manifest.message",
                SpanPatch(("manifest section", "length"),
                          lambda old: (int.from_bytes(old, "little") - 1).to_bytes(4, "little"),
                          target="_versions/*.manifest")),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_INDICES, *_TABLES)
"""Every negative case at an edge."""

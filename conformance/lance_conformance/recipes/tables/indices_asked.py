"""Cases of indices by what is asked: rows of a second fragment, a field of a struct, one row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
from lanceref.proto.file_pb2 import FileDescriptor

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import Indexed, create_index, made
from lance_conformance.recipes.messages import descriptor
from lance_conformance.recipes.model import Negative, Positive, SpanPatch
from lance_conformance.recipes.tables import indices_plain
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata, nulls, values
from lance_conformance.recipes.tables.faults_vectors import GRAPH
from lance_conformance.recipes.tables.indices import BITMAP, INTS, NGRAM, search
from lance_conformance.recipes.tables.indices_early import EARLY
from lance_conformance.recipes.tables.indices_rtree import POINTS
from lance_conformance.recipes.tables.indices_vectors import TYPES, case

_STABLE = Indexed(INTS, "BITMAP", {}, "2.2", stable_row_ids=True)

_BELOW = "s.a"


def _below(module: Any, uri: str) -> None:
    """Make a table whose index is over a field of a struct."""
    structs = pa.array([{"b": f"{one}", "a": one} for one in INTS.to_pylist()])
    table = pa.table({"id": pa.array(range(len(INTS)), pa.int64()), "s": structs})
    dataset = module.write_dataset(table, uri, data_storage_version="2.1")
    create_index(module, dataset, _BELOW, "BITMAP", {})


def _field() -> Positive:
    rows = [0, 4, 10]
    asked = search("below", "a field of a struct", f"{_BELOW} = 3", rows, BITMAP)
    return replace(asked, make=made(_below, pa.table({"id": pa.array(rows, pa.int64())})))


_MINUS = pa.array([-0.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, -0.0, 6.0])

_DOT = replace(TYPES["sq"], metric="dot", seed=4)


(_PLAIN,) = (one for one in indices_plain.POSITIVES if one.id.endswith("inverted/plain"))


def _may_be_null(message: FileDescriptor) -> None:
    message.schema.fields[0].nullable = True


POSITIVES: tuple[Positive, ...] = (
    replace(_PLAIN, id="index/any/inverted/nullable",
            title="fragments that are gone, which might be null by their field",
            make=reworked(_PLAIN.make, descriptor(_may_be_null, "_indices/*/metadata.lance"))),
    search("row-ids-second", "stable row ids of a second fragment", "c = 1", [2, 9], _STABLE),
    _field(),
    search("least-pages", "pages of two boxes", "st_intersects(c, "
           "'POLYGON((1 1,4 1,4 4,1 4,1 1))')", [3, 9, 10],
           Indexed(POINTS, "RTREE", {"page_size": 2}, "2.0", extension="geoarrow.wkb"),
           ("L.index.rtree.levels",)),
    search("repeated", "a letter that may be missing ends what every match holds",
           "regexp_match(c, 'apple*')", [0, 1, 10], NGRAM),
    search("words-some", "words of an index that drops nothing and changes some",
           "contains_tokens(c, 'dogs')", [3],
           Indexed(EARLY.values, "INVERTED",
                   {"remove_stop_words": False, "max_token_length": None}, "2.0"),
           ("L.index.fts.words",), used=False),
    search("minus-zero", "zero, of which a zone has the negative one alone", "c = 0", [0, 10],
           Indexed(_MINUS, "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01}),
           ("L.index.bloom.data",)),
    case("dot-one", "the one row that is nearest by the dot product of bytes", _DOT, true=1,
         nprobes=2),
)  # fmt: skip
"""Every positive case of what is asked."""

NEGATIVES: tuple[Negative, ...] = (
    fault("inverted/nullable", "deleted", "null in place of the fragments that are gone",
          "L.index.fts.deleted-fragments", nulls("metadata.lance", 0)),
    lint("ivf-flat/plain", "values-last", "another vector of the last row of all",
         "L.index.vector.flat.values", values("auxiliary.idx", "flat", b"\0\0\0\0", 79 * 32)),
    lint("label-list/plain", "statistics", "another number of items",
         "L.index.bitmap.statistics",
         metadata("bitmap_page_lookup.lance", "lance:index_stats", '{"num_bitmaps":9}')),
    fault("inverted/plain-256", "width-high", "frequencies of 33 bits",
          "L.index.fts.posting.exception",
          values("part_0_invert.lance", "_posting", b"\x21", 37, "bytes")),
    fault(GRAPH, "neighbour-next", "a neighbour one after the last node",
          "L.index.vector.graph.neighbours",
          SpanPatch(("field __neighbors", "items", "values"), b"\x35",
                    target="_indices/*/index.idx")),
    fault(GRAPH, "null-neighbours", "neighbours that are null", "L.index.vector.graph.null",
          nulls("index.idx", 2)),
    lint(GRAPH, "lengths", "an edge of another length", "L.index.vector.graph.lengths",
         SpanPatch(("field _distance", "items", "values"), b"\0\0\0\0",
                   target="_indices/*/index.idx")),
    lint("ivf-sq/plain", "row-id", "a row that the fragment does not have",
         "L.index.vector.row-id", values("auxiliary.idx", "_rowid", b"\xff")),
)  # fmt: skip
"""Every fault of them."""

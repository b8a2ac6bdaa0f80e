"""Cases of indices in corners: rows of one fragment, words that others begin with, rows that moved.

A reader that looks at the usual table alone does not meet them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
from lanceref.index.full_text.fst import Fst
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes import dictionaries
from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import COLUMN, INDEXED, Indexed, create_index, made
from lance_conformance.recipes.messages import descriptor, index
from lance_conformance.recipes.model import Negative, Positive, SpanPatch
from lance_conformance.recipes.scores import scores
from lance_conformance.recipes.tables import indices_vectors_life
from lance_conformance.recipes.tables.faults_indices import fault, lint, nulls, values
from lance_conformance.recipes.tables.faults_vectors import graph
from lance_conformance.recipes.tables.indices import BITMAP, BTREE, search
from lance_conformance.recipes.tables.indices_json import DOCUMENTS
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_rtree import RTREE
from lance_conformance.recipes.tables.indices_segments import LAST, and_then, compacted
from lance_conformance.recipes.tables.indices_text import match, text_case
from lance_conformance.recipes.tables.indices_vectors import ALL, TYPES, case
from lance_conformance.recipes.tables.indices_vectors_plain import LAST as LAST_OF_VECTORS
from lance_conformance.recipes.vectors import DIMENSION, Vectors
from lance_conformance.recipes.vectors import made as vectors_made

_LOW = pa.array([52, None, 1, 132, 3, 2, None, 5, 9, 1, 3, 8], pa.int32())
"""The hash of 52 ends with five bits 0."""


_WORDS = ("forth", "fort", None, "gnat", "mill", "mill", "", "mill", "mill", "forth", "mill", "x")

_WRITTEN = {0: ["forth"], 1: ["fort"], 3: ["gnat"], **{row: ["mill"] for row in (4, 5, 7, 8)},
            9: ["forth"], 10: ["mill"], 11: ["x"]}  # fmt: skip


def _in_one_fragment(module: Any, uri: str) -> None:
    """Make a table of one fragment, and an index of one path."""
    table = pa.table({"id": pa.array(range(len(DOCUMENTS)), pa.int64()), COLUMN: DOCUMENTS})
    dataset = module.write_dataset(table, uri, data_storage_version="2.0")
    parameters = {"path": "a", "target_index_type": "btree"}
    create_index(module, dataset, COLUMN, "JSON", parameters)


def _twice_appended(dataset: Any) -> None:
    """Append rows that the index does not cover, and write all anew."""
    rows = pa.table({"id": pa.array([12, 13], pa.int64()), COLUMN: pa.array([3, 4], pa.int32())})
    compacted(dataset.insert(rows) or dataset)


def _without_last(dataset: Any) -> None:
    """Delete what the index does not cover, and its last row; then write all anew."""
    dataset.delete("id >= 9")
    compacted(dataset)


def _one_fragment() -> Positive:
    rows = [0, 4, 10]
    case = search("one-fragment", "documents of one fragment", "json_get_int(c, 'a') = 3", rows,
                  Indexed(DOCUMENTS, "JSON", {}, "2.0"), ("L.index.json.details",))  # fmt: skip
    expected = pa.table({"id": pa.array(rows, pa.int64())})
    return replace(case, make=made(_in_one_fragment, expected))


POSITIVES: tuple[Positive, ...] = (
    search("low-bits", "a value whose hash ends with five bits 0", "c = 52", [0],
           Indexed(_LOW, "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01}),
           ("L.index.bloom.data",)),
    text_case("longer-first", "a word that begins another, which has a lower number",
              match("mill fort"), scores(_WRITTEN, ["mill", "fort"], (1, 4, 5, 8, 10), INDEXED),
              Indexed(pa.array(_WORDS), "INVERTED", {"stem": False}, "2.0"),
              ("L.index.fts.fst.node", "L.index.fts.score")),
    search("moved-beside-index", "rows moved with the index, and others beside it", "c = 3",
           [0, 4, 10, 12], and_then(BTREE, _twice_appended), ("L.index.reuse.applied",)),
    search("moved-without-last", "rows moved, but for the last of the index", "c > 2",
           [0, 3, 4, 8], and_then(BTREE, _without_last), ("L.index.reuse.applied",)),
)  # fmt: skip

_EARLY = next(one for one in indices_vectors_life.POSITIVES if one.id.endswith("ivf-pq/early-l2"))


def _untold(entry: IndexMetadata) -> None:
    entry.ClearField("index_details")


def _less(message: FileDescriptor) -> None:
    """Write blanks over the last text and its row; the bytes still have its end."""
    for name in ("row_ids", "doc_start_positions"):
        held = message.schema.metadata[name]
        message.schema.metadata[name] = held[:-16] + b" " * 16


def _has_dead_end(fst: Fst) -> bool:
    """Return whether a way ends at no token; `mill` is looked up without meeting it."""
    met: list[bool] = []

    def walk() -> None:
        left = [fst.root]
        while left:
            node = fst.node(left.pop())
            met.append(not node.final and not node.ways)
            left += [target for _, _, target in node.ways]

    return not dictionaries.refused_by(walk) and any(met) and fst.get(b"mill") == 3


_NOTHING = replace(BITMAP, version="2.0")


def _no_rows(module: Any, uri: str) -> None:
    """Make an index before there are rows."""
    table = _NOTHING.table
    dataset = module.write_dataset(table.slice(0, 0), uri, data_storage_version="2.0")
    create_index(module, dataset, COLUMN, _NOTHING.type, _NOTHING.parameters)
    module.write_dataset(table, uri, mode="append")


_OF_NONE = search("of-no-rows", "an index of no rows, beside some that came later", "c = 3",
                  [0, 4, 10], _NOTHING)  # fmt: skip

_ONE_LEVEL = replace(TYPES["hnsw-flat"], version="2.0", seed=13, rows=24,
                     parameters={"m": 4, "ef_construction": 40, "max_level": 1})  # fmt: skip

_LEVEL = case("one-level", "graphs of one level", _ONE_LEVEL, ("L.index.vector.graph.sequence",),
              true=ALL, nprobes=2, ef=ALL)  # fmt: skip

_MAYBE = search("nullable", "a set of rows that might be null by its field", "c IS NULL", [2, 11],
                RTREE)  # fmt: skip


def _may_be_null(message: FileDescriptor) -> None:
    message.schema.fields[0].nullable = True


_NULLS = reworked(_MAYBE.make, index(without_sizes, LAST),
                  descriptor(_may_be_null, "_indices/*/nulls.lance"))  # fmt: skip


def _append_a_hole(dataset: Any) -> None:
    """Append a vector of bytes of which one is null."""
    numbers = pa.array([[None, *range(40, 47)]], pa.list_(pa.uint8(), DIMENSION))
    dataset.insert(pa.table({"id": pa.array([24], pa.int64()), "v": numbers}))


_HOLED = Vectors("IVF_FLAT", "hamming", "u1", seed=15, rows=24, afterwards=_append_a_hole)
_EVERY = _HOLED.asked(k=ALL, nprobes=2)

_VECTORS = (
    replace(case("hole", "bytes of which one is null, in no index", _HOLED, nprobes=2),
            make=vectors_made(_HOLED, _EVERY, None, by="oracle"), args=_EVERY),
    case("one-partition", "one partition; how many to look at is not told",
         replace(TYPES["flat"], parameters={"num_partitions": 1}, seed=14), true=5),
    replace(_LEVEL, make=reworked(_LEVEL.make, index(without_sizes, LAST_OF_VECTORS)),
            reachable=False),
)  # fmt: skip

POSITIVES = (
    *POSITIVES,
    *_VECTORS,
    replace(_MAYBE, make=_NULLS, reachable=False),
    replace(_OF_NONE, facts={},
            make=made(_no_rows, pa.table({"id": pa.array([0, 4, 10], pa.int64())}))),
    _one_fragment(),
    replace(_EARLY, id=f"{_EARLY.id}-untold", reachable=False,
            title="a single file of early releases, in an entry that does not tell its type",
            make=reworked(_EARLY.make, index(_untold, LAST_OF_VECTORS))),
)  # fmt: skip
"""Every positive case of an index in a corner."""

_POSTINGS = "part_0_invert.lance"

_FREQUENCIES = 37
"""Where the frequencies of the first block begin: their width, exceptions, packed numbers."""


def _exceptions(*, long: int, short: int, first: bytes = b"") -> bytes:
    """Return exceptions of six bytes and of two; the first one may be given."""
    numbers = [first or b"\x80\x80\x80\x80\x01", *[b"\x80\x80\x80\x80\x01"] * (long - 1)]
    numbers += [b"\1"] * short
    return b"".join(bytes([200 - place]) + one for place, one in enumerate(numbers))


def _patched(width: int, exceptions: bytes, count: int) -> SpanPatch:
    new = bytes([width, count]) + b"\xff" * (32 * width) + exceptions
    return values(_POSTINGS, "_posting", new, _FREQUENCIES, "bytes")


NEGATIVES: tuple[Negative, ...] = (
    fault("inverted/plain-256", "varint-next", "2**32 above a frequency", "L.index.fts.varint",
          _patched(2, _exceptions(long=5, short=2, first=b"\x80\x80\x80\x80\x10"), 7)),
    fault("inverted/plain-256", "width-none", "frequencies of no bits, but for some",
          "L.index.fts.posting.frequency", _patched(0, _exceptions(long=12, short=13), 25)),
    lint("rtree/nullable", "no-nulls", "null in place of the set of rows that are",
         "L.index.rtree.nulls", nulls("nulls.lance", 0)),
    fault("fm/plain", "text-less", "one text less than the bytes have ends", "L.index.fm.texts",
          descriptor(_less, "_indices/*/part_0_fm.lance")),
    lint("inverted/longer-first", "dead-end", "letters that lead to no token",
         "L.index.fts.fst.node",
         SpanPatch(("field _token_fst_bytes", "bytes"),
                   partial(dictionaries.changed, is_wanted=_has_dead_end),
                   target="_indices/*/part_0_tokens.lance")),
    lint("ivf-hnsw-flat/one-level", "one-neighbour", "nodes that may have one neighbour",
         "L.index.vector.graph.sequence",
         graph(params={"m": 1, "ef_construction": 40, "max_level": 1})),
    lint("btree/plain", "page-past", "a page that begins after all rows", "L.index.btree.pages",
         values("page_lookup.lance", "page_idx", b"\5", 8)),
)  # fmt: skip
"""Every fault of an index in a corner."""

"""Cases of indices at the edge: nothing in them, the last row, numbers off by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from lanceref.proto.table_pb2 import IndexMetadata

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.indexed import IN_FILE, Indexed
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import Made, Negative, Positive, SpanPatch
from lance_conformance.recipes.tables import indices_vectors_plain
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata
from lance_conformance.recipes.tables.faults_vectors import GRAPH, graph, texts
from lance_conformance.recipes.tables.faults_vectors_codes import PQ, SQ, stored
from lance_conformance.recipes.tables.indices import search
from lance_conformance.recipes.tables.indices_plain import without_sizes
from lance_conformance.recipes.tables.indices_rtree import points
from lance_conformance.recipes.tables.indices_segments import LAST
from lance_conformance.recipes.tables.indices_vectors import ALL, CLAUSES, TYPES, case
from lance_conformance.recipes.tables.indices_vectors_plain import LAST as LAST_OF_VECTORS
from lance_conformance.recipes.vectors import made

_NONE = pa.array([None] * 12, pa.utf8())

_NO_TEXT = search("of-nulls", "no text at all, and samples of each byte", "contains(c, 'an')", [],
                  Indexed(_NONE, "FM", {}, "2.0"), ("L.index.fm.samples",))  # fmt: skip


def _every_byte() -> Made:
    """Say that each byte of no text has a sample."""
    file = "part_0_fm.lance"
    held = reworked(_NO_TEXT.make, metadata(file, "sa_sample_rate", "1"))()
    (size,) = (len(data) for name, data in held.files.items() if name.endswith(file))

    def resize(entry: IndexMetadata) -> None:
        entry.files[0].size_bytes = size

    return reworked(lambda: held, index(resize, LAST))()


_SCALAR = (
    replace(_NO_TEXT, reachable=False, make=_every_byte),
    search("of-nulls", "no point at all", "c IS NULL", [*range(7), *range(8, 12)],
           Indexed(points([None] * 12), "RTREE", {"page_size": 4}, "2.0",
                   extension="geoarrow.wkb"), ("L.index.rtree.levels",)),
)  # fmt: skip

_RANGED = replace(TYPES["rq-5"], seed=4)
_FEW = _RANGED.asked(k=5, nprobes=2, range=["30.5", "400"])

_VECTORS = (
    case("one-sub-vector", "codes of whole vectors",
         replace(TYPES["pq"], parameters={"num_sub_vectors": 1}, rows=260, seed=5), nprobes=2),
    replace(case("5-range", "the nearest rows after a distance", _RANGED,
                 (*CLAUSES, "L.index.vector.search.range"), nprobes=2, range=["30.5", "400"]),
            make=made(_RANGED, _FEW, None, by="oracle"), args=_FEW),
)  # fmt: skip

_SQ_CODE = ("field __sq_code", "values")


def _further(by: int) -> Callable[[bytes], bytes]:
    """Return what moves the first code towards the middle."""
    return lambda old: bytes([old[0] + (by if old[0] < 128 else -by)]) + old[1:]


def _codes(by: int) -> SpanPatch:
    return SpanPatch(_SQ_CODE, _further(by), target="_indices/*/auxiliary.idx")


(_SQ,) = (one for one in indices_vectors_plain.POSITIVES if one.index == "IVF_SQ")

_NEAR = replace(_SQ, id="index/any/ivf-sq/code-one",
                title="a code that is one from that of its number",
                make=reworked(_SQ.make, _codes(1)))  # fmt: skip

_FEW_VECTORS = replace(TYPES["hnsw-flat"], version="2.0", seed=13, rows=24)
_FEW_NODES = case("few", "graphs in which each node is a neighbour of most", _FEW_VECTORS,
                  ("L.index.vector.graph.degree",), true=ALL, nprobes=2, ef=ALL)  # fmt: skip
_UNSIZED = reworked(_FEW_NODES.make, index(without_sizes, LAST_OF_VECTORS))
_FEW_NODES = replace(_FEW_NODES, reachable=False, make=_UNSIZED)

POSITIVES: tuple[Positive, ...] = (*_SCALAR, *_VECTORS, _NEAR, _FEW_NODES)
"""Every positive case of an index at an edge."""


def _exchanged(old: bytes) -> bytes:
    """Exchange the first row id and the last."""
    return old[-8:] + old[8:-8] + old[:8]


def _without_last(old: bytes) -> bytes:
    """Put a row that is not there in place of the last one."""
    ids = np.frombuffer(old, "<u8").copy()
    ids[ids.argmax()] = IN_FILE
    return ids.tobytes()


def _without_levels(graphs: list[str]) -> list[str]:
    """Say that no graph may have a level."""
    parameters = {"m": 4, "ef_construction": 40, "max_level": 0}
    return [json.dumps({**json.loads(one), "params": parameters}) for one in graphs]


NEGATIVES: tuple[Negative, ...] = (
    lint("btree/plain", "last", "the last row that the index covers is not in it",
         "L.index.segment.complete",
         SpanPatch(("field ids", "values"), _without_last, target="_indices/*/page_data.lance")),
    lint(GRAPH, "no-levels", "graphs of no levels", "L.index.vector.graph.sequence",
         texts(_without_levels, "lance:hnsw")),
    lint(GRAPH, "widest", "as many levels as a number can say", "L.index.vector.graph.sequence",
         graph(params={"m": 4, "ef_construction": 40, "max_level": 2**16 - 1})),
    lint("ivf-hnsw-flat/few", "degree-next", "nodes of some neighbours more than m allows",
         "L.index.vector.graph.degree",
         graph(params={"m": 3, "ef_construction": 40, "max_level": 7})),
    lint(SQ, "code-two", "a code that is two from that of its number", "L.index.vector.sq.code",
         _codes(2)),
    lint(PQ, "assignment", "codes of a vector that is nearer to the other centroid",
         "L.index.vector.assignment",
         SpanPatch(("field _rowid", "values"), _exchanged, target="_indices/*/auxiliary.idx")),
    fault(PQ, "octet", "a codebook with a number that is no byte", "L.index.vector.pq.metadata",
          stored(codebook_position=0, codebook_tensor=[256, 0])),
)  # fmt: skip
"""Every fault of an index at an edge."""

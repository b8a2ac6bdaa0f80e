"""Cases of IVF indices of whole vectors, and those that every type of vector index has.

A search of all partitions for more rows than there are says how far each row is. By vectors
themselves that is computed in float64; by codes it is what the oracle says, whoever wrote the
index. Then the nearest ones, compared by their vectors, must be the true ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.proto.index_pb2 import Tensor

from lance_conformance.recipes import vectors as vector_tables
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import HEAD, THERE, metadata, metadata_text
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import THIRD, index, partitions, zeros
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.model import Recipe, Remove, Request, SpanPatch
from lance_conformance.recipes.vectors import COLUMN, DIMENSION, TYPES, Numbers, Vectors, nearest


def _append_a_hole(dataset: Any) -> None:
    """Append a vector of bytes of which one is null."""
    numbers = pa.array([[None, *range(40, 47)]], pa.list_(pa.uint8(), DIMENSION))
    dataset.insert(pa.table({"id": pa.array([24], pa.int64()), "v": numbers}))


_HOLED = Vectors("IVF_FLAT", "hamming", "u1", seed=15, rows=24, afterwards=_append_a_hole)
_EVERY = _HOLED.request(k=vector_tables.ALL, nprobes=2)
_RANGED = Vectors("IVF_FLAT", "hamming", "u1", seed=18, rows=40)
_BETWEEN = _RANGED.request(k=40, nprobes=2, range=["28", "32"])
_FAR = (100, 102, 104, 106, 108, 110, 130, 140)
"""Squares of how far the centroids are from the query, each along an axis of its own."""

_AS_FAR = 6
"""So many of them are about as near as the first."""


def _centroids() -> Numbers:
    return np.diag(np.sqrt(_FAR)).astype("f4")


def _spread(_: Numbers) -> Numbers:
    """Return eight partitions around the query: six of one row, the nearest row in the next."""
    centroids = _centroids()
    rows = [*centroids[:_AS_FAR], *[centroids[7]] * 5, *[centroids[6]] * 4]
    near = np.zeros((1, DIMENSION))
    near[0, 6] = 2
    return np.concatenate([rows, near, np.zeros((1, DIMENSION))]).astype("f4")


_APART = Vectors("IVF_FLAT", rows=16, version="2.0", moved=_spread,
    parameters={"num_partitions": len(_FAR), "ivf_centroids": _centroids()})  # fmt: skip

_ENOUGH = _APART.request(k=_AS_FAR)
_MORE = _APART.request(k=_AS_FAR + 1)


def _tiny(longer: Numbers) -> Numbers:
    """Return vectors so short that numbers next to them are far from one."""
    return (longer.astype(np.float64) / 16384).astype(longer.dtype)


class _TwoColumns(Vectors):
    """Vectors, and longer ones in another column."""

    __slots__ = ()

    @property
    def table(self) -> pa.Table:
        """The rows, by a number each."""
        return super().table.append_column(
            "w", vector_tables.lists(vector_tables.numbers("f4", self.rows, 2, 12))
        )


_TWO_COLUMNS = _TwoColumns("IVF_FLAT", rows=24, version="2.0", seed=21)
_BITS = replace(TYPES["flat"], metric="hamming", element="u1", version="2.0", seed=4)
_NEXT = nearest(_BITS, by="reference", true=1, others={"filter": {"sql": "id = 2"}})


def _of(row: int) -> pa.Table:
    """Return how far a row is."""
    distance = vector_tables.distances_to(_BITS.values[row : row + 1], _BITS.query, _BITS.metric)
    return pa.table({"id": [row], "_distance": distance.astype(np.float32)})


_CENTROIDS: Numbers = np.array([[-2.0] * DIMENSION, [2.0] * DIMENSION], "f4")
"""Two places that vectors are near to."""

_CODEBOOK: Numbers = vector_tables.numbers("f4", 4 * 16, 2, 2).reshape(4, 16, 2)
"""Codewords of four sub-vectors."""

_METRICS = ("l2", "cosine", "dot")
_KINDS = {
    "oracle": tuple((metric, element) for metric in _METRICS for element in ("f2", "f4", "f8")),
    "reference": (("l2", "f4"), ("cosine", "f2"), ("dot", "f8")),
}
_OF_BYTES = (("hamming", "u1"),)


def _folder(name: str, by: str) -> str:
    """Return what the ids of a type begin with, by who wrote the index."""
    return f"index/any/{TYPES[name].topic}/{'own-' if by == 'reference' else ''}"


def _bits(name: str) -> str:
    """Return what the ids of a type name besides, where two types share a folder."""
    return "5-" if name == "rq-5" else ""


def _every_row(name: str, metric: str, element: str, by: str) -> Request:
    vectors = replace(TYPES[name], metric=metric, element=element, seed=DIMENSION)
    graph: dict[str, Any] = {"ef": vector_tables.ALL} if "HNSW" in vectors.type else {}
    tolerance = "0.005" if element == "f2" else "0.001"
    return nearest(vectors, by=by, nprobes=2, tolerance=tolerance, **graph)


def _refined(name: str, metric: str, by: str) -> Request:
    vectors = replace(TYPES[name], metric=metric, appended=6, seed=3)
    return nearest(vectors, by=by, true=5, nprobes=2, refine=20)


def _parts(dataset: Any, vectors: Vectors) -> Sequence[Any]:
    """Build a segment over each of two fragments, with the same centroids."""
    parameters = {"ivf_centroids": _CENTROIDS, "num_partitions": 2, **vectors.parameters}
    if vectors.type == "IVF_PQ":
        parameters["pq_codebook"] = _CODEBOOK
    make = dataset.create_index_uncommitted
    kind, metric = vectors.type, vectors.metric
    return [make(COLUMN, kind, metric=metric, fragment_ids=[n], **parameters) for n in range(2)]


def _side_by_side(vectors: Vectors, *, is_merged: bool = False) -> Callable[[Any, Any], object]:
    """Return what makes an index of two segments, or of one that was merged of two."""

    def build(module: Any, dataset: Any) -> None:
        parts = _parts(dataset, vectors)
        if is_merged:
            parts = [dataset.merge_existing_index_segments(parts)]
        dataset.commit_existing_index_segments(f"{COLUMN}_idx", COLUMN, parts)

    return build


_merged = partial(_side_by_side, is_merged=True)


def _changed(
    name: str, how: Callable[[Vectors], Any] | None, changes: Mapping[str, Any]
) -> Vectors:
    vectors = replace(TYPES[name], seed=11, **changes)
    return vectors if how is None else replace(vectors, build=how(vectors))


_ADDED = {"appended": 6, "afterwards": lambda dataset: dataset.optimize.optimize_indices(
        num_indices_to_merge=1)}  # fmt: skip
_MOVED = {"afterwards": lambda dataset: dataset.optimize.compact_files(
        target_rows_per_fragment=vector_tables.ALL)}  # fmt: skip
_STABLE = {"stable_row_ids": True}

_LIVES: tuple[tuple[str, str, str, Any, Mapping[str, Any]], ...] = (
    ("side-by-side", "two segments, each of one fragment", "flat", _side_by_side, {}),
    ("side-by-side", "two segments with one codebook", "pq", _side_by_side, {}),
    ("merged", "a segment that was merged of two", "flat", _merged, {}),
    ("merged", "codes row by row, merged, then by columns", "pq", _merged, {}),
    ("optimized", "rows that were appended, in the segment of the others", "flat", None, _ADDED),
    ("optimized", "bytes that were kept, and new ones", "sq", None, _ADDED),
    ("optimized", "a graph over old rows and new ones", "hnsw-flat", None, _ADDED),
    ("moved", "rows that were written anew: their addresses are others", "flat", None, _MOVED),
    ("moved", "codes of rows that were written anew", "rq-5", None, _MOVED),
    ("row-ids", "stable row ids", "flat", None, _STABLE),
    ("row-ids", "stable row ids of codes", "rq", None, _STABLE),
    ("next", "files of 2.2", "sq", None, {"version": "2.2"}),
    ("next", "files of 2.2", "hnsw-pq", None, {"version": "2.2"}),
)
"""Slug, title, type, how the index is built, and what else is changed."""


def _of_pq(metric: str, parameters: Mapping[str, object], by: str) -> Request:
    changed = replace(
        TYPES["pq"], metric=metric, parameters=parameters, rows=vector_tables.MIN_ROWS, seed=5
    )
    clauses = () if parameters is vector_tables.EARLY else vector_tables.SEARCH_CLAUSES
    return nearest(changed, by=by, clauses=clauses, nprobes=2)


_BY = ("oracle", "reference")


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-flat/hole", "bytes of which one is null, in no index",
        vector_tables.oracle_search(_HOLED, _EVERY, nprobes=2)),
    case("index/any/ivf-flat/one-partition", "one partition; how many to look at is not told",
        nearest(replace(TYPES["flat"], parameters={"num_partitions": 1}, seed=14), true=5)),
    case("index/any/ivf-flat/range-ends", "rows as far away as a range begins, and as it ends",
        "L.index.vector.search.range",
        vector_tables.oracle_search(_RANGED, _BETWEEN, nprobes=2, range=["28", "32"])),
    case("index/any/ivf-flat/just-enough", "as many rows in the nearest partitions as are wanted",
        "L.index.vector.search.first", vector_tables.oracle_search(_APART, _ENOUGH)),
    case("index/any/ivf-flat/one-more", "one row more than the nearest partitions have",
        "L.index.vector.search.first", vector_tables.oracle_search(_APART, _MORE)),
    case("index/any/ivf-flat/rounded", "a vector of length one, off by very little",
        "L.index.vector.flat.values",
        edited(vector_tables.exact("flat", metric="cosine"), index_files.values("auxiliary.idx",
                "flat", lambda old: bytes([old[0] ^ 64]) + old[1:]))),
    case("index/any/ivf-flat/beside", "a column of longer vectors beside the one with the index",
        "L.index.vector.column-type", nearest(_TWO_COLUMNS, nprobes=2)),
    lint("column", "an index that is said to be over longer vectors", "L.index.vector.column-type",
        index({"fields.0": 2}, THIRD)),
    case("index/any/ivf-flat/tiny", "vectors of tiny numbers",
        nearest(Vectors("IVF_FLAT", version="2.0", moved=_tiny), nprobes=2)),
    lint("values", "a number that is off by little, and far for its vector",
        "L.index.vector.flat.values",
        index_files.values("auxiliary.idx", "flat", b"\x00\x00\x00\x00")),
    case("index/any/ivf-flat/own-next",
        "a row of the partition after the nearest, where that has none",
        replace(_NEXT, make=vector_tables.made(_BITS, _NEXT.args, _of(2), by="reference"))),
    case("index/any/ivf-flat/range", "rows between two distances", "L.index.vector.search.range",
        nearest(replace(TYPES["flat"], seed=4), nprobes=2, range=["30.5", "120"])),
    case("index/any/ivf-flat/filtered", "rows that a filter passes", nearest(
            replace(TYPES["flat"], seed=4), others={"filter": {"sql": "id % 3 = 1"}}, nprobes=2)),
    case("index/any/ivf-flat/several", "rows of two vectors: of each asked the nearest counts",
        "L.index.vector.search.several",
        nearest(replace(TYPES["flat"], seed=4, each=2, metric="cosine"), nprobes=2)),
    case("index/any/ivf-flat/plain", "files of 2.0, whose sizes nobody says",
        "L.index.vector.assignment", vector_tables.exact("flat")),
    fault("head-list", "a head that is a list", "L.index.vector.metadata",
        metadata(HEAD, "lance:index", "[]")),
    fault("head-number", "a type that is a number", "L.index.vector.head.type",
        metadata(HEAD, "lance:index", '{"type":1,"distance_type":"l2"}')),
    fault("centroids-shape", "centroids in one row", "L.index.vector.tensor.shape",
        index_files.centroids({"shape": [16]})),
    fault("centroids-none", "no centroid", "L.index.vector.ivf.centroids",
        index_files.centroids({"shape.0": 0, "data": b""})),
    fault("position-word", "partitions in buffer x", "L.index.files.metadata",
        metadata(HEAD, "lance:ivf", "x")),
    fault("position-far", "partitions in buffer 7", "L.index.files.buffer",
        metadata(HEAD, "lance:ivf", "7")),
    lint("hamming", "floats by a metric of bytes", "L.index.vector.auxiliary.metric",
        metadata_text(HEAD, "lance:index", lambda old: old.replace('"l2"', '"hamming"')),
        also="L.index.vector.column"),
    fault("gone", "the file of the vectors is missing", "L.index.segment.files",
        Remove("_indices/*/auxiliary.idx")),
    fault("json", "what is said of the index is no JSON", "L.index.vector.metadata",
        metadata(HEAD, "lance:index", "{")),
    fault("texts-empty", "an empty text in place of a list", "L.index.vector.metadata",
        metadata(HEAD, "lance:flat", "")),
    fault("objects", "an object in place of a text", "L.index.vector.metadata",
        metadata_text("auxiliary.idx", "storage_metadata", lambda old: f"[{json.loads(old)[0]}]")),
    fault("unsaid", "nothing says what the index is", "L.index.files.metadata",
        metadata(HEAD, "lance:index", None)),
    fault("partitions-unsaid", "nothing says where the partitions are", "L.index.files.metadata",
        metadata("auxiliary.idx", "lance:ivf", None)),
    fault("descriptor", "the descriptor in place of the partitions", "L.index.files.buffer",
        metadata(HEAD, "lance:ivf", "0")),
    fault("column", "the vectors have another name", "L.index.files.column",
        index_files.renamed("auxiliary.idx", "flat")),
    fault("type", "a type that none has", "L.index.vector.head.type",
        index_files.head(type="IVF_HNSW")),
    fault("metric", "a metric that none has", "L.index.vector.head.metric",
        index_files.head(distance_type="l3")),
    fault("texts", "a text for one of two partitions", "L.index.vector.head.texts",
        index_files.texts(lambda held: held[:1])),
    fault("other-metric", "the vectors are those of another metric",
        "L.index.vector.auxiliary.metric", metadata("auxiliary.idx", "distance_type", "dot")),
    fault("partitions", "rows of one of two partitions", "L.index.vector.auxiliary.partitions",
        partitions({"lengths.1": None, "offsets.1": None}, THERE)),
    fault("storages", "two storages", "L.index.vector.auxiliary.storage",
        metadata_text("auxiliary.idx", "storage_metadata",
            lambda old: json.dumps(json.loads(old) * 2))),
    fault("storage-unsaid", "no storage", "L.index.vector.auxiliary.storage",
        metadata("auxiliary.idx", "storage_metadata", "[]")),
    fault("null", "row ids that are null", "L.index.vector.columns.null",
        index_files.nulls("auxiliary.idx", 0)),
    fault("row-id", "a row that the fragment does not have", "L.index.vector.row-id",
        index_files.values("auxiliary.idx", "_rowid", b"\xff")),
    lint("details", "details that do not parse", "L.index.vector.details",
        index({"index_details.value": b"\xff"}, THIRD)),
    fault("dimension", "vectors of another length", "L.index.vector.flat.dimension",
        metadata("auxiliary.idx", "storage_metadata", '["{\\"dim\\":4}"]')),
    lint("values", "a vector of no row", "L.index.vector.flat.values",
        index_files.values("auxiliary.idx", "flat", b"\x00\x00\x00\x00", 4)),
    lint("not-finite", "a vector with NaN", "L.index.vector.rows.left-out",
        index_files.values("auxiliary.idx", "flat", b"\x00\x00\xc0\x7f", 8)),
    lint("assignment", "a vector that is nearer to the other centroid", "L.index.vector.assignment",
        index_files.values("auxiliary.idx", "flat", lambda old: old[-32:] + old[32:])),
    fault("tensor-shape", "centroids of three sizes", "L.index.vector.tensor.shape",
        index_files.centroids({"shape": [2, 2, 4]})),
    fault("tensor-type", "centroids of a type that none has", "L.index.vector.tensor.type",
        index_files.centroids({"data_type": Tensor.BFLOAT16})),
    fault("tensor-size", "centroids that end early", "L.index.vector.tensor.size",
        index_files.centroids({"data": lambda old: old[:-4]})),
    fault("centroids", "partitions without centroids", "L.index.vector.ivf.centroids",
        partitions({"centroids_tensor": None}, f"_indices/*/{HEAD}")),
    fault("offsets", "one offset, two lengths", "L.index.vector.ivf.lengths",
        partitions({"offsets.1": None}, THERE)),
    fault("more-rows", "partitions of more rows than there are", "L.index.vector.ivf.rows",
        partitions({"lengths.0": lambda old: old + 1}, THERE)),
    fault("fewer-rows", "a row in no partition", "L.index.vector.ivf.rows",
        partitions({"lengths.-1": lambda old: old - 1}, THERE)),
    fault("overlap", "partitions that overlap", "L.index.vector.ivf.rows",
        partitions({"offsets.1": lambda old: old - 1}, THERE)),
    lint("values-last", "another vector of the last row of all", "L.index.vector.flat.values",
        index_files.values("auxiliary.idx", "flat", b"\x00\x00\x00\x00", 79 * 32)),
    lint("padding", "padding of a file beside that is not what is stated", "L.file.padding.value",
        SpanPatch(("padding",), zeros, target="_indices/*/auxiliary.idx")),
    case("index/any/ivf-flat/plain-12", "files of 2.0, whose sizes nobody says",
        vector_tables.exact("flat", dimension=12)),
    fault("dimension", "vectors of twelve numbers", "L.index.vector.rq.dimension",
        index_files.head(type="IVF_RQ")),
    *(case(f"{_folder(name, by)}{_bits(name)}{metric}-{element}",
            f"every row by {metric} of {element}", _every_row(name, metric, element, by)) for by,
        kinds in _KINDS.items() for name, vectors in TYPES.items() for metric,
        element in (*kinds, *(_OF_BYTES if vectors.type.endswith("_FLAT") else ()))),
    *(case(f"{_folder(name, by)}{_bits(name)}{metric}-refined",
            f"the nearest by {metric}, compared by their vectors; some are in no index",
            "L.index.vector.search.unindexed", _refined(name, metric, by)) for by, metrics in
        (("oracle", _METRICS), ("reference", ("l2",))) for name in TYPES for metric in metrics),
    *(case(f"{_folder(name, by)}{slug}", title,
            nearest(_changed(name, how, changes), by=by, nprobes=2)) for by in _BY for slug, title,
        name, how, changes in _LIVES),
    *(case(f"{_folder('pq', by)}8-{metric}", f"codes of eight bits, by {metric}",
            _of_pq(metric, {"num_sub_vectors": 4}, by)) for metric in _METRICS for by in _BY),
    *(case(f"{_folder('pq', by)}early-{metric}", f"a single file of early releases, by {metric}",
            ("L.index.vector.search.order", "L.index.vector.single.message"),
            _of_pq(metric, vector_tables.EARLY, by)) for metric in _METRICS for by in _BY),
)  # fmt: skip

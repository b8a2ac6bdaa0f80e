"""Cases of IVF indices of whole vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.proto.index_pb2 import Tensor

from lance_conformance.recipes.cases.index.index_files import (
    HEAD,
    THERE,
    centroids,
    head,
    metadata,
    metadata_text,
    nulls,
    renamed,
    texts,
    values,
)
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import THIRD, index, partitions, zeros
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.model import Recipe, Remove, SpanPatch
from lance_conformance.recipes.vectors import (
    ALL,
    DIMENSION,
    NEAREST,
    PLAIN,
    TYPES,
    Numbers,
    Vectors,
    answered_as,
    far,
    lists,
    nearest,
    numbers,
    plain,
)
from lance_conformance.recipes.vectors import made as vectors_made


def _append_a_hole(dataset: Any) -> None:
    """Append a vector of bytes of which one is null."""
    numbers = pa.array([[None, *range(40, 47)]], pa.list_(pa.uint8(), DIMENSION))
    dataset.insert(pa.table({"id": pa.array([24], pa.int64()), "v": numbers}))


_HOLED = Vectors("IVF_FLAT", "hamming", "u1", seed=15, rows=24, afterwards=_append_a_hole)
_EVERY = _HOLED.asked(k=ALL, nprobes=2)
_RANGED = Vectors("IVF_FLAT", "hamming", "u1", seed=18, rows=40)
_BETWEEN = _RANGED.asked(k=40, nprobes=2, range=["28", "32"])
_FAR = (100, 102, 104, 106, 108, 110, 130, 140)
"""Squares of how far the centroids are from the query, each along an axis of its own."""

_AS_FAR = 6
"""So many of them are about as near as the first."""


def _centroids() -> Numbers:
    return np.diag(np.sqrt(_FAR)).astype("f4")


class _Spread(Vectors):
    """Eight partitions around the query: six of one row, and the nearest row in the next one."""

    @property
    def values(self) -> Numbers:
        """The rows, of which one lies far from its centroid, and the query."""
        centroids = _centroids()
        rows = [*centroids[:_AS_FAR], *[centroids[7]] * 5, *[centroids[6]] * 4]
        near = np.zeros((1, DIMENSION))
        near[0, 6] = 2
        return np.concatenate([rows, near, np.zeros((1, DIMENSION))]).astype("f4")


_APART = _Spread(
    "IVF_FLAT",
    rows=16,
    version="2.0",
    parameters={"num_partitions": len(_FAR), "ivf_centroids": _centroids()},
)

_ENOUGH = _APART.asked(k=_AS_FAR)
_MORE = _APART.asked(k=_AS_FAR + 1)


class _Tiny(Vectors):
    """Vectors so short that numbers next to them are far from one."""

    __slots__ = ()

    @property
    def values(self) -> Numbers:
        """All vectors, those of a row one after the other; the last one is the query."""
        longer = super().values
        shorter: Numbers = (longer.astype(np.float64) / 16384).astype(longer.dtype)
        return shorter


class _Beside(Vectors):
    """Vectors, and longer ones in another column."""

    __slots__ = ()

    @property
    def table(self) -> pa.Table:
        """The rows, by a number each."""
        return super().table.append_column("w", lists(numbers("f4", self.rows, 2, 12)))


_BESIDE = _Beside("IVF_FLAT", rows=24, version="2.0", seed=21)

_BITS = replace(TYPES["flat"], metric="hamming", element="u1", version="2.0", seed=4)


_NEXT = nearest(_BITS, by="reference", true=1, others={"filter": {"sql": "id = 2"}})


def _of(row: int) -> pa.Table:
    """Return how far a row is."""
    distance = far(_BITS.values[row : row + 1], _BITS.query, _BITS.metric)
    return pa.table({"id": [row], "_distance": distance.astype(np.float32)})


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-flat/hole", "bytes of which one is null, in no index", NEAREST,
        answered_as(_HOLED, _EVERY, nprobes=2)),
    case("index/any/ivf-flat/one-partition", "one partition; how many to look at is not told",
        NEAREST,
        nearest(replace(TYPES["flat"], parameters={"num_partitions": 1}, seed=14), true=5)),
    case("index/any/ivf-flat/range-ends", "rows as far away as a range begins, and as it ends",
        (*NEAREST, "L.index.vector.search.range"),
        answered_as(_RANGED, _BETWEEN, nprobes=2, range=["28", "32"])),
    case("index/any/ivf-flat/just-enough", "as many rows in the nearest partitions as are wanted",
        (*NEAREST, "L.index.vector.search.first"), answered_as(_APART, _ENOUGH)),
    case("index/any/ivf-flat/one-more", "one row more than the nearest partitions have",
        (*NEAREST, "L.index.vector.search.first"), answered_as(_APART, _MORE)),
    case("index/any/ivf-flat/rounded", "a vector of length one, off by very little",
        (*PLAIN, "L.index.vector.flat.values"), reworked(plain("flat", metric="cosine"),
        SpanPatch(("field flat", "values"), lambda old: bytes([old[0] ^ 64]) + old[1:],
        target=THERE)), reachable=False),
    case("index/any/ivf-flat/beside", "a column of longer vectors beside the one with the index",
        (*NEAREST, "L.index.vector.column-type"), nearest(_BESIDE, nprobes=2)),
    lint("column", "an index that is said to be over longer vectors", "L.index.vector.column-type",
        index({"fields.0": 2}, THIRD)),
    case("index/any/ivf-flat/tiny", "vectors of tiny numbers", NEAREST,
        nearest(_Tiny("IVF_FLAT", version="2.0"), nprobes=2)),
    lint("values", "a number that is off by little, and far for its vector",
        "L.index.vector.flat.values", values("auxiliary.idx", "flat", b"\x00\x00\x00\x00")),
    case("index/any/ivf-flat/own-next",
        "a row of the partition after the nearest, where that has none", NEAREST,
        replace(_NEXT, make=vectors_made(_BITS, _NEXT.args, _of(2), by="reference"))),
    case("index/any/ivf-flat/range", "rows between two distances",
        (*NEAREST, "L.index.vector.search.range"),
        nearest(replace(TYPES["flat"], seed=4), nprobes=2, range=["30.5", "120"])),
    case("index/any/ivf-flat/filtered", "rows that a filter passes", NEAREST,
        nearest(replace(TYPES["flat"], seed=4), others={"filter": {"sql": "id % 3 = 1"}},
            nprobes=2)),
    case("index/any/ivf-flat/several", "rows of two vectors: of each asked the nearest counts",
        (*NEAREST, "L.index.vector.search.several"),
        nearest(replace(TYPES["flat"], seed=4, each=2, metric="cosine"), nprobes=2)),
    case("index/any/ivf-flat/plain", "files of 2.0, whose sizes nobody says",
        (*PLAIN, "L.index.vector.assignment"), plain("flat"), reachable=False),
    fault("head-list", "a head that is a list", "L.index.vector.metadata",
        metadata_text(HEAD, "lance:index", lambda _: "[]")),
    fault("head-number", "a type that is a number", "L.index.vector.head.type",
        metadata_text(HEAD, "lance:index", lambda _: '{"type":1,"distance_type":"l2"}')),
    fault("centroids-shape", "centroids in one row", "L.index.vector.tensor.shape",
        centroids({"shape": [16]})),
    fault("centroids-none", "no centroid", "L.index.vector.ivf.centroids",
        centroids({"shape.0": 0, "data": b""})),
    fault("position-word", "partitions in buffer x", "L.index.files.metadata",
        metadata_text(HEAD, "lance:ivf", lambda _: "x")),
    fault("position-far", "partitions in buffer 7", "L.index.files.buffer",
        metadata_text(HEAD, "lance:ivf", lambda _: "7")),
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
        renamed("auxiliary.idx", "flat")),
    fault("type", "a type that none has", "L.index.vector.head.type", head(type="IVF_HNSW")),
    fault("metric", "a metric that none has", "L.index.vector.head.metric",
        head(distance_type="l3")),
    fault("texts", "a text for one of two partitions", "L.index.vector.head.texts",
        texts(lambda held: held[:1])),
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
        nulls("auxiliary.idx", 0)),
    fault("row-id", "a row that the fragment does not have", "L.index.vector.row-id",
        values("auxiliary.idx", "_rowid", b"\xff")),
    lint("details", "details that do not parse", "L.index.vector.details",
        index({"index_details.value": b"\xff"}, THIRD)),
    fault("dimension", "vectors of another length", "L.index.vector.flat.dimension",
        metadata("auxiliary.idx", "storage_metadata", '["{\\"dim\\":4}"]')),
    lint("values", "a vector of no row", "L.index.vector.flat.values",
        values("auxiliary.idx", "flat", b"\x00\x00\x00\x00", 4)),
    lint("not-finite", "a vector with NaN", "L.index.vector.rows.left-out",
        values("auxiliary.idx", "flat", b"\x00\x00\xc0\x7f", 8)),
    lint("assignment", "a vector that is nearer to the other centroid", "L.index.vector.assignment",
        SpanPatch(("field flat", "values"), lambda old: old[-32:] + old[32:],
            target="_indices/*/auxiliary.idx")),
    fault("tensor-shape", "centroids of three sizes", "L.index.vector.tensor.shape",
        centroids({"shape": [2, 2, 4]})),
    fault("tensor-type", "centroids of a type that none has", "L.index.vector.tensor.type",
        centroids({"data_type": Tensor.BFLOAT16})),
    fault("tensor-size", "centroids that end early", "L.index.vector.tensor.size",
        centroids({"data": lambda old: old[:-4]})),
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
        values("auxiliary.idx", "flat", b"\x00\x00\x00\x00", 79 * 32)),
    lint("padding", "padding of a file beside that is not what is stated", "L.file.padding.value",
        SpanPatch(("padding",), zeros, target="_indices/*/auxiliary.idx")),
    case("index/any/ivf-flat/plain-12", "files of 2.0, whose sizes nobody says", PLAIN,
        plain("flat", dimension=12), reachable=False),
    fault("dimension", "vectors of twelve numbers", "L.index.vector.rq.dimension",
        head(type="IVF_RQ")),
)  # fmt: skip

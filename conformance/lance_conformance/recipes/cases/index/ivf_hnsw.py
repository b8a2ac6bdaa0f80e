"""Cases of HNSW graphs over vectors and codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lance_conformance.recipes import indexed
from lance_conformance.recipes import vectors as vector_tables
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import HEAD, texts
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import THIRD
from lance_conformance.recipes.model import Maker, MessageEdit, Recipe, Request, SpanPatch
from lance_conformance.recipes.vectors import ALL, TYPES, nearest


def _graph(release: str) -> Maker:
    """Return the case of a search for all rows in a graph."""
    vectors = indexed.VECTORS_INDICES
    far = ((vectors - vectors[0]) ** 2).sum(axis=1, dtype=np.float32)
    nearest_first = np.argsort(far, kind="stable").tolist()
    order = [row for row in nearest_first if row != indexed.DELETED_INDICES]
    expected = pa.table({"id": pa.array(order, pa.int64()), "_distance": far[order]})
    return indexed.made_indices(release, ("vector", "v", "IVF_HNSW_SQ"), expected)


def graph(**changed: object) -> MessageEdit:
    """Change what is said of the first graph."""

    def change(texts: list[str]) -> list[str]:
        return [json.dumps({**json.loads(texts[0]), **changed}), *texts[1:]]

    return texts(change, "lance:hnsw")


def levels(change: Callable[[list[int]], list[int]]) -> MessageEdit:
    """Change where the levels of the first graph begin."""

    def changed(held: list[str]) -> list[str]:
        graph = json.loads(held[0])
        return [json.dumps({**graph, "level_offsets": change(graph["level_offsets"])}), *held[1:]]

    return texts(changed, "lance:hnsw")


def _few(**changed: Any) -> Request:
    """Return the question of all of 24 rows, whose nodes have most others as neighbours."""
    vectors = replace(TYPES["hnsw-flat"], version="2.0", seed=13, rows=24, **changed)
    return index_files.unsized(nearest(vectors, true=ALL, clauses=(), nprobes=2, ef=ALL), THIRD)


def _without_levels(graphs: list[str]) -> list[str]:
    """Say that no graph may have a level."""
    parameters = {"m": 4, "ef_construction": 40, "max_level": 0}
    return [json.dumps({**json.loads(one), "params": parameters}) for one in graphs]


def _unreached(old: bytes) -> bytes:
    """Put the node after node 7 in its place wherever it is a neighbour."""
    neighbours = np.frombuffer(old, "<u4")
    return np.where(neighbours == 7, 8, neighbours).astype("<u4").tobytes()


def _three(numbers: vector_tables.Numbers) -> vector_tables.Numbers:
    """Return three vectors around the first centroid, and all others around the second."""
    found = numbers.astype(np.float32) / np.float32(10)
    found[3:] += np.float32(50)
    return found


_THREE = vector_tables.Vectors("IVF_HNSW_FLAT", rows=24, seed=20, version="2.0", moved=_three,
    parameters={**vector_tables.GRAPH, "ivf_centroids": np.repeat([[0], [50]],
            vector_tables.DIMENSION, axis=1).astype("f4")})  # fmt: skip

_THIN = replace(TYPES["hnsw-flat"], parameters={"m": 4, "ef_construction": 4}, version="2.0",
    seed=37)  # fmt: skip

_WALKED = replace(TYPES["hnsw-pq"], seed=19, rows=420)
_NEAREST = _WALKED.request(k=1, nprobes=2)

_WRONG_LEVELS: tuple[tuple[str, str, Callable[[list[int]], list[int]]], ...] = (
    ("first", "a lowest level without its first node", lambda old: [1, *old[1:]]),
    ("fall", "levels that fall", lambda old: [*old[:2], old[1] - 1, *old[3:]]),
    ("past", "levels that end after the graph", lambda old: [*old[:-1], old[-1] + 1]),
    ("one", "one number, and no level", lambda old: old[:1]),
    ("lost", "rows of the graph on no level", lambda old: [min(one, old[-1] - 1) for one in old]),
)

_KEPT = nearest(_THIN, by="reference", true=2, nprobes=2)


CASES: tuple[Recipe, ...] = (
    case("index/any/ivf-hnsw-sq/9-0-1-levels", "rows of a graph that its levels do not count",
        ("L.index.vector.graph.levels", "L.index.vector.graph.rows"), _graph("9.0.1"),
        kind="index-search", facts={"used": True},
        args={"nearest": {"column": "v", "q": ["0.001230153371579945", "0.2987455427646637",
                    "-0.27413785457611084", "-0.8905918598175049"], "k": 100, "ef": 100,
                "nprobes": 1}, "columns": ["id", "_distance"]}, index="IVF_HNSW_SQ",
        tolerance="0.001", order="any"),
    case("index/any/ivf-hnsw-sq/filtered", "nodes that a filter leaves out are walked over",
        nearest(replace(TYPES["hnsw-sq"], seed=4), others={"filter": {"sql": "id < 40"}},
            nprobes=2)),
    case("index/any/ivf-hnsw-flat/one-level", "graphs of one level",
        "L.index.vector.graph.sequence", _few(parameters={**vector_tables.GRAPH, "max_level": 1})),
    lint("one-neighbour", "nodes that may have one neighbour", "L.index.vector.graph.sequence",
        graph(params={"m": 1, "ef_construction": 40, "max_level": 1})),
    case("index/any/ivf-hnsw-flat/few", "graphs in which each node is a neighbour of most",
        "L.index.vector.graph.degree", _few()),
    lint("widest-m", "as many neighbours as a number of 63 bits can say",
        "L.index.vector.graph.sequence",
        graph(params={"m": 2 ** 63 - 1, "ef_construction": 40, "max_level": 7})),
    lint("degree-next", "nodes of some neighbours more than m allows",
        "L.index.vector.graph.degree",
        graph(params={"m": 3, "ef_construction": 40, "max_level": 7})),
    case("index/any/ivf-hnsw-flat/three", "a graph of three rows, and another after it",
        "L.index.vector.graph.levels", nearest(_THREE, nprobes=2, ef=ALL)),
    case("index/any/ivf-hnsw-flat/own-kept",
        "a walk keeps half as many rows again as are asked for", "L.index.vector.graph.ef",
        vector_tables.oracle_search(_THIN, _KEPT.args, by="reference", true=2, nprobes=2,
            clauses=())),
    case("index/any/ivf-hnsw-flat/plain", "files of 2.0, whose sizes nobody says",
        "L.index.vector.graph.levels", vector_tables.exact("hnsw-flat", ef=100)),
    fault("texts-numbers", "texts of graphs that are numbers", "L.index.vector.metadata",
        index_files.metadata(HEAD, "lance:hnsw", "[1]")),
    fault("entry-behind", "a graph entered one after its last node", "L.index.vector.graph.entry",
        graph(entry_point=53)),
    fault("levels-less", "a lowest level of one node less", "L.index.vector.graph.rows",
        levels(lambda offsets: [offsets[0], offsets[1] - 1, *offsets[2:]])),
    *(fault(f"levels-{slug}", title, "L.index.vector.graph.levels", levels(change))
        for slug, title, change in _WRONG_LEVELS),
    *(fault(slug, title, "L.index.vector.graph.text", graph(**changed)) for slug, title, changed in
        (("entry-negative", "a graph entered at -1", {"entry_point": -1}),
            ("entry-text", "a graph entered at a word", {"entry_point": "first"}),
            ("levels-text", "levels that are a word", {"level_offsets": "all"}),
            ("levels-unsaid", "nothing says where levels begin", {"level_offsets": None}),
            ("wider", "more levels than a number of 16 bits can say",
                {"params": {"m": 4, "ef_construction": 40, "max_level": 2 ** 16}}))),
    fault("no-graph", "a partition without its graph", "L.index.vector.graph.rows",
        texts(lambda held: ["", *held[1:]], "lance:hnsw")),
    fault("entry", "searches begin at no node", "L.index.vector.graph.entry",
        graph(entry_point=255)),
    fault("nodes", "a node that occurs twice", "L.index.vector.graph.nodes",
        index_files.values(HEAD, "__vector_id", b"\x00", 4)),
    fault("neighbour", "a neighbour that is no node", "L.index.vector.graph.neighbours",
        SpanPatch(("field __neighbors", "items", "values"), b"\xff", target=f"_indices/*/{HEAD}")),
    lint("distances", "a distance less than there are neighbours", "L.index.vector.graph.distances",
        index_files.values(HEAD, "_distance",
            lambda old: (old[0] - 1).to_bytes(1, "little") + old[1:], leaf="list ends")),
    fault("null", "nodes that are null", "L.index.vector.graph.null", index_files.nulls(HEAD, 0)),
    fault("neighbour-next", "a neighbour one after the last node",
        "L.index.vector.graph.neighbours",
        SpanPatch(("field __neighbors", "items", "values"), b"5", target="_indices/*/index.idx")),
    fault("null-neighbours", "neighbours that are null", "L.index.vector.graph.null",
        index_files.nulls("index.idx", 2)),
    lint("lengths", "an edge of another length", "L.index.vector.graph.lengths",
        SpanPatch(("field _distance", "items", "values"), b"\x00\x00\x00\x00",
            target="_indices/*/index.idx")),
    lint("no-levels", "graphs of no levels", "L.index.vector.graph.sequence",
        texts(_without_levels, "lance:hnsw")),
    lint("widest", "as many levels as a number can say", "L.index.vector.graph.sequence",
        graph(params={"m": 4, "ef_construction": 40, "max_level": 2 ** 16 - 1})),
    lint("unreached", "a node that is no neighbour of any", "L.index.vector.graph.reached",
        SpanPatch(("field __neighbors", "items", "values"), _unreached,
            target="_indices/*/index.idx"), also="L.index.vector.graph.lengths"),
    lint("elsewhere", "a neighbour that is a node, but not on its level",
        "L.index.vector.graph.degree", SpanPatch(("field __neighbors", "items", "values"),
            lambda old: old[:-4] + bytes(4), target="_indices/*/index.idx")),
    case("index/any/ivf-hnsw-pq/walked", "the nearest row of many, to which a graph leads",
        vector_tables.oracle_search(_WALKED, _NEAREST, nprobes=2)),
    *index_files.damaged("ivf-hnsw-flat"),
)  # fmt: skip

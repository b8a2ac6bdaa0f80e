"""Vector indices, checked: files, partitions and graphs, and the vectors of a table.

Graphs are checked for what writers owe and no search depends on. Against rows of a table, keys of
rows that it does not have any more do no harm, and a code is accepted whose vector is about as near
as that of the code expected.

Clauses: L.index.vector.assignment, L.index.vector.rows.left-out, L.index.vector.graph.degree,
L.index.vector.graph.reached, L.index.vector.graph.sequence, L.index.vector.graph.lengths,
L.index.vector.row-id, L.index.vector.flat.values,
L.index.vector.sq.code, L.index.vector.pq.codes, L.index.vector.rq.signs, L.index.segment.complete
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import OutOfRange
from lanceref.core.integers import is_in, unique
from lanceref.data_file.check import check_file
from lanceref.index.row_set import LOW, SHIFT, Keys
from lanceref.index.segment import Segment
from lanceref.index.training import Training
from lanceref.index.vector import sq_storage
from lanceref.index.vector.graph import GraphText, graph_text, parse_graph_text
from lanceref.index.vector.parameters import details_of
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.rq_storage import SIGNS
from lanceref.index.vector.single_file import SingleFileIndex, open_index
from lanceref.index.vector.storage import FLAT_COLUMN, Columns, FlatRows, Mask
from lanceref.index.vector.vector_index import AUXILIARY, HEAD, VectorIndex
from lanceref.index.vector.vectors import Keyed, indexed_vectors, vector_type
from lanceref.kernels.distance import AnyVectors, distances
from lanceref.kernels.hnsw_build import space_of
from lanceref.kernels.hnsw_graph import Graph

TOLERANCE = 1e-2
"""How far lengths may be from those computed here, as a share of the longest of a level."""

MOST_LEVELS = 1 << 16
"""Levels of a text up to which its sequence is computed."""

NEAR = 1e-3
"""A centroid may be so much further than the nearest one, as a share of how far that is."""

SAME = 1e-2
"""How far numbers may be off, as a share of the largest."""


def check(segment: Segment) -> None:
    """Report what is wrong with a segment. Raises FormatError."""
    details_of(segment)
    index = open_index(segment)
    if not isinstance(index, SingleFileIndex):
        for path in (HEAD, AUXILIARY):
            file = segment.file(path)
            check_file(file.source, file.ctx)
    for number in range(len(index.head.model.centroids)):
        rows = index.partition(number).rows
        if isinstance(rows, FlatRows) and len(rows.vectors):
            if rows.vectors.dtype != np.uint8 and not np.isfinite(rows.vectors).all():
                found = f"a vector in partition {number} that is not finite"
                _lint(index, "L.index.vector.rows.left-out", found, "finite numbers")
            else:
                _check_assignment(index, number, rows.vectors)
    if index.head.type.graphs:
        check_graphs(index)


def _lint(index: VectorIndex, clause: str, found: str, wanted: str) -> None:
    """Report a fault of the rows, which are in the second file where there are two."""
    single = isinstance(index, SingleFileIndex)
    place = index.head.place if single else index.segment.file(AUXILIARY).place
    index.segment.ctx.lint(clause, place, found=found, wanted=wanted)


def _check_assignment(index: VectorIndex, number: int, vectors: AnyVectors) -> None:
    """Report the first of some vectors [n, d] of a partition that should be in another."""
    model = index.head.model
    near = distances(model.centroids, vectors, model.of_vectors)
    nearest = near.min(axis=0)
    wrong = np.flatnonzero(near[number] > nearest + NEAR * (1 + np.abs(nearest)))
    if len(wrong):
        found = f"row {wrong[0]} in partition {number}"
        wanted = f"partition {int(near[:, wrong[0]].argmin())}, the nearest"
        _lint(index, "L.index.vector.assignment", found, wanted)


def check_graphs(index: VectorIndex) -> None:
    """Report what is wrong with the graphs of an index. Raises FormatError."""
    file = index.segment.file(HEAD)
    for number in np.flatnonzero(index.auxiliary.partitions.lengths).tolist():
        text = parse_graph_text(index.head.texts[number], index.head.place)
        graph = index.graph(number, distances=True)
        if text is not None:
            points = index.partition(number).rows.points()
            for clause, found, wanted in (
                *_sequence_faults(text, graph),
                *_reach_faults(graph),
                *_edge_faults(text, graph, points, index.head.model.of_vectors),
            ):
                where = f"in partition {number} {found}"
                file.ctx.lint(clause, file.place, found=where, wanted=wanted, severity="should")


Faults = Iterator[tuple[str, str, str]]
"""Clauses, what is found and what is wanted."""


def _sequence_faults(text: GraphText, graph: Graph) -> Faults:
    parameters, wanted = text.parameters, None
    if parameters.m > 1 and 0 < parameters.max_level < MOST_LEVELS:
        wanted = graph_text(graph.num_nodes, parameters, None)
        if (wanted.entry_point, wanted.offsets) == (text.entry_point, text.offsets):
            return
    found = f"entry point {text.entry_point}, levels {str(text.offsets)[:60]}"
    shown = "those of the sequence" if wanted is None else wanted.text[:100]
    yield "L.index.vector.graph.sequence", found, shown


def _reach_faults(graph: Graph) -> Faults:
    level = graph.levels[0]
    known = np.zeros(graph.num_nodes, np.bool_)
    known[graph.entry_point] = True
    border = np.array([graph.entry_point])
    while len(border):
        ahead = np.concatenate([level.neighbours_of(node) for node in border.tolist()])
        border = unique(ahead[~known[ahead]])
        known[border] = True
    if not known.all():
        found = f"{int((~known).sum())} nodes that no walk reaches, {int((~known).argmax())} first"
        yield "L.index.vector.graph.reached", found, "all reached from the entry point"


def _edge_faults(text: GraphText, graph: Graph, points: AnyVectors, metric: str) -> Faults:
    space = space_of(points, metric)
    for place, level in enumerate(graph.levels):
        degrees = np.diff(level.offsets)
        owners = np.repeat(level.nodes, degrees)
        limit = text.parameters.m if place else 2 * text.parameters.m + 1
        to_itself = bool((owners == level.neighbours).any())
        elsewhere = not np.isin(level.neighbours, level.nodes).all()
        if degrees.max() > limit or to_itself or elsewhere:
            found = f"up to {degrees.max()} neighbours on level {place}, a node its own: "
            found += f"{to_itself}, some not of the level: {elsewhere}"
            yield "L.index.vector.graph.degree", found, f"at most {limit}, others of the level"
        lengths = space.pairs(owners, level.neighbours)
        most = TOLERANCE * float(np.abs(lengths).max(initial=0))
        wrong = ~np.isclose(level.distances, lengths, TOLERANCE, most)
        if wrong.any():
            first = int(wrong.argmax())
            found = f"an edge of length {level.distances[first]} on level {place}"
            yield "L.index.vector.graph.lengths", found, f"{lengths[first]}"


def check_rows(segment: Segment, training: Training) -> None:
    """Report where a segment differs from the rows of a table. Raises FormatError."""
    index = open_index(segment)
    type_ = vector_type(training.type)
    if type_ is not None:
        index.check_column(type_)
    parts = [*indexed_vectors(training, index.head.model.metric)]
    keys = np.concatenate([np.empty(0, np.uint64), *(one.keys for one in parts)])
    none = index.head.model.centroids[:0]
    vectors = np.concatenate([none, *(one.vectors for one in parts)])
    order = np.argsort(keys, kind="stable")
    rows = Keyed(vectors[order], keys[order])
    missing = np.ones(len(rows.keys), np.bool_)
    sizes = {one.fragment.id: one.columns.stated_rows for one in training.fragments}
    for number in range(len(index.head.model.centroids)):
        own, moves = index.keys(number), index.segment.moves
        mask = np.ones(len(own), np.bool_)
        if training.by_address:
            if moves is not None:
                mask, own = moves(own)
            for key in own.tolist():
                size = sizes.get(key >> int(SHIFT))
                if size is not None and key & int(LOW) >= size:
                    found, wanted = f"address {key} in partition {number}", f"one of {size} rows"
                    raise OutOfRange("L.index.vector.row-id", index.head.place, found, wanted)
        missing &= ~is_in(rows.keys, own)
        if len(rows.keys) and not (np.diff(rows.keys) == 0).any():
            _check_codes(index, number, mask, own, rows)
    if missing.any():
        found = f"no vector of row {rows.keys[missing][0]}"
        _lint(index, "L.index.segment.complete", found, "one of each row that has one")


def _check_codes(index: VectorIndex, number: int, mask: Mask, own: Keys, rows: Keyed) -> None:
    """Compare the columns of a partition with those that its rows should have."""
    known = is_in(own, rows.keys)
    columns = {name: column[mask][known] for name, column in index.rows(number).items()}
    vectors = rows.vectors[np.searchsorted(rows.keys, own[known])]
    if FLAT_COLUMN not in columns:
        _check_assignment(index, number, vectors)
    places = np.full(len(vectors), number, np.int64)
    clause, wrong = _differing(index, columns, vectors, places)
    if wrong.any():
        found = f"another code of row {own[known][wrong][0]} in partition {number}"
        _lint(index, clause, found, "that of its vector")


def _differing(
    index: VectorIndex, stored: Columns, vectors: AnyVectors, places: NDArray[np.int64]
) -> tuple[str, Mask]:
    """Return the clause of a storage, and of each row whether its columns break it."""
    quantizer = index.auxiliary.quantizer
    wanted = quantizer.encode(vectors, places)
    if FLAT_COLUMN in stored:
        numbers, own = (one[FLAT_COLUMN].astype(np.float64) for one in (stored, wanted))
        room = SAME * max(1e-6, float(np.abs(own).max(initial=0)))
        far = ~(np.abs(numbers - own) <= room)
        return "L.index.vector.flat.values", np.asarray(far.any(axis=1), np.bool_)
    if sq_storage.COLUMN in stored:
        codes, right = (one[sq_storage.COLUMN].astype(np.int64) for one in (stored, wanted))
        off = np.abs(codes - right) > 1
        return "L.index.vector.sq.code", np.asarray(off.any(axis=1), np.bool_)
    if isinstance(quantizer, Product):
        if quantizer.of_residuals:
            vectors = vectors - quantizer.model.centroids[places]
        decoded, best = (
            quantizer.open_rows(one, 0).points().astype(np.float64) for one in (stored, wanted)
        )
        errors, least = (((vectors - one) ** 2).sum(axis=1) for one in (decoded, best))
        worse = errors > least + SAME * max(1e-6, float(least.max(initial=0)))
        if index.head.model.metric == "dot" and worse.any():
            worse[worse] = ~_have_greatest_products(quantizer, decoded[worse], vectors[worse])
            worse &= bool(index.segment.entry.index_details.type_url)  # L.index.vector.pq.codes
        return "L.index.vector.pq.codes", np.asarray(worse, np.bool_)
    signs, true = (np.unpackbits(one[SIGNS].view(np.uint8), axis=1) for one in (stored, wanted))
    # the sign of a number near 0 depends on rounding
    return "L.index.vector.rq.signs", np.asarray((signs != true).sum(axis=1) > 1, np.bool_)


def _have_greatest_products(
    quantizer: Product, decoded: NDArray[np.float64], vectors: AnyVectors
) -> Mask:
    """Return for vectors [n, d] whether no codewords have greater products with them."""
    codebook = quantizer.quantizer.codebook.astype(np.float64)
    parts = vectors.reshape(len(vectors), len(codebook), -1).astype(np.float64)
    products = np.einsum("nms,mks->nmk", parts, codebook)
    best, own = products.max(axis=2).sum(axis=1), (vectors * decoded).sum(axis=1)
    return np.asarray(own >= best - SAME * np.abs(best), np.bool_)
